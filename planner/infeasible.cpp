// Candidates for the nearest miss are the rows nearest at the means, and only these are drawn. A
// relaxed limit is the bound that the best row under the other limits needs.
#include "planner/infeasible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/units.h"

namespace ridgeline {
namespace {

constexpr std::size_t drawn_rows = 24;

// How far a value is beyond its limit.
double excess(double value, const Limit& limit) { return value / limit.bound - 1; }

// The value that a share `p` of the draws does not exceed.
double order_statistic(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

// Three digits, upwards, so that the bound that is suggested is enough; of a rate downwards.
double rounded_up(LimitKind kind, double value) {
  const bool is_rate = kind == LimitKind::throughput || kind == LimitKind::arrivals;
  const double shown = is_rate ? 1 / value : value;
  const double digit = std::pow(10, std::floor(std::log10(shown)) - 2);
  if (is_rate) return 1 / (std::floor(shown / digit + 1e-9) * digit);
  return std::ceil(shown / digit - 1e-9) * digit;
}

double value_at(const Chooser& chooser, std::size_t row, const Limit& limit,
                const Objective& objective) {
  return limited_value_at(chooser.problem(), chooser.sweep(), row, limit.kind, objective);
}

// The eligible rows whose worst miss at the means is smallest, drawn.
std::vector<std::size_t> nearest_rows(Chooser& chooser, const Objective& objective) {
  std::vector<std::pair<double, std::size_t>> misses;  // and their rows
  for (std::size_t row = 0; row < chooser.sweep().costs.size(); ++row) {
    if (!chooser.problem().candidates.is_eligible(chooser.sweep().mode_of(row))) continue;
    double worst = -INFINITY;
    for (const Limit& limit : objective.limits)
      worst = std::max(worst, excess(value_at(chooser, row, limit, objective), limit));
    if (std::isfinite(worst)) misses.emplace_back(worst, row);
  }
  const std::size_t count = std::min(drawn_rows, misses.size());
  std::partial_sort(misses.begin(), misses.begin() + static_cast<std::ptrdiff_t>(count),
                    misses.end());
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(misses[i].second);
  if (chooser.draws().count() > 0) chooser.draws().draw(rows);
  return rows;
}

std::optional<Relaxation> relaxation(Chooser& chooser, const Objective& objective,
                                     std::size_t which) {
  const Limit& limit = objective.limits[which];
  Objective others = objective;
  others.limits.erase(others.limits.begin() + static_cast<std::ptrdiff_t>(which));
  others.risk = 1 - (1 - objective.risk) / 2;  // half of the risk is left for this limit
  const auto row = chooser.least(limit.kind, others);
  if (!row) return std::nullopt;
  std::vector<double> values = chooser.draws().limited_values(row->row, limit.kind, objective);
  for (const Limit& other : others.limits) {  // all hold together in the same draws
    const std::vector<double> draws =
        chooser.draws().limited_values(row->row, other.kind, objective);
    for (std::size_t i = 0; i < draws.size(); ++i)
      if (!(draws[i] <= other.bound)) values[i] = INFINITY;
  }
  const double bound = std::max(value_at(chooser, row->row, limit, objective),
                                order_statistic(values, required_probability(limit, objective)));
  if (std::isfinite(bound) && bound > 0) return Relaxation{limit, rounded_up(limit.kind, bound)};
  // The other limits use up all the risk, whatever this one is.
  return std::nullopt;
}

// The limits that a row breaks, each with what it needs so that all hold together.
std::vector<Relaxation> relaxed_together(Chooser& chooser, const Objective& objective,
                                         std::size_t row) {
  std::vector<Relaxation> result;
  const auto count = static_cast<double>(objective.limits.size());
  for (const Limit& limit : objective.limits) {
    const double probability = 1 - (1 - required_probability(limit, objective)) / count;
    const double value =
        order_statistic(chooser.draws().limited_values(row, limit.kind, objective), probability);
    if (value > limit.bound && std::isfinite(value))
      result.push_back({limit, rounded_up(limit.kind, value)});
  }
  return result;
}

std::string relaxed_text(const std::vector<Relaxation>& limits, const char* between) {
  std::string text;
  for (const Relaxation& relaxed : limits)
    text += (text.empty() ? "" : between) +
            fmt::format("{} to {}", to_string(relaxed.limit.kind),
                        limit_value_text(relaxed.limit.kind, relaxed.bound));
  return text;
}

// Beside training: inference alone may already be too slow for its requests.
std::optional<Error> inference_too_slow(const Chooser& chooser) {
  const PlanProblem& problem = chooser.problem();
  if (problem.scenario != Scenario::concurrent) return std::nullopt;
  double least_s = INFINITY;
  std::size_t best = 0;
  for (std::size_t row = 0; row < chooser.sweep().costs.size(); ++row) {
    if (!problem.candidates.is_eligible(chooser.sweep().mode_of(row))) continue;
    const double sample_s = chooser.sweep().costs[row].time_s /
                            static_cast<double>(variant_at(problem, chooser.sweep(), row).batch);
    if (!(sample_s < least_s)) continue;
    least_s = sample_s;
    best = row;
  }
  const double rate = problem.concurrent.stream.requests_per_s;
  if (!(least_s * rate > 1)) return std::nullopt;
  return Error(
      "--rate",
      fmt::format("inference alone is too slow: {} takes {} per request in {}, but one "
                  "arrives every {}",
                  problem.network, format_seconds(least_s), chooser.name_of(best),
                  format_seconds(1 / rate)),
      fmt::format("lower --rate to {}",
                  limit_value_text(LimitKind::arrivals, rounded_up(LimitKind::arrivals, least_s))),
      ExitCode::infeasible);
}

// Beside training: a request may arrive just after a training step began, which nothing interrupts.
std::string training_wait(const Chooser& chooser, std::size_t row) {
  if (chooser.problem().scenario != Scenario::concurrent) return {};
  const BatchCost& cost = chooser.sweep().costs[row];
  return fmt::format(
      "; training is the reason: a request may wait for a step of {}, inference "
      "itself takes {}",
      format_seconds(cost.training_s), format_seconds(cost.time_s));
}

// The value of the nearest row that the limit was held against, and the prediction it comes from.
std::string missed_text(const Chooser& chooser, const Objective& objective,
                        const Infeasibility& why) {
  const LimitKind kind = why.missed.kind;
  const std::string needed = limit_value_text(kind, why.value);
  const std::string predicted =
      limit_value_text(kind, value_at(chooser, why.nearest, why.missed, objective));
  if (predicted == needed) return needed;
  return fmt::format("{} predicted, {} with {:.0f} % certainty,", predicted, needed,
                     100 * required_probability(why.missed, objective));
}

}  // namespace

Infeasibility infeasibility(Chooser& chooser, const Objective& objective) {
  Infeasibility result;
  double least_worst = INFINITY;
  for (const std::size_t row : nearest_rows(chooser, objective)) {
    double worst = -INFINITY, worst_value = 0;
    const Limit* missed = nullptr;
    for (const Limit& limit : objective.limits) {
      const double value =
          order_statistic(chooser.draws().limited_values(row, limit.kind, objective),
                          required_probability(limit, objective));
      if (excess(value, limit) <= worst) continue;
      worst = excess(value, limit);
      worst_value = value;
      missed = &limit;
    }
    if (missed == nullptr || worst >= least_worst) continue;
    least_worst = worst;
    result.nearest = row;
    result.missed = *missed;
    result.value = worst_value;
  }
  for (std::size_t i = 0; i < objective.limits.size(); ++i)
    if (const auto relaxed = relaxation(chooser, objective, i)) result.relaxed.push_back(*relaxed);
  std::sort(result.relaxed.begin(), result.relaxed.end(),
            [](const Relaxation& a, const Relaxation& b) {
              return a.bound / a.limit.bound < b.bound / b.limit.bound;
            });
  if (result.relaxed.empty() && result.missed.bound > 0)
    result.together = relaxed_together(chooser, objective, result.nearest);
  return result;
}

Error infeasible_error(Chooser& chooser, const Objective& objective) {
  if (const auto error = inference_too_slow(chooser)) return *error;
  const Infeasibility why = infeasibility(chooser, objective);
  const Limit& missed = why.missed;
  const std::string what =
      missed.bound <= 0
          ? "no mode meets the limits"
          : fmt::format("no mode meets all limits; nearest is {}: {} instead of {}",
                        chooser.name_of(why.nearest), missed_text(chooser, objective, why),
                        limit_value_text(missed.kind, missed.bound));
  const std::string waits = missed.bound > 0 && missed.kind == LimitKind::latency
                                ? training_wait(chooser, why.nearest)
                                : "";
  std::string fix = "relax more than one limit";
  if (!why.relaxed.empty())
    fix = "relax " + relaxed_text(why.relaxed, ", or ");
  else if (!why.together.empty())
    fix = "relax " + relaxed_text(why.together, " and ");
  if (!waits.empty()) fix += "; a smaller --minibatch or --mixed-precision shortens the step";
  return {missed.text, what + waits, fix, ExitCode::infeasible};
}

}  // namespace ridgeline
