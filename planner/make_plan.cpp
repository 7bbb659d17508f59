// The numbers of the chosen mode come from predict(), as those of an explanation do.
#include "planner/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/statistics.h"
#include "base/units.h"
#include "planner/choice.h"
#include "planner/infeasible.h"
#include "planner/one_step.h"
#include "planner/pareto.h"
#include "planner/sensitivity.h"
#include "planner/why.h"
#include "roofline/model/predict.h"

namespace ridgeline {
namespace {

std::optional<double> known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool needs_power(LimitKind kind) {
  return kind == LimitKind::power || kind == LimitKind::peak_power || kind == LimitKind::energy ||
         kind == LimitKind::battery;
}

class Planner {
 public:
  Planner(const PlanProblem& problem, PlannedRun run, const PlanOptions& options)
      : problem_(problem),
        options_(options),
        draws_(coefficient_draws(*problem.model, problem.conditions.runtime, options.draws,
                                 options.seed)),
        trained_draws_(problem.task != PlanTask::concurrent
                           ? std::vector<CoefficientDraw>()
                           : coefficient_draws(*problem.model, problem.trained_by, options.draws,
                                               options.seed)),
        sweep_(ridgeline::sweep(problem)),
        belief_(problem, sweep_, draws_, trained_draws_),
        chooser_(problem, sweep_, belief_, problem.modes.reach) {
    plan_.run = std::move(run);
    plan_.run.task = problem.task;
  }

  PlanResult make() {
    check_power();
    const auto chosen = chooser_.best(objective(), 1 + options_.runners_up);
    if (chosen.empty()) fail();
    choice_ = chosen.front();
    plan_.chosen = planned(choice_.row, choice_.probability);
    for (std::size_t i = 1; i < chosen.size(); ++i)
      plan_.runners_up.push_back(planned(chosen[i].row, chosen[i].probability));
    count_modes();
    add_other_reach();
    add_limits();
    add_savings();
    add_front();
    add_measure_next(chosen);
    add_steps();
    add_task();
    if (options_.why) add_why(*options_.why);
    if (plan_.chosen.point.cpu_cores == 1 && problem_.task != PlanTask::training)
      plan_.warnings.push_back(
          "one core is enough for this network alone: what else the machine does is not counted");
    for (std::string& note : flips(chooser_, objective(), choice_))
      plan_.warnings.push_back(std::move(note));
    return {std::move(plan_), std::move(sweep_)};
  }

 private:
  const Objective& objective() const { return plan_.run.objective; }
  const PlanMode& mode_of(std::size_t row) const {
    return problem_.modes.modes[sweep_.mode_of(row)];
  }
  const PlanVariant& variant_of(std::size_t row) const {
    return problem_.variants[sweep_.variant_of(row)];
  }
  static std::string text_of(const PlanMode& mode) {
    return mode.point.label.empty() ? request_text(mode.point) : mode.point.label;
  }

  void check_power() {
    const bool has_power = std::any_of(sweep_.costs.begin(), sweep_.costs.end(),
                                       [](const RunCost& cost) { return cost.power_w > 0; });
    if (has_power) return;
    const std::string what = "nothing is known of the power of " + plan_.run.machine;
    if (objective().goal != Goal::time)
      throw Error("--minimize " + std::string(to_string(objective().goal)), what,
                  "write --minimize time, or calibrate a device of the catalog",
                  ExitCode::incomplete);
    for (const Limit& limit : objective().limits)
      if (needs_power(limit.kind))
        throw Error(limit.text, what, "leave the limit out", ExitCode::incomplete);
    plan_.warnings.push_back("time only: " + what);
  }

  [[noreturn]] void fail() {
    const Infeasibility why = infeasibility(chooser_, objective());
    std::string fix;
    for (const Relaxation& relaxed : why.relaxed) {
      if (!fix.empty()) fix += ", or ";
      fix += fmt::format("{} to {}", to_string(relaxed.limit.kind),
                         limit_value_text(relaxed.limit.kind, relaxed.bound));
    }
    fix = fix.empty() ? "no single limit is enough: relax more than one" : "relax " + fix;
    throw Error(why.missed.text, to_text(why, problem_, sweep_), fix, ExitCode::infeasible);
  }

  PlannedMode planned(std::size_t row, double probability) const {
    const PlanMode& mode = mode_of(row);
    const PlanVariant& variant = variant_of(row);
    Conditions conditions = problem_.conditions;
    conditions.point = mode.point;
    const Prediction prediction =
        predict(*problem_.model, *variant.load, conditions, draws_, RowDetail::values);
    PlannedMode result;
    result.point = mode.point;
    result.request = request_text(mode.point);
    result.reach = mode.reach;
    result.stock = mode.stock;
    if (const auto near = nearest_stock(problem_.modes, mode.point))
      result.nearest_stock = problem_.modes.modes[*near].point.label;
    result.batch = variant.batch;
    result.dtype = variant.dtype;
    result.time_s = prediction.time_s;
    result.power_w = prediction.power_w;
    result.energy_j = prediction.energy_j;
    result.bound = prediction.bound;
    result.probability = probability;
    if (problem_.task != PlanTask::inference)
      result.service = service(row);
    else if (objective().arrivals)
      result.period = period_of(row);
    return result;
  }

