// Ways with the model choose by its draws, given the runs so far; ways without it choose the best
// setting that they have run.
#include "tests/validation/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "base/statistics.h"
#include "validation/folds.h"
#include "validation/groups.h"
#include "validation/measurement_table.h"
#include "validation/probes.h"
#include "validation/tuning.h"

namespace ridgeline::testing {
namespace {

constexpr int random_orders = 5;
constexpr std::size_t most_model_runs = 8;  // a way that needs more counts as all settings
// A row of the table is the truth here, and a run shows it.
constexpr RunNoise exact{0.005, 0.005};

// Rows of one case by setting; repeats of a setting are averaged.
struct Cell {
  Observation run;
  std::vector<double> times, powers;
};

std::vector<Cell> cells_of(const std::vector<const Observation*>& rows) {
  std::vector<Cell> cells;
  for (const Observation* row : rows) {
    const auto same = [&](const Cell& cell) {
      return cell.run.conditions.point.label == row->conditions.point.label &&
             cell.run.batch == row->batch;
    };
    auto found = std::find_if(cells.begin(), cells.end(), same);
    if (found == cells.end()) found = cells.insert(cells.end(), Cell{as_asked(*row), {}, {}});
    found->times.push_back(row->time_s);
    if (row->power_w) found->powers.push_back(*row->power_w);
  }
  return cells;
}

double mean_value(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Index of each value among the sorted ones.
std::vector<int> ranks(const std::vector<double>& values) {
  const std::set<double> sorted(values.begin(), values.end());
  std::vector<int> result;
  for (const double value : values)
    result.push_back(static_cast<int>(std::distance(sorted.begin(), sorted.find(value))));
  return result;
}

ContestCase case_of(const std::string& name, const std::vector<Cell>& cells,
                    const MachineModel& model, const Predictor& predictor, bool energy) {
  ContestCase result;
  result.name = name;
  result.goal.energy = energy;
  std::vector<StepDraws> steps;
  std::vector<SettingPlace> places;
  std::vector<double> clocks, batches;
  for (const Cell& cell : cells) {
    steps.push_back(predictor.draws(model, cell.run));
    const OperatingPoint& point = cell.run.conditions.point;
    places.push_back({point, static_cast<double>(cell.run.batch), cell.run.dtype});
    MeasuredSetting measured;
    measured.time_s = mean_value(cell.times);
    if (!cell.powers.empty()) measured.power_w = mean_value(cell.powers);
    result.truth.push_back(measured);
    clocks.push_back(point.gpu_hz.value_or(0) * point.gpu_units.value_or(1));
    batches.push_back(static_cast<double>(cell.run.batch));
  }
  result.draws = setting_draws(steps, places);
  const std::vector<int> mode = ranks(clocks), batch = ranks(batches);
  for (std::size_t i = 0; i < cells.size(); ++i) result.places.push_back({mode[i], batch[i]});
  return result;
}

// What a way that knows no limits' probabilities compares: cost, or worse if a limit is broken.
double measured_cost(const ContestCase& contest, std::size_t setting) {
  const MeasuredSetting& measured = contest.truth[setting];
  const double cost = measured.time_s * (contest.goal.energy ? *measured.power_w : 1) /
                      contest.draws[setting].samples;
  const bool broken = contest.goal.latency_s && measured.time_s > *contest.goal.latency_s;
  return broken ? 1e6 * measured.time_s : cost;
}

// The smallest number of runs from which on all choices are within the limit.
double runs_needed(const std::vector<std::size_t>& choices, const std::vector<double>& regrets,
                   double limit, std::size_t otherwise) {
  std::size_t needed = otherwise;
  for (std::size_t n = choices.size(); n-- > 0 && regrets[choices[n]] <= limit;) needed = n;
  return static_cast<double>(needed);
}

using Picker =
    std::function<std::size_t(const std::vector<SettingDraws>&, const std::vector<bool>& measured)>;

// Choices after 0, 1, 2 … runs.
double with_model(const ContestCase& contest, double limit, const Picker& pick) {
  const std::vector<double> regrets = real_regrets(contest);
  std::vector<SettingDraws> draws = contest.draws;
  std::vector<bool> measured(draws.size());
  std::vector<std::size_t> choices{decide(draws, contest.goal).setting};
  const std::size_t most = std::min(draws.size(), most_model_runs);
  for (std::size_t n = 0; n < most; ++n) {
    const std::size_t next = pick(draws, measured);
    measured[next] = true;
    draws = learned(std::move(draws), next, contest.truth[next], exact);
    choices.push_back(decide(draws, contest.goal).setting);
  }
  return runs_needed(choices, regrets, limit, draws.size());
}

// Runs of a given order until the best measured setting is within the limit.
double without_model(const ContestCase& contest, double limit,
                     const std::vector<std::size_t>& order) {
  const std::vector<double> regrets = real_regrets(contest);
  std::size_t best = order.front();
  for (std::size_t n = 0; n < order.size(); ++n) {
    if (measured_cost(contest, order[n]) < measured_cost(contest, best)) best = order[n];
    if (regrets[best] <= limit) return static_cast<double>(n + 1);
  }
  return static_cast<double>(regrets.size());
}

std::size_t widest(const std::vector<SettingDraws>& draws, const std::vector<bool>& measured,
                   const DecisionGoal& goal) {
  std::size_t found = 0;
  double most = -1;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    if (measured[i]) continue;
    std::vector<double> costs = draws[i].time;
    if (goal.energy)
      for (std::size_t d = 0; d < costs.size(); ++d) costs[d] += draws[i].power[d];
    const double width = quantile(costs, 0.95) - quantile(costs, 0.05);
    if (width > most) std::tie(most, found) = std::pair(width, i);
  }
  return found;
}

// Gradient descent over the knobs as Fulcrum's GMD does it, as we read the paper: from the middle,
// the neighbours on each knob give the slopes; along the steepest descent the rest of that knob is
// halved until no step is better. It ends where no neighbour is better.
class GradientDescent {
 public:
  explicit GradientDescent(const ContestCase& contest) : contest_(contest) {
    for (std::size_t i = 0; i < contest.places.size(); ++i) settings_[contest.places[i]] = i;
    const std::size_t knobs = contest.places.front().size();
    last_.resize(knobs);
    for (const std::vector<int>& place : contest.places)
      for (std::size_t k = 0; k < knobs; ++k) last_[k] = std::max(last_[k], place[k]);
  }

