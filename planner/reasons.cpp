// Each limit is moved or left out and the choice made again; rows keep their draws, so that is
// cheap.
#include "planner/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/statistics.h"
#include "base/units.h"

namespace ridgeline {
namespace {

constexpr double small_change = 0.01;  // of a limit, for close calls
constexpr double least_gain = 1e-3;    // of the objective, for a limit to bind

// How much better the objective would be without this limit.
std::optional<double> gain_without(Chooser& chooser, const Objective& objective,
                                   const Choice& choice, std::size_t limit) {
  Objective without = objective;
  without.limits.erase(without.limits.begin() + static_cast<std::ptrdiff_t>(limit));
  const auto better = chooser.settled(without);
  if (better.empty()) return std::nullopt;
  const double gain = 1 - better.front().score / choice.score;
  return gain > least_gain ? std::optional(gain) : std::nullopt;
}

constexpr std::array<std::string_view, 5> knobs{"gpu", "emc", "cpu", "cores", "sm"};

std::array<double, 5> knob_values(const OperatingPoint& point) {
  const double cpu =
      point.cpu_hz.empty() ? 0 : *std::max_element(point.cpu_hz.begin(), point.cpu_hz.end());
  return {point.gpu_hz.value_or(0), point.memory_hz.value_or(0), cpu,
          static_cast<double>(point.cpu_cores.value_or(0)),
          static_cast<double>(point.gpu_units.value_or(0))};
}

struct KnobNeighbour {
  std::size_t row = 0;
  std::string_view knob;
  bool up = false;
};

// The nearest modes that differ from the row's in one knob, by knob, down and up.
std::vector<KnobNeighbour> knob_neighbours(const PlanProblem& problem, const Sweep& sweep,
                                           std::size_t row) {
  const auto& modes = problem.candidates.modes;
  const auto here = knob_values(mode_at(problem, sweep, row).point);
  struct Nearest {
    std::optional<std::size_t> mode;
    double value = 0;
  };
  std::array<std::array<Nearest, 2>, knobs.size()> nearest;  // down, up
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    const auto there = knob_values(modes[mode].point);
    std::optional<std::size_t> differs;
    int differences = 0;
    for (std::size_t knob = 0; knob < knobs.size(); ++knob)
      if (there[knob] != here[knob]) {
        differs = knob;
        ++differences;
      }
    if (differences != 1) continue;
    const bool up = there[*differs] > here[*differs];
    Nearest& known = nearest[*differs][up];
    const bool closer = up ? there[*differs] < known.value : there[*differs] > known.value;
    if (!known.mode || closer) known = {mode, there[*differs]};
  }
  std::vector<KnobNeighbour> neighbours;
  for (std::size_t knob = 0; knob < knobs.size(); ++knob)
    for (const bool up : {false, true})
      if (const auto mode = nearest[knob][up].mode)
        neighbours.push_back({sweep.row(sweep.variant_of(row), *mode), knobs[knob], up});
  return neighbours;
}

double score_at(const Chooser& chooser, std::size_t row, const Objective& objective) {
  return score_of(objective.goal, service_at(chooser.problem(), chooser.sweep(), row, objective));
}

}  // namespace

std::size_t best_row(Chooser& chooser, const Objective& objective, std::size_t mode) {
  std::size_t best = chooser.sweep().row(0, mode);
  bool best_holds = chooser.holds(best, objective);
  for (std::size_t variant = 1; variant < chooser.problem().variants.size(); ++variant) {
    const std::size_t row = chooser.sweep().row(variant, mode);
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

std::vector<std::string> broken_limits(Chooser& chooser, const Objective& objective,
                                       std::size_t row) {
  std::vector<std::string> reasons;
  for (const Limit& limit : objective.limits) {
    const double value =
        limited_value_at(chooser.problem(), chooser.sweep(), row, limit.kind, objective);
    if (!(value <= limit.bound)) {
      reasons.push_back(
          fmt::format("breaks {}: {} instead of {}", to_string(limit.kind),
                      std::isfinite(value) ? limit_value_text(limit.kind, value) : "work piles up",
                      limit_value_text(limit.kind, limit.bound)));
      continue;
    }
    const double probability = chooser.draws().probability(row, limit, objective);
    if (probability < required_probability(limit, objective))
      reasons.push_back(fmt::format("meets {} with probability {} only ({}, limit {})",
                                    to_string(limit.kind), format_probability(probability),
                                    limit_value_text(limit.kind, value),
                                    limit_value_text(limit.kind, limit.bound)));
  }
  return reasons;
}

std::vector<PlannedLimit> planned_limits(Chooser& chooser, const Objective& objective,
                                         const Choice& choice) {
  std::vector<PlannedLimit> result;
  for (std::size_t i = 0; i < objective.limits.size(); ++i) {
    const Limit& limit = objective.limits[i];
    result.push_back(
        {limit,
         limited_value_at(chooser.problem(), chooser.sweep(), choice.row, limit.kind, objective),
         chooser.draws().probability(choice.row, limit, objective),
         gain_without(chooser, objective, choice, i)});
  }
  return result;
}

std::vector<std::string> close_calls(Chooser& chooser, const Objective& objective,
                                     const Choice& choice) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < objective.limits.size(); ++i)
    for (const double change : {-small_change, small_change}) {
      Objective moved = objective;
      Limit& limit = moved.limits[i];
      limit.bound *= 1 + change;
      const auto best = chooser.settled(moved);
      if (!best.empty() && chooser.is_near(choice.row, best.front().row)) continue;
      notes.push_back(
          fmt::format("close call: with {} at {} {}", to_string(limit.kind),
                      limit_value_text(limit.kind, limit.bound),
                      best.empty() ? "no mode would be left"
                                   : "the choice would be " + chooser.name_of(best.front().row)));
    }
  return notes;
}