  PlannedService service(std::size_t row) const {
    const Service at = service_at(problem_, sweep_, row, objective());
    return {variant_of(row).minibatch > 0 ? variant_of(row).minibatch : variant_of(row).batch,
            at.time_s,
            at.latency_s,
            1 / at.sample_s,
            known(at.energy_j),
            known(at.mean_power_w),
            known(at.peak_power_w)};
  }

  void add_task() {
    if (problem_.task == PlanTask::training)
      plan_.training = planned_training(problem_, sweep_, belief_, choice_.row, plan_.chosen.bound);
    if (problem_.task == PlanTask::concurrent)
      plan_.concurrent =
          planned_concurrency(problem_, sweep_, belief_, trained_draws_, choice_.row, objective());
  }

  PlannedPeriod period_of(std::size_t row) const {
    const RunCost& cost = sweep_.costs[row];
    const DutyCycle cycle =
        duty_cycle(cost, static_cast<double>(variant_of(row).batch) / objective().arrivals->per_s);
    return {cycle.period_s,
            cycle.duty,
            service_at(problem_, sweep_, row, objective()).latency_s,
            known(cost.idle_w),
            known(cycle.energy_j),
            known(cycle.mean_power_w)};
  }

  void count_modes() {
    plan_.run.modes = static_cast<std::size_t>(
        std::count_if(problem_.modes.modes.begin(), problem_.modes.modes.end(),
                      [&](const PlanMode& mode) { return mode.is_choice(problem_.modes.reach); }));
    plan_.run.choices = plan_.run.modes * problem_.variants.size();
  }

  // Where the choice takes a reboot, the best without one; where none was wanted, the best with.
  void add_other_reach() {
    const bool reboots = plan_.chosen.reach == Reach::reboot;
    if (!reboots && problem_.modes.reach == Reach::reboot) return;
    Chooser other(problem_, sweep_, belief_, reboots ? Reach::live : Reach::reboot);
    const auto best = other.best(objective());
    if (best.empty() || best.front().row == choice_.row) return;
    if (!reboots && best.front().score >= choice_.score) return;
    plan_.other_reach = planned(best.front().row, best.front().probability);
  }

  void add_limits() {
    const auto binding = binding_limits(chooser_, objective(), choice_);
    const Service service = service_at(problem_, sweep_, choice_.row, objective());
    for (const Limit& limit : objective().limits) {
      PlannedLimit planned_limit{
          limit, limited(limit.kind, service, slowdown_at(problem_, sweep_, choice_.row)),
          belief_.probability(choice_.row, limit, objective()), std::nullopt};
      for (const BindingLimit& bound : binding)
        if (bound.limit.kind == limit.kind) planned_limit.gain_without = bound.gain;
      plan_.limits.push_back(std::move(planned_limit));
    }
  }

  Saving saving_against(std::size_t row) {
    const Service now = service_at(problem_, sweep_, choice_.row, objective());
    const Service then = service_at(problem_, sweep_, row, objective());
    Saving saving;
    saving.mode = text_of(mode_of(row));
    saving.time = 1 - now.time_s / then.time_s;
    saving.energy = known(1 - now.energy_j / then.energy_j);
    if (!saving.energy || belief_.draws() == 0) return saving;
    const std::size_t rows[] = {choice_.row, row};
    belief_.draw(rows);
    std::vector<double> draws;
    const auto chosen = belief_.services(choice_.row, objective());
    const auto other = belief_.services(row, objective());
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (std::isfinite(other[i].energy_j) && std::isfinite(chosen[i].energy_j))
        draws.push_back(1 - chosen[i].energy_j / other[i].energy_j);
    if (draws.empty()) return saving;
    saving.energy_low = std::min(*saving.energy, quantile(draws, 0.05));
    saving.energy_high = std::max(*saving.energy, quantile(draws, 0.95));
    return saving;
  }

  // Beside inference a mode may leave no time for training at all.
  bool can_run(std::size_t row) const {
    return std::isfinite(service_at(problem_, sweep_, row, objective()).time_s);
  }

  void add_savings() {
    const std::size_t variant = sweep_.variant_of(choice_.row);
    if (problem_.modes.modes.size() < 2) return;
    if (problem_.modes.default_mode) {
      const std::size_t row = sweep_.row(variant, *problem_.modes.default_mode);
      if (can_run(row)) plan_.vs_default = saving_against(row);
    }
    if (can_run(sweep_.fastest[variant]))
      plan_.vs_fastest = saving_against(sweep_.fastest[variant]);
  }