  // Settings in the order in which they are run.
  std::vector<std::size_t> run() {
    std::vector<int> at;
    for (const int last : last_) at.push_back(last / 2);
    measure(at);
    while (true) {
      std::vector<int> best = at;
      for (std::size_t knob = 0; knob < at.size(); ++knob)
        for (const int step : {-1, 1}) {
          std::vector<int> beside = at;
          beside[knob] += step;
          if (measure(beside) < measure(best)) best = beside;
        }
      if (best == at) return order_;
      at = descended(at, best);
    }
  }

 private:
  double measure(const std::vector<int>& place) {
    const auto found = settings_.find(place);
    if (found == settings_.end()) return INFINITY;
    if (std::find(order_.begin(), order_.end(), found->second) == order_.end())
      order_.push_back(found->second);
    return measured_cost(contest_, found->second);
  }

  std::vector<int> descended(const std::vector<int>& from, std::vector<int> best) {
    for (std::size_t knob = 0; knob < from.size(); ++knob) {
      const int step = best[knob] - from[knob];
      if (step == 0) continue;
      int end = step > 0 ? last_[knob] : 0;
      while (std::abs(end - best[knob]) > 0) {
        std::vector<int> there = best;
        there[knob] = best[knob] + (end - best[knob] + step) / 2;
        if (measure(there) < measure(best))
          best = there;
        else if (there[knob] == end)
          break;
        else
          end = there[knob] - step;
      }
    }
    return best;
  }

