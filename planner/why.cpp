// A limit that the values break is named before one that only some draws break.
#include "planner/why.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "planner/task.h"

namespace ridgeline {
namespace {

double score_at(const Chooser& chooser, std::size_t row, const Objective& objective) {
  return score_of(objective.goal, service_at(chooser.problem(), chooser.swept(), row, objective));
}

// The variant with which the mode does best: one that keeps the limits if there is one.
std::size_t best_row(Chooser& chooser, const Objective& objective, std::size_t mode) {
  std::size_t best = chooser.swept().row(0, mode);
  bool best_holds = chooser.holds(best, objective);
  for (std::size_t variant = 1; variant < chooser.problem().variants.size(); ++variant) {
    const std::size_t row = chooser.swept().row(variant, mode);
    const bool holds = chooser.holds(row, objective);
    if (holds < best_holds) continue;
    if (holds == best_holds &&
        !(score_at(chooser, row, objective) < score_at(chooser, best, objective)))
      continue;
    best = row;
    best_holds = holds;
  }
  return best;
}

void add_limits(Chooser& chooser, const Objective& objective, WhyNot& why) {
  const Service service = service_at(chooser.problem(), chooser.swept(), why.row, objective);
  for (const Limit& limit : objective.limits) {
    const double value =
        limited(limit.kind, service, slowdown_at(chooser.problem(), chooser.swept(), why.row));
    if (!(value <= limit.bound)) {
      why.reasons.push_back(
          fmt::format("breaks {}: {} instead of {}", to_string(limit.kind),
                      std::isfinite(value) ? limit_value_text(limit.kind, value) : "work piles up",
                      limit_value_text(limit.kind, limit.bound)));
      continue;
    }
    const double probability = chooser.belief().probability(why.row, limit, objective);
    if (probability < std::max(limit.probability, objective.risk))
      why.reasons.push_back(fmt::format("keeps {} with a probability of {} only ({} of {})",
                                        to_string(limit.kind), format_percent(probability),
                                        limit_value_text(limit.kind, value),
                                        limit_value_text(limit.kind, limit.bound)));
  }
}

}  // namespace

WhyNot why_not(Chooser& chooser, const Objective& objective, const Choice& chosen,
               std::size_t mode) {
  WhyNot why;
  why.row = best_row(chooser, objective, mode);
  why.is_chosen = why.row == chosen.row;
  why.probability = chooser.belief().probability(why.row, objective);
  why.score_ratio = score_at(chooser, why.row, objective) / chosen.score;
  if (why.is_chosen) {
    why.reasons.push_back("it is the chosen mode");
    return why;
  }
  const PlanModes& modes = chooser.problem().modes;
  if (!modes.modes[mode].is_choice(modes.reach))
    why.reasons.push_back("it is not among the modes that were asked for");
  add_limits(chooser, objective, why);
  if (why.score_ratio > 1)
    why.reasons.push_back(fmt::format("{} more {} than the chosen mode",
                                      format_percent(why.score_ratio - 1, 1),
                                      goal_text(chooser.problem(), objective.goal)));
  else if (why.reasons.empty())
    why.reasons.push_back("as good as the chosen mode, which has lower clocks");
  return why;
}

}  // namespace ridgeline
