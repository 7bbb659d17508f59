// Threads take halves of the draws: each draw has its own step models.
#include "planner/belief.h"

#include <algorithm>
#include <thread>

#include "planner/task.h"
#include "roofline/model/draws.h"

namespace ridgeline {
namespace {

// Below this many steps a thread costs more than it saves.
constexpr std::size_t worth_a_thread = 2000;

}  // namespace

Belief::Belief(const PlanProblem& problem, const Sweep& sweep,
               std::span<const CoefficientDraw> draws, std::span<const CoefficientDraw> trained)
    : problem_(problem), sweep_(sweep), draws_(draws), trained_(trained) {}

void Belief::draw_part(std::span<const std::size_t> rows, std::size_t begin, std::size_t end) {
  Conditions conditions = problem_.conditions;
  for (std::size_t i = begin; i < end; ++i) {
    const CoefficientDraw& draw = draws_[i];
    for (std::size_t at = 0; at < rows.size();) {  // rows of one variant share a model
      const std::size_t variant = sweep_.variant_of(rows[at]);
      const CostModel model(*problem_.variants[variant].load, draw.values);
      for (; at < rows.size() && sweep_.variant_of(rows[at]) == variant; ++at) {
        conditions.point = problem_.modes.modes[sweep_.mode_of(rows[at])].point;
        RunCost cost = model.at(conditions);
        cost.time_s *= draw.time_scale;
        cost.power_w *= draw.power_scale;
        cost.idle_w *= draw.power_scale;
        cost.core_w *= draw.power_scale;
        costs_.find(rows[at])->second[i] = cost;
      }
    }
    if (!trained_.empty()) add_trained(rows, i);
  }
}

// The machine is the same; by how much a run differs from the formulas is each network's own, so
// the scale of time is that of another draw.
void Belief::add_trained(std::span<const std::size_t> rows, std::size_t draw) {
  Conditions conditions = problem_.conditions;
  conditions.runtime = problem_.trained_by;
  const double time_scale = trained_[(draw + 1) % trained_.size()].time_scale;
  std::map<const NetworkLoad*, CostModel> models;
  for (const std::size_t row : rows) {
    const NetworkLoad* load = problem_.variants[sweep_.variant_of(row)].trained;
    const auto model = models.try_emplace(load, *load, trained_[draw].values).first;
    conditions.point = problem_.modes.modes[sweep_.mode_of(row)].point;
    RunCost step = model->second.at(conditions);
    step.time_s *= time_scale;
    step.power_w *= draws_[draw].power_scale;
    add_training(costs_.find(row)->second[draw], step);
  }
}

void Belief::draw(std::span<const std::size_t> rows) {
  std::vector<std::size_t> missing;
  for (const std::size_t row : rows)
    if (costs_.try_emplace(row, draws_.size()).second) missing.push_back(row);
  std::sort(missing.begin(), missing.end());
  const std::size_t half = draws_.size() / 2;
  if (missing.size() * draws_.size() < worth_a_thread || std::thread::hardware_concurrency() < 2) {
    draw_part(missing, 0, draws_.size());
  } else {
    // A mode that one draw cannot run is one that none can, and the sweep left it out: no Error.
    std::jthread other([&] { draw_part(missing, 0, half); });
    draw_part(missing, half, draws_.size());
  }
  for (const std::size_t row : missing) centre(row);
}

// As the intervals of a prediction are: around the value at the means.
void Belief::centre(std::size_t row) {
  std::vector<RunCost>& drawn = costs_.find(row)->second;
  std::vector<double> values(drawn.size());
  for (double RunCost::*cost : {&RunCost::time_s, &RunCost::power_w, &RunCost::idle_w,
                                &RunCost::training_s, &RunCost::training_w}) {
    for (std::size_t i = 0; i < drawn.size(); ++i) values[i] = drawn[i].*cost;
    centre_on(sweep_.costs[row].*cost, values);
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i].*cost = values[i];
  }
}

const std::vector<RunCost>& Belief::costs(std::size_t row) {
  const auto known = costs_.find(row);
  if (known != costs_.end()) return known->second;
  draw(std::span(&row, 1));
  return costs_.find(row)->second;
}

// The same draw scales both times, so what the formulas do not know cancels.
double Belief::slowdown(std::size_t row, std::size_t draw) {
  const std::size_t variant = sweep_.variant_of(row);
  const std::size_t fastest = sweep_.fastest[variant];
  return pace_s(problem_, variant, sweep_.mode_of(row), costs(row)[draw]) /
             pace_s(problem_, variant, sweep_.mode_of(fastest), costs(fastest)[draw]) -
         1;
}

std::vector<Service> Belief::services(std::size_t row, const Objective& objective) {
  std::vector<Service> result;
  result.reserve(draws_.size());
  for (const RunCost& cost : costs(row))
    result.push_back(
        service_of(problem_, sweep_.variant_of(row), sweep_.mode_of(row), cost, objective));
  return result;
}

std::vector<double> Belief::limited_draws(std::size_t row, LimitKind kind,
                                          const Objective& objective) {
  if (draws_.empty())
    return {limited(kind, service_at(problem_, sweep_, row, objective),
                    slowdown_at(problem_, sweep_, row))};
  std::vector<double> values;
  values.reserve(draws_.size());
  for (const Service& service : services(row, objective))
    values.push_back(
        limited(kind, service, kind == LimitKind::slowdown ? slowdown(row, values.size()) : 0));
  return values;
}

double Belief::probability(std::size_t row, const Limit& limit, const Objective& objective) {
  const std::vector<double> values = limited_draws(row, limit.kind, objective);
  const auto held = std::count_if(values.begin(), values.end(),
                                  [&](double value) { return value <= limit.bound; });
  return static_cast<double>(held) / static_cast<double>(values.size());
}

double Belief::probability(std::size_t row, const Objective& objective) {
  if (objective.limits.empty()) return 1;
  std::vector<char> held(std::max<std::size_t>(draws_.size(), 1), 1);
  for (const Limit& limit : objective.limits) {
    const std::vector<double> values = limited_draws(row, limit.kind, objective);
    for (std::size_t i = 0; i < held.size(); ++i)
      if (!(values[i] <= limit.bound)) held[i] = 0;
  }
  return static_cast<double>(std::count(held.begin(), held.end(), 1)) /
         static_cast<double>(held.size());
}

Service service_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                   const Objective& objective) {
  return service_of(problem, sweep.variant_of(row), sweep.mode_of(row), sweep.costs[row],
                    objective);
}

double slowdown_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row) {
  const std::size_t variant = sweep.variant_of(row);
  return pace_s(problem, variant, sweep.mode_of(row), sweep.costs[row]) / sweep.fastest_s[variant] -
         1;
}

}  // namespace ridgeline
