// A row is the mode with the batch and type that suit it best, as a plan would describe it.
#include "planner/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "planner/choice.h"
#include "planner/reasons.h"

namespace ridgeline {
namespace {

// A sweep with what is needed to describe its rows.
class ComparedSweep {
 public:
  ComparedSweep(const PlanProblem& problem, const Objective& objective, const PlanOptions& options)
      : problem_(problem),
        objective_(objective),
        sweep_(sweep(problem)),
        draws_(coefficient_draws(problem.model, problem.conditions.runtime, options.draws,
                                 options.seed)),
        sweep_draws_(problem, sweep_, draws_),
        chooser_(problem, sweep_, sweep_draws_, problem.candidates.reach) {}

  const Sweep& swept() const { return sweep_; }

  std::optional<std::size_t> chosen_row() {
    Chooser stock(problem_, sweep_, sweep_draws_, problem_.candidates.reach, true);
    for (Chooser* chooser : {&stock, &chooser_})
      if (const auto best = chooser->settled(objective_); !best.empty()) return best.front().row;
    return std::nullopt;
  }

  ComparedRow row(std::string label, std::size_t mode) {
    ComparedRow row{.label = std::move(label), .run = {}, .why_not = {}};
    if (std::isnan(sweep_.costs[sweep_.row(0, mode)].time_s)) {
      row.why_not = "cannot be predicted: its clocks or SMs are not known";
      return row;
    }
    return described(std::move(row), best_row(chooser_, objective_, mode));
  }

  ComparedRow described(ComparedRow row, std::size_t at) {
    row.run = planned_mode(problem_, sweep_, draws_, objective_, at,
                           sweep_draws_.probability(at, objective_));
    row.memory = variant_at(problem_, sweep_, at).memory;
    row.broken = broken_limits(chooser_, objective_, at);
    row.score = score_of(objective_.goal, service_at(problem_, sweep_, at, objective_));
    if (problem_.scenario == Scenario::training)
      row.training = planned_training(problem_, sweep_, sweep_draws_, at, row.run->bound);
    return row;
  }

 private:
  const PlanProblem& problem_;
  const Objective& objective_;
  Sweep sweep_;
  std::vector<CoefficientDraw> draws_;
  SweepDraws sweep_draws_;
  Chooser chooser_;
};

}  // namespace

std::vector<ComparedRow> compare_modes(const PlanProblem& problem, const Objective& objective,
                                       const PlanOptions& options) {
  ComparedSweep compared(problem, objective, options);
  std::vector<ComparedRow> rows;
  const auto& modes = problem.candidates.modes;
  for (std::size_t mode = 0; mode < modes.size(); ++mode)
    if (modes[mode].stock) rows.push_back(compared.row(modes[mode].point.label, mode));
  if (rows.empty() && problem.candidates.default_mode)
    rows.push_back(compared.row(mode_name(modes[*problem.candidates.default_mode].point),
                                *problem.candidates.default_mode));
  rank(rows);
  return rows;
}

ComparedRow best_row_of(const PlanProblem& problem, const Objective& objective,
                        const PlanOptions& options, std::string label) {
  ComparedSweep compared(problem, objective, options);
  ComparedRow row{.label = std::move(label), .run = {}, .why_not = {}};
  if (const auto chosen = compared.chosen_row()) return compared.described(std::move(row), *chosen);
  return compared.described(std::move(row), compared.swept().fastest.front());
}

ComparedRow row_in_mode(const PlanProblem& problem, const Objective& objective,
                        const PlanOptions& options, std::string label, std::size_t mode) {
  return ComparedSweep(problem, objective, options).row(std::move(label), mode);
}

void rank(std::vector<ComparedRow>& rows) {
  std::vector<ComparedRow*> kept;
  for (ComparedRow& row : rows)
    if (row.run && row.broken.empty() && std::isfinite(row.score)) kept.push_back(&row);
  std::stable_sort(kept.begin(), kept.end(),
                   [](const ComparedRow* a, const ComparedRow* b) { return a->score < b->score; });
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i]->rank = i + 1;
}

Json to_json(const ComparedRow& row) {
  return {{"label", row.label},
          {"rank", row.rank ? Json(*row.rank) : Json()},
          {"run", row.run ? to_json(*row.run) : Json()},
          {"why_not", row.why_not.empty() ? Json() : Json(row.why_not)},
          {"memory", row.memory ? to_json(*row.memory) : Json()},
          {"broken_limits", row.broken},
          {"training", row.training ? to_json(*row.training) : Json()}};
}

Json to_json(const ComparedRuns& comparison) {
  const Objective& objective = comparison.run.objective;
  Json arrivals;
  if (objective.arrivals)
    arrivals = {{"per_s", objective.arrivals->per_s}, {"at_random", objective.arrivals->at_random}};
  Json limits = Json::array();
  for (const Limit& limit : objective.limits) limits.push_back(limit.text);
  return {{"schema", ComparedRuns::schema},
          {"varied", to_string(comparison.varied)},
          {"task", to_string(comparison.run.scenario)},
          {"network", comparison.run.network},
          {"machine", comparison.varied == Varied::device ? Json() : Json(comparison.run.machine)},
          {"runtime",
           comparison.varied == Varied::runtime ? Json() : Json(to_string(comparison.run.runtime))},
          {"minimize", to_string(objective.goal)},
          {"risk", objective.risk},
          {"arrivals", arrivals},
          {"limits", limits},
          {"held_mode", comparison.held_mode.empty() ? Json() : Json(comparison.held_mode)},
          {"rows", array_of(comparison.rows, [](const ComparedRow& row) { return to_json(row); })},
          {"notes", comparison.notes}};
}

}  // namespace ridgeline
