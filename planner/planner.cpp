// Each part of the plan is a function of the problem, the sweep and the choice. Time, power and
// energy of a mode come from predict(), as those of an explanation do.
#include "planner/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "planner/choice.h"
#include "planner/infeasible.h"
#include "planner/pareto.h"
#include "planner/periodic.h"
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

PlannedRun planned_run(const PlanProblem& problem, const Objective& objective) {
  PlannedRun run;
  run.network = problem.network;
  run.device = problem.model.device;
  run.machine = problem.machine;
  run.runtime = problem.conditions.runtime;
  run.objective = objective;
  run.scenario = problem.scenario;
  for (std::size_t mode = 0; mode < problem.candidates.modes.size(); ++mode)
    if (problem.candidates.is_eligible(mode)) ++run.modes;
  run.choices = run.modes * problem.variants.size();
  return run;
}

PlannedPeriod planned_period(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                             const Objective& objective) {
  const BatchCost& cost = sweep.costs[row];
  const double batch = static_cast<double>(variant_at(problem, sweep, row).batch);
  const DutyCycle cycle = duty_cycle(cost, batch / objective.arrivals->per_s);
  return {cycle.period_s,
          cycle.duty,
          service_at(problem, sweep, row, objective).latency_s,
          finite(cost.idle_w),
          finite(cycle.energy_j),
          finite(cycle.mean_power_w)};
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
  if (const auto stock = nearest_stock(problem.candidates, mode.point))
    planned.nearest_stock = problem.candidates.modes[*stock].point.label;
  planned.batch = variant.batch;
  planned.dtype = variant.dtype;
  planned.time_s = prediction.time_s;
  planned.power_w = prediction.power_w;
  planned.energy_j = prediction.energy_j;
  planned.bound = prediction.bound;
  planned.probability = probability;
  planned.unfamiliar = prediction.unfamiliar;
  if (problem.scenario != Scenario::inference)
    planned.service = planned_service(problem, sweep, row, objective);
  else if (objective.arrivals)
    planned.period = planned_period(problem, sweep, row, objective);
  return planned;
}

// If the choice needs a reboot, the best without one; if reboots were excluded, the best with one.
std::optional<Choice> other_reach(Chooser& chooser, const Objective& objective,
                                  const Choice& choice) {
  const PlanProblem& problem = chooser.problem();
  const bool reboots = mode_at(problem, chooser.sweep(), choice.row).reach == Reach::reboot;
  if (!reboots && problem.candidates.reach == Reach::reboot) return std::nullopt;
  Chooser other(problem, chooser.sweep(), chooser.draws(), reboots ? Reach::live : Reach::reboot);
  const auto best = other.settled(objective);
  if (best.empty() || best.front().row == choice.row) return std::nullopt;
  if (!reboots && best.front().score >= choice.score) return std::nullopt;
  return best.front();
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
                                          const std::vector<Choice>& choices, std::size_t most) {
  const Sweep& sweep = chooser.sweep();
  const std::size_t chosen = choices.front().row;
  std::vector<MeasureNext> next;
  const auto add = [&](std::size_t row, std::string reason) {
    const PlanVariant& variant = variant_at(chooser.problem(), sweep, row);
    next.push_back({mode_name(mode_at(chooser.problem(), sweep, row).point), variant.batch,
                    variant.dtype, std::move(reason)});
  };
  add(chosen, "the choice: predicted, not measured");
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
    add(row, share > 0 ? fmt::format("better than the choice with probability {}",
                                     format_probability(share))
                       : "far from the choice: shows how time and power scale");
  }
  return next;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

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
  Chooser chooser(problem, swept, sweep_draws, problem.candidates.reach);
  const std::vector<Choice> choices = chooser.settled(objective, 1 + options.runners_up);
  if (choices.empty()) throw infeasible_error(chooser, objective);
  const Choice& choice = choices.front();
  const auto planned = [&](std::size_t row, double probability) {
    return planned_mode(problem, swept, draws, objective, row, probability);
  };

  plan.run = planned_run(problem, objective);
  plan.chosen = planned(choice.row, choice.probability);
  plan.memory = variant_at(problem, swept, choice.row).memory;
  for (const Choice& other : std::span(choices).subspan(1))
    plan.runners_up.push_back(planned(other.row, other.probability));
  if (const auto other = other_reach(chooser, objective, choice))
    plan.other_reach = planned(other->row, other->probability);
  plan.limits = planned_limits(chooser, objective, choice);
  if (problem.candidates.modes.size() > 1) {
    const std::size_t variant = swept.variant_of(choice.row);
    if (const auto mode = problem.candidates.default_mode)
      plan.vs_default = saving_against(chooser, objective, choice, swept.row(variant, *mode));
    plan.vs_fastest = saving_against(chooser, objective, choice, swept.fastest[variant]);
  }
  plan.pareto = front_points(problem, swept, objective);
  plan.measure_next = modes_to_measure(chooser, objective, choices, options.measure_next);
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
  append(plan.warnings, problem.notes);
  append(plan.warnings, problem.candidates.notes);
  return {std::move(plan), std::move(swept)};
}

}  // namespace ridgeline
