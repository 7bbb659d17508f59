// Each part of the plan is a function of the problem, the sweep and the choice. Time, power and
// energy of a mode come from predict(), as those of an explanation do.
#include "planner/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "planner/choice.h"
#include "planner/infeasible.h"
#include "planner/pareto.h"
#include "planner/reasons.h"
#include "roofline/model/predict.h"
#include "roofline/model/unfamiliar_time.h"

namespace ridgeline {
namespace {

bool needs_power(LimitKind kind) {
  return kind == LimitKind::power || kind == LimitKind::peak_power || kind == LimitKind::energy ||
         kind == LimitKind::battery;
}

// A warning if the model has no power; an Error if the objective needs it.
std::vector<std::string> power_warnings(const PlanProblem& problem, const Sweep& sweep,
                                        const Objective& objective) {
  if (std::any_of(sweep.costs.begin(), sweep.costs.end(),
                  [](const BatchCost& cost) { return cost.power_w > 0; }))
    return {};
  const std::string what = "no power data for " + problem.machine;
  if (objective.goal != Goal::time)
    throw Error("--minimize " + std::string(to_string(objective.goal)), what,
                "write --minimize time, or calibrate a device of the catalog",
                ExitCode::incomplete);
  for (const Limit& limit : objective.limits)
    if (needs_power(limit.kind))
      throw Error(limit.text, what, "leave the limit out", ExitCode::incomplete);
  return {"time only: " + what};
}

PlannedRun planned_run(const PlanProblem& problem, const Sweep& sweep, const Objective& objective) {
  PlannedRun run;
  run.network = problem.network;
  run.device = problem.model.device;
  run.machine = problem.machine;
  run.runtime = problem.conditions.runtime;
  run.objective = objective;
  run.scenario = problem.scenario;
  for (std::size_t mode = 0; mode < problem.candidates.modes.size(); ++mode)
    if (problem.candidates.is_eligible(mode) && !std::isnan(sweep.costs[mode].time_s)) {
      ++run.modes;
      if (problem.candidates.modes[mode].stock) ++run.stock_modes;
    }
  run.choices = run.modes * problem.variants.size();
  return run;
}

PlannedPeriod planned_period(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                             const Objective& objective) {
  const BatchCost& cost = sweep.costs[row];
  const double batch = static_cast<double>(variant_at(problem, sweep, row).batch);
  const double period_s = batch / objective.arrivals->per_s;
  const Service service = service_at(problem, sweep, row, objective);
  return {period_s,
          cost.time_s / period_s,
          service.latency_s,
          finite(cost.idle_w),
          finite(service.energy_j * batch),
          finite(service.mean_power_w)};
}

PlannedService planned_service(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                               const Objective& objective) {
  const PlanVariant& variant = variant_at(problem, sweep, row);
  const Service service = service_at(problem, sweep, row, objective);
  return {variant.minibatch > 0 ? variant.minibatch : variant.batch,
          service.time_s,
          service.latency_s,
          1 / service.sample_s,
          finite(service.energy_j),
          finite(service.mean_power_w),
          finite(service.peak_power_w)};
}

std::optional<PlannedRate> planned_rate(const PlanProblem& problem, SweepDraws& draws,
                                        const Objective& objective, std::size_t row) {
  if (problem.scenario != Scenario::inference) return std::nullopt;
  if (!objective.arrivals && !problem.host.is_given()) return std::nullopt;
  PlannedRate rated;
  rated.latency_s = draws.estimate(row, objective, [](const Service& s) { return s.latency_s; });
  rated.samples_per_s =
      draws.estimate(row, objective, [](const Service& s) { return 1 / s.sample_s; });
  const Estimate power_w =
      draws.estimate(row, objective, [](const Service& s) { return s.mean_power_w; });
  if (!std::isfinite(power_w.value)) return rated;
  rated.mean_power_w = power_w;
  rated.sample_energy_j =
      draws.estimate(row, objective, [](const Service& s) { return s.energy_j; });
  return rated;
}

// Gains below this are not worth another mode: repeated measurements differ by more.
constexpr double least_saving = 0.01;

// The best of the modes in reach, if it is another one and better than the given score.
std::optional<Choice> better_mode(const Chooser& chooser, SweepDraws& draws, Reach reach,
                                  const Objective& objective, const Choice& choice, double score) {
  Chooser other(chooser.problem(), chooser.sweep(), draws, reach);
  const auto best = other.settled(objective);
  if (best.empty() || best.front().row == choice.row || best.front().score >= score)
    return std::nullopt;
  return best.front();
}

void add_alternatives(Chooser& chooser, const Objective& objective, const Choice& choice,
                      const std::function<PlannedMode(const Choice&)>& planned, Plan& plan) {
  const auto alternative = [&](const Choice& other) {
    const auto saving = saving_against(chooser, objective, other, choice.row);
    return PlannedAlternative{planned(other), saving.value_or(Saving{})};
  };
  const bool reboots = plan.chosen.reach == Reach::reboot;
  const double enough = choice.score * (1 - least_saving);
  const auto live = better_mode(chooser, chooser.draws(), Reach::live, objective, choice,
                                reboots ? INFINITY : enough);
  if (live) plan.without_reboot = alternative(*live);
  const auto any = better_mode(chooser, chooser.draws(), Reach::reboot, objective, choice,
                               live ? std::min(enough, live->score * (1 - least_saving)) : enough);
  if (any && mode_at(chooser.problem(), chooser.sweep(), any->row).reach == Reach::reboot)
    plan.with_reboot = alternative(*any);
  else if (any && !live)
    plan.without_reboot = alternative(*any);
}

std::vector<FrontPoint> front_points(const PlanProblem& problem, const Sweep& sweep,
                                     const Objective& objective) {
  std::vector<FrontPoint> points;
  for (const std::size_t row : pareto_front(problem, sweep, objective)) {
    const Service service = service_at(problem, sweep, row, objective);
    const PlanVariant& variant = variant_at(problem, sweep, row);
    const OperatingPoint& point = mode_at(problem, sweep, row).point;
    points.push_back({point, request_text(point), variant.batch, variant.dtype,
                      sweep.costs[row].time_s, service.latency_s, 1 / service.sample_s,
                      finite(service.mean_power_w), finite(service.energy_j)});
  }
  return points;
}

// Share of the draws in which each row is the better choice: it keeps the limits, and the choice
// breaks them or scores worse.
std::vector<double> win_shares(SweepDraws& draws, const Objective& objective, std::size_t chosen,
                               const std::vector<std::size_t>& rows) {
  const auto scores = [&](std::size_t row) {
    std::vector<double> result;
    for (const Service& drawn : draws.services(row, objective))
      result.push_back(score_of(objective.goal, drawn));
    return result;
  };
  const std::vector<bool> chosen_holds = draws.limits_hold(chosen, objective);
  const std::vector<double> chosen_scores = scores(chosen);
  std::vector<double> shares;
  for (const std::size_t row : rows) {
    const std::vector<bool> row_holds = draws.limits_hold(row, objective);
    const std::vector<double> row_scores = scores(row);
    double wins = 0;
    for (std::size_t i = 0; i < draws.count(); ++i)
      if (row_holds[i] && (!chosen_holds[i] || row_scores[i] < chosen_scores[i])) ++wins;
    shares.push_back(wins / static_cast<double>(draws.count()));
  }
  return shares;
}

// Modes that would settle the choice: the chosen one, then those that win in most of the draws in
// which it does not. `choices`: the choice and the runners-up.
std::vector<MeasureNext> modes_to_measure(Chooser& chooser, const Objective& objective,
                                          const std::vector<Choice>& choices, std::size_t most,
                                          bool leads_with_stock) {
  const Sweep& sweep = chooser.sweep();
  const std::size_t chosen = choices.front().row;
  std::vector<MeasureNext> next;
  const auto add = [&](std::size_t row, std::string reason) {
    const PlanVariant& variant = variant_at(chooser.problem(), sweep, row);
    const CandidateMode& mode = mode_at(chooser.problem(), sweep, row);
    next.push_back({mode.point, enter_command(chooser.problem().candidates, mode),
                    mode_name(mode.point), variant.batch, variant.dtype, std::move(reason)});
  };
  add(chosen, "the choice, so far only predicted");
  if (chooser.draws().count() == 0) {
    for (std::size_t i = 1; i < choices.size() && i < most; ++i)
      add(choices[i].row, "the next best");
    return next;
  }
  std::vector<std::size_t> rows;
  for (const Choice& choice : choices) rows.push_back(choice.row);
  const std::size_t fastest = sweep.fastest[sweep.variant_of(chosen)];
  if (std::none_of(rows.begin(), rows.end(),
                   [&](std::size_t other) { return chooser.is_near(fastest, other); }))
    rows.push_back(fastest);
  chooser.draws().draw(rows);
  const std::vector<double> shares = win_shares(chooser.draws(), objective, chosen, rows);
  std::vector<std::pair<double, std::size_t>> wins;  // share, row
  for (std::size_t i = 0; i < rows.size(); ++i) wins.emplace_back(shares[i], rows[i]);
  std::sort(wins.begin(), wins.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [share, row] : wins) {
    if (next.size() >= most) break;
    if (row == chosen) continue;
    const std::string name = mode_name(mode_at(chooser.problem(), sweep, chosen).point);
    const bool is_custom = leads_with_stock && !mode_at(chooser.problem(), sweep, row).stock;
    add(row, share > 0
                 ? fmt::format("{}better than {} with probability {}",
                               is_custom ? "not stock; " : "", name, format_probability(share))
                 : "far from the choice: shows how time and power scale");
  }
  return next;
}

// The stock mode first; the others as far as they are not near it.
void lead_with(const Choice& stock, const Chooser& chooser, std::vector<Choice>& choices) {
  std::vector<Choice> result{stock};
  for (const Choice& choice : choices)
    if (!chooser.is_near(choice.row, stock.row) && result.size() < choices.size())
      result.push_back(choice);
  choices = std::move(result);
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The sum of two estimates of one model: their draws go together.
Estimate sum_of(const Estimate& a, double times, const Estimate& b) {
  return {a.value + times * b.value, a.low + times * b.low, a.high + times * b.high, a.source};
}

// Turns the prediction of a prompt into that of the whole request.
void add_generation(const Prediction& token, const PlanVariant& variant, PlannedMode& planned) {
  const double batch = static_cast<double>(variant.batch);
  PlannedGeneration generation;
  generation.tokens = variant.tokens;
  generation.first_token_s = planned.time_s;
  generation.token_s = token.time_s;
  generation.tokens_per_s = {batch / token.time_s.value, batch / token.time_s.high,
                             batch / token.time_s.low, token.time_s.source};
  planned.time_s = sum_of(planned.time_s, variant.tokens, token.time_s);
  if (planned.energy_j && token.energy_j) {
    const Estimate& one = *token.energy_j;
    generation.token_energy_j =
        Estimate{one.value / batch, one.low / batch, one.high / batch, one.source};
    planned.energy_j = sum_of(*planned.energy_j, variant.tokens, one);
    const double power_w = planned.energy_j->value / planned.time_s.value;
    // Nearly all of the request is generation: its power has the relative interval of a token's.
    planned.power_w =
        Estimate{power_w, power_w * token.power_w->low / token.power_w->value,
                 power_w * token.power_w->high / token.power_w->value, token.power_w->source};
  }
  if (token.time_s.value * variant.tokens > generation.first_token_s.value)
    planned.bound = token.bound;
  planned.generation = generation;
}

}  // namespace

PlannedMode planned_mode(const PlanProblem& problem, const Sweep& sweep,
                         std::span<const CoefficientDraw> draws, const Objective& objective,
                         std::size_t row, double probability) {
  const CandidateMode& mode = mode_at(problem, sweep, row);
  const PlanVariant& variant = variant_at(problem, sweep, row);
  Conditions conditions = problem.conditions;
  conditions.point = mode.point;
  const Prediction prediction =
      predict(problem.model, *variant.load, conditions, draws, RowDetail::values);
  PlannedMode planned;
  planned.point = mode.point;
  planned.request = request_text(mode.point);
  planned.reach = mode.reach;
  planned.stock = mode.stock;
  planned.nvpmodel_id = mode.stock ? mode.id : std::nullopt;
  planned.command = enter_command(problem.candidates, mode);
  if (const auto stock = nearest_stock(problem.candidates, mode.point))
    planned.nearest_stock = problem.candidates.modes[*stock].point.label;
  planned.batch = variant.batch;
  planned.dtype = variant.dtype;
  planned.time_s = prediction.time_s;
  planned.power_w = prediction.power_w;
  planned.energy_j = prediction.energy_j;
  planned.bound = prediction.bound;
  if (variant.token)
    add_generation(predict(problem.model, *variant.token, conditions, draws, RowDetail::values),
                   variant, planned);
  planned.probability = probability;
  planned.unfamiliar = prediction.unfamiliar;
  planned.service = planned_service(problem, sweep, row, objective);
  if (problem.scenario == Scenario::inference && objective.arrivals)
    planned.period = planned_period(problem, sweep, row, objective);
  return planned;
}

PlanResult make_plan(const PlanProblem& problem, const Objective& objective,
                     const PlanOptions& options) {
  Sweep swept = sweep(problem);
  Plan plan;
  plan.warnings = power_warnings(problem, swept, objective);
  const auto draws =
      coefficient_draws(problem.model, problem.conditions.runtime, options.draws, options.seed);
  std::vector<CoefficientDraw> trained_draws;
  if (problem.scenario == Scenario::concurrent)
    trained_draws =
        coefficient_draws(problem.model, problem.concurrent.runtime, options.draws, options.seed);
  SweepDraws sweep_draws(problem, swept, draws, trained_draws);
  Chooser all(problem, swept, sweep_draws, problem.candidates.reach);
  std::vector<Choice> choices = all.settled(objective, 1 + options.runners_up);
  if (choices.empty()) throw infeasible_error(all, objective);
  Chooser stock(problem, swept, sweep_draws, problem.candidates.reach, true);
  const auto leads = options.lead_with_stock ? stock.settled(objective) : std::vector<Choice>();
  if (!leads.empty()) lead_with(leads.front(), all, choices);
  Chooser& chooser = leads.empty() ? all : stock;
  const Choice& choice = choices.front();
  const auto planned = [&](std::size_t row, double probability) {
    return planned_mode(problem, swept, draws, objective, row, probability);
  };

  plan.run = planned_run(problem, swept, objective);
  plan.run.leads_with_stock = options.lead_with_stock;
  plan.chosen = planned(choice.row, choice.probability);
  plan.memory = variant_at(problem, swept, choice.row).memory;
  for (const Choice& other : std::span(choices).subspan(1))
    plan.runners_up.push_back(planned(other.row, other.probability));
  plan.rated = planned_rate(problem, sweep_draws, objective, choice.row);
  if (plan.chosen.generation)
    for (std::size_t mode = 0; mode < problem.candidates.modes.size(); ++mode) {
      const std::size_t row = swept.row(swept.variant_of(choice.row), mode);
      if (problem.candidates.modes[mode].stock && problem.candidates.is_eligible(mode) &&
          std::isfinite(swept.costs[row].time_s))
        plan.stock_runs.push_back(planned(row, sweep_draws.probability(row, objective)));
    }
  add_alternatives(
      chooser, objective, choice,
      [&](const Choice& other) { return planned(other.row, other.probability); }, plan);
  plan.limits = planned_limits(chooser, objective, choice);
  if (problem.candidates.modes.size() > 1) {
    const std::size_t variant = swept.variant_of(choice.row);
    if (const auto mode = problem.candidates.default_mode)
      plan.vs_default = saving_against(chooser, objective, choice, swept.row(variant, *mode));
    plan.vs_fastest = saving_against(chooser, objective, choice, swept.fastest[variant]);
  }
  plan.pareto = front_points(problem, swept, objective);
  plan.measure_next =
      modes_to_measure(chooser, objective, choices, options.measure_next, !leads.empty());
  plan.knob_changes = knob_changes(chooser, objective, choice);
  if (problem.scenario == Scenario::training)
    plan.training = planned_training(problem, swept, sweep_draws, choice.row, plan.chosen.bound);
  if (problem.scenario == Scenario::concurrent)
    plan.concurrent =
        planned_concurrency(problem, swept, sweep_draws, trained_draws, choice.row, objective);
  if (options.why) {
    const std::string mode = mode_name(problem.candidates.modes[*options.why].point);
    if (!std::isfinite(swept.costs[swept.row(0, *options.why)].time_s))
      throw Error("--why", "the model cannot predict " + mode, "give a mode with known clocks",
                  ExitCode::incomplete);
    WhyNot why = why_not(chooser, objective, choice, *options.why);
    plan.why = PlannedWhy{mode, planned(why.row, why.probability), std::move(why.reasons)};
  }
  if (plan.chosen.point.cpu_cores == 1 && problem.scenario != Scenario::training)
    plan.warnings.emplace_back(
        "one core is enough for this network alone; other work on the machine is not counted");
  append(plan.warnings, texts(plan.chosen.unfamiliar));
  append(plan.warnings, close_calls(chooser, objective, choice));
  if (plan.memory && plan.memory->verdict() == MemoryVerdict::tight)
    plan.warnings.push_back("memory may not be enough: the run " + comparison_text(*plan.memory));
  append(plan.warnings, swept.left_out);
  append(plan.warnings, problem.notes);
  append(plan.warnings, problem.candidates.notes);
  return {std::move(plan), std::move(swept)};
}

}  // namespace ridgeline