std::optional<Saving> saving_against(Chooser& chooser, const Objective& objective,
                                     const Choice& choice, std::size_t row) {
  const PlanProblem& problem = chooser.problem();
  const Service chosen = service_at(problem, chooser.sweep(), choice.row, objective);
  const Service other = service_at(problem, chooser.sweep(), row, objective);
  if (!std::isfinite(other.time_s)) return std::nullopt;
  Saving saving;
  saving.mode = mode_name(mode_at(problem, chooser.sweep(), row).point);
  saving.time = 1 - chosen.time_s / other.time_s;
  saving.energy = finite(1 - chosen.energy_j / other.energy_j);
  if (!saving.energy || chooser.draws().count() == 0) return saving;
  const std::size_t rows[] = {choice.row, row};
  chooser.draws().draw(rows);
  const auto chosen_draws = chooser.draws().services(choice.row, objective);
  const auto other_draws = chooser.draws().services(row, objective);
  std::vector<double> drawn;
  for (std::size_t i = 0; i < chosen_draws.size(); ++i)
    if (std::isfinite(other_draws[i].energy_j) && std::isfinite(chosen_draws[i].energy_j))
      drawn.push_back(1 - chosen_draws[i].energy_j / other_draws[i].energy_j);
  if (drawn.empty()) return saving;
  const Estimate interval = interval_of_draws(*saving.energy, drawn, Source::predicted);
  saving.energy_low = interval.low;
  saving.energy_high = interval.high;
  return saving;
}

std::vector<KnobChange> knob_changes(Chooser& chooser, const Objective& objective,
                                     const Choice& choice) {
  const PlanProblem& problem = chooser.problem();
  const Sweep& sweep = chooser.sweep();
  const auto neighbours = knob_neighbours(problem, sweep, choice.row);
  std::vector<std::size_t> rows;
  for (const KnobNeighbour& neighbour : neighbours) rows.push_back(neighbour.row);
  if (chooser.draws().count() > 0) chooser.draws().draw(rows);
  const Service here = service_at(problem, sweep, choice.row, objective);
  std::vector<KnobChange> changes;
  for (const auto& [row, knob, up] : neighbours) {
    const Service there = service_at(problem, sweep, row, objective);
    if (!std::isfinite(there.time_s)) continue;  // no training step fits between requests there
    changes.push_back({std::string(knob), up, request_text(mode_at(problem, sweep, row).point),
                       there.time_s / here.time_s - 1, finite(there.energy_j / here.energy_j - 1),
                       chooser.draws().probability(row, objective), chooser.holds(row, objective)});
  }
  return changes;
}

WhyNot why_not(Chooser& chooser, const Objective& objective, const Choice& choice,
               std::size_t mode) {
  WhyNot why;
  why.row = best_row(chooser, objective, mode);
  why.probability = chooser.draws().probability(why.row, objective);
  if (why.row == choice.row) {
    why.reasons.emplace_back("it is the chosen mode");
    return why;
  }
  if (!chooser.problem().candidates.is_eligible(mode))
    why.reasons.emplace_back("it is not among the modes that were asked for");
  for (std::string& reason : broken_limits(chooser, objective, why.row))
    why.reasons.push_back(std::move(reason));
  const double score_ratio = score_at(chooser, why.row, objective) / choice.score;
  const auto time_at = [&](std::size_t row) {
    return service_at(chooser.problem(), chooser.sweep(), row, objective).goal_s;
  };
  const double time_ratio = time_at(why.row) / time_at(choice.row);
  if (score_ratio > 1)
    why.reasons.push_back(fmt::format("{} more {} than the chosen mode",
                                      format_percent(score_ratio - 1, 1),
                                      goal_text(chooser.problem().scenario, objective.goal)));
  else if (why.reasons.empty() && time_ratio > 1 && objective.goal == Goal::energy)
    why.reasons.push_back(fmt::format("as good as the chosen mode within 1 %, but {} slower",
                                      format_percent(time_ratio - 1, 1)));
  else if (why.reasons.empty())
    why.reasons.emplace_back("as good as the chosen mode, which has lower clocks");
  return why;
}

}  // namespace ridgeline