  const ContestCase& contest_;
  std::map<std::vector<int>, std::size_t> settings_;
  std::vector<int> last_;
  std::vector<std::size_t> order_;
};

double random_runs(const ContestCase& contest, double limit, bool model) {
  double sum = 0;
  for (int seed = 0; seed < random_orders; ++seed) {
    std::vector<std::size_t> order(contest.draws.size());
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937 random(static_cast<unsigned>(seed));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    std::size_t next = 0;
    sum += model
               ? with_model(contest, limit, [&](const auto&, const auto&) { return order[next++]; })
               : without_model(contest, limit, order);
  }
  return sum / random_orders;
}

// The fewest evenly spaced settings among which one is good enough.
double grid_runs(const ContestCase& contest, double limit) {
  std::vector<std::size_t> ordered(contest.draws.size());
  std::iota(ordered.begin(), ordered.end(), 0u);
  std::sort(ordered.begin(), ordered.end(),
            [&](auto a, auto b) { return contest.places[a] < contest.places[b]; });
  const std::vector<double> regrets = real_regrets(contest);
  for (std::size_t k = 1; k < ordered.size(); ++k)
    for (const std::size_t place : evenly_spaced(k, ordered.size()))
      if (regrets[ordered[place]] <= limit) return static_cast<double>(k);
  return static_cast<double>(ordered.size());
}

}  // namespace

std::vector<ContestCase> contest_cases(const std::string& table, const std::string& source,
                                       const std::string& dtype, bool energy) {
  MeasurementOptions only;
  if (!dtype.empty()) only.where["dtype"] = {dtype};
  const MeasurementTable read = read_measurement_table(table, only);
  const Predictor predictor = model_predictor(read.devices);
  MachinePriors priors(predictor);
  Folds folds(read.rows, priors, predictor, "model");
  std::map<GroupKey, std::vector<const Observation*>> groups;
  for (const Observation& row : read.rows) {
    if (row.source != source || row.task != Task::inference || (energy && !row.power_w)) continue;
    groups[energy ? group_key(row) : network_key(row)].push_back(&row);
  }
  std::vector<ContestCase> cases;
  for (const auto& [key, rows] : groups) {
    const std::vector<Cell> cells = cells_of(rows);
    if (cells.size() < 8) continue;
    cases.push_back(
        case_of(describe(key), cells, folds.model_for(*rows.front()), predictor, energy));
  }
  return cases;
}

std::vector<ContestCase> with_deadline(std::vector<ContestCase> cases, double factor) {
  for (ContestCase& each : cases) {
    double least_s = INFINITY;
    for (const MeasuredSetting& measured : each.truth) least_s = std::min(least_s, measured.time_s);
    each.goal.latency_s = factor * least_s;
  }
  return cases;
}

std::vector<double> real_regrets(const ContestCase& contest) {
  const bool limited = contest.goal.latency_s.has_value();
  double best = INFINITY;
  for (std::size_t i = 0; i < contest.truth.size(); ++i)
    if (!limited || contest.truth[i].time_s <= *contest.goal.latency_s)
      best = std::min(best, measured_cost(contest, i));
  std::vector<double> regrets;
  for (std::size_t i = 0; i < contest.truth.size(); ++i)
    regrets.push_back(limited && contest.truth[i].time_s > *contest.goal.latency_s
                          ? 1
                          : measured_cost(contest, i) / best - 1);
  return regrets;
}

double ContestRow::mean() const { return mean_value(runs); }

double ContestRow::worst() const { return *std::max_element(runs.begin(), runs.end()); }

double ContestRow::without_run() const {
  return static_cast<double>(std::count(runs.begin(), runs.end(), 0.0)) /
         static_cast<double>(runs.size());
}

std::vector<ContestRow> contest(const std::vector<ContestCase>& cases, double limit) {
  std::vector<ContestRow> rows{{"the most informative run", {}}, {"the widest interval", {}},
                               {"random, with the model", {}},   {"gradient descent, no model", {}},
                               {"grid, no model", {}},           {"random, no model", {}}};
  for (const ContestCase& each : cases) {
    rows[0].runs.push_back(with_model(each, limit, [&](const auto& draws, const auto& measured) {
      return choose_run(draws, each.goal, measured, exact)->setting;
    }));
    rows[1].runs.push_back(with_model(each, limit, [&](const auto& draws, const auto& measured) {
      return widest(draws, measured, each.goal);
    }));
    rows[2].runs.push_back(random_runs(each, limit, true));
    rows[3].runs.push_back(without_model(each, limit, GradientDescent(each).run()));
    rows[4].runs.push_back(grid_runs(each, limit));
    rows[5].runs.push_back(random_runs(each, limit, false));
  }
  return rows;
}

std::vector<TunedCase> tuned_cases(const std::vector<ContestCase>& cases, double limit) {
  std::vector<TunedCase> tuned;
  for (const ContestCase& each : cases) {
    TuningOptions options;
    options.goal = each.goal;
    options.regret = limit;
    options.noise = exact;
    const Tuning tuning = tune(each.draws, options, [&](std::size_t setting) {
      return std::optional<MeasuredSetting>(each.truth[setting]);
    });
    tuned.push_back(
        {tuning.runs.size(), tuning.choice.regret, real_regrets(each)[tuning.choice.setting]});
  }
  return tuned;
}

std::string contest_text(const std::string& title, const std::vector<ContestRow>& rows,
                         const std::vector<TunedCase>& tuned) {
  std::string text =
      title + "\n| runs chosen by | mean | most | right from the start |\n|---|--:|--:|--:|\n";
  for (const ContestRow& row : rows)
    text += fmt::format("| {} | {:.1f} | {:.0f} | {:.0f} % |\n", row.name, row.mean(), row.worst(),
                        100 * row.without_run());
  double runs = 0, expected = 0, real = 0, worst = 0;
  std::size_t most = 0, within = 0;
  for (const TunedCase& each : tuned) {
    runs += static_cast<double>(each.runs);
    most = std::max(most, each.runs);
    expected += each.expected;
    real += each.real;
    worst = std::max(worst, each.real);
    within += each.real <= 0.03 ? 1 : 0;
  }
  const double count = static_cast<double>(tuned.size());
  return text + fmt::format(
                    "tune stops after {:.1f} runs (at most {}): expected regret {:.1f} %, real "
                    "{:.1f} %, at most {:.1f} %; within 3 % in {} of {}\n",
                    runs / count, most, 100 * expected / count, 100 * real / count, 100 * worst,
                    within, tuned.size());
}

}  // namespace ridgeline::testing