  void add_front() {
    for (const std::size_t row : pareto_front(problem_, sweep_, objective())) {
      const Service service = service_at(problem_, sweep_, row, objective());
      const PlanVariant& variant = variant_of(row);
      plan_.pareto.push_back({mode_of(row).point, request_text(mode_of(row).point), variant.batch,
                              variant.dtype, sweep_.costs[row].time_s, service.latency_s,
                              1 / service.sample_s, known(service.mean_power_w),
                              known(service.energy_j)});
    }
  }

  // Modes that would settle the choice: the chosen one, then those that win in most of the draws
  // in which it does not.
  void add_measure_next(const std::vector<Choice>& chosen) {
    const auto add = [&](std::size_t row, std::string reason) {
      plan_.measure_next.push_back(
          {text_of(mode_of(row)), variant_of(row).batch, variant_of(row).dtype, std::move(reason)});
    };
    add(choice_.row, "the choice: predicted, not measured");
    if (belief_.draws() == 0) {
      for (std::size_t i = 1; i < chosen.size() && i < options_.measure_next; ++i)
        add(chosen[i].row, "the next best");
      return;
    }
    std::vector<std::size_t> rows;
    for (const Choice& choice : chosen) rows.push_back(choice.row);
    for (const std::size_t row : {sweep_.fastest[sweep_.variant_of(choice_.row)]})
      if (std::none_of(rows.begin(), rows.end(),
                       [&](std::size_t other) { return chooser_.is_near(row, other); }))
        rows.push_back(row);
    belief_.draw(rows);
    std::vector<std::pair<double, std::size_t>> wins = wins_of(rows);
    std::sort(wins.begin(), wins.end(),
              [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [share, row] : wins) {
      if (plan_.measure_next.size() >= options_.measure_next) break;
      if (row == choice_.row) continue;
      add(row, share > 0 ? fmt::format("better than the choice with a probability of {}",
                                       format_percent(share))
                         : "far from the choice: it tells how time and power scale");
    }
  }

  // How often each row keeps the limits and scores better than the choice, or the choice fails.
  std::vector<std::pair<double, std::size_t>> wins_of(const std::vector<std::size_t>& rows) {
    std::vector<std::pair<double, std::size_t>> wins;
    const auto held = [&](std::size_t row) {
      std::vector<char> result(belief_.draws(), 1);
      for (const Limit& limit : objective().limits) {
        const auto values = belief_.limited_draws(row, limit.kind, objective());
        for (std::size_t i = 0; i < values.size(); ++i)
          if (!(values[i] <= limit.bound)) result[i] = 0;
      }
      return result;
    };
    const auto scores = [&](std::size_t row) {
      std::vector<double> result;
      for (const Service& drawn : belief_.services(row, objective()))
        result.push_back(score_of(objective().goal, drawn));
      return result;
    };
    const std::vector<char> choice_held = held(choice_.row);
    const std::vector<double> choice_scores = scores(choice_.row);
    for (const std::size_t row : rows) {
      const std::vector<char> row_held = held(row);
      const std::vector<double> row_scores = scores(row);
      double won = 0;
      for (std::size_t i = 0; i < belief_.draws(); ++i)
        if (row_held[i] && (!choice_held[i] || row_scores[i] < choice_scores[i])) ++won;
      wins.emplace_back(won / static_cast<double>(belief_.draws()), row);
    }
    return wins;
  }

  void add_steps() {
    const Service now = service_at(problem_, sweep_, choice_.row, objective());
    const auto steps = one_step_away(problem_, sweep_, choice_.row);
    std::vector<std::size_t> rows;
    for (const OneStep& step : steps) rows.push_back(step.row);
    if (belief_.draws() > 0) belief_.draw(rows);
    for (const OneStep& step : steps) {
      const Service there = service_at(problem_, sweep_, step.row, objective());
      plan_.steps.push_back(
          {step.knob, step.up, request_text(mode_of(step.row).point), there.time_s / now.time_s - 1,
           known(there.energy_j / now.energy_j - 1), belief_.probability(step.row, objective()),
           chooser_.holds(step.row, objective())});
    }
  }

  void add_why(std::size_t mode) {
    if (!std::isfinite(sweep_.costs[sweep_.row(0, mode)].time_s))
      throw Error("--why", "the model cannot predict " + text_of(problem_.modes.modes[mode]),
                  "give a mode with known clocks", ExitCode::incomplete);
    WhyNot why = why_not(chooser_, objective(), choice_, mode);
    plan_.why = PlannedWhy{text_of(problem_.modes.modes[mode]), planned(why.row, why.probability),
                           std::move(why.reasons)};
  }

  const PlanProblem& problem_;
  const PlanOptions options_;
  std::vector<CoefficientDraw> draws_, trained_draws_;
  Sweep sweep_;
  Belief belief_;
  Chooser chooser_;
  Choice choice_;
  Plan plan_;
};

}  // namespace

PlanResult make_plan(const PlanProblem& problem, PlannedRun run, const PlanOptions& options) {
  return Planner(problem, std::move(run), options).make();
}

}  // namespace ridgeline
