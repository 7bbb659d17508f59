// The nearest miss is sought among the rows nearest by their values, which are drawn; what a limit
// would have to be is that of the best row under the others.
#include "planner/infeasible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ridgeline {
namespace {

constexpr std::size_t drawn_rows = 24;

using Valued = std::vector<std::pair<double, std::size_t>>;  // value, row

// The least of them, drawn.
Valued least(Valued rows, Belief& belief) {
  const std::size_t count = std::min(drawn_rows, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end());
  rows.resize(count);
  std::vector<std::size_t> drawn;
  for (const auto& row : rows) drawn.push_back(row.second);
  if (belief.draws() > 0) belief.draw(drawn);
  return rows;
}

// The value that a share `p` of the draws does not pass.
double order_statistic(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

double probability_needed(const Limit& limit, const Objective& objective) {
  return std::max(limit.probability, objective.risk);
}

// Three digits, upwards: what is said to be enough is enough.
double rounded_up(double value) {
  const double digit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::ceil(value / digit - 1e-9) * digit;
}

double value_at(const Chooser& chooser, std::size_t row, const Limit& limit,
                const Objective& objective) {
  return limited(limit.kind, service_at(chooser.problem(), chooser.swept(), row, objective),
                 slowdown_at(chooser.problem(), chooser.swept(), row));
}

bool is_allowed(const Chooser& chooser, std::size_t row) {
  const PlanModes& modes = chooser.problem().modes;
  return modes.modes[chooser.swept().mode_of(row)].is_choice(modes.reach);
}

std::optional<Relaxation> relaxation(Chooser& chooser, const Objective& objective,
                                     std::size_t which) {
  const Limit& limit = objective.limits[which];
  Objective others = objective;
  others.limits.erase(others.limits.begin() + static_cast<std::ptrdiff_t>(which));
  others.risk = 1 - (1 - objective.risk) / 2;  // half of the risk is left for this limit
  const auto row = chooser.least(limit.kind, others);
  if (!row) return std::nullopt;
  std::vector<double> values = chooser.belief().limited_draws(row->row, limit.kind, objective);
  for (const Limit& other : others.limits) {  // all hold together in the same draws
    const std::vector<double> draws =
        chooser.belief().limited_draws(row->row, other.kind, objective);
    for (std::size_t i = 0; i < draws.size(); ++i)
      if (!(draws[i] <= other.bound)) values[i] = INFINITY;
  }
  const double bound = std::max(value_at(chooser, row->row, limit, objective),
                                order_statistic(values, probability_needed(limit, objective)));
  if (std::isfinite(bound) && bound > 0) return Relaxation{limit, rounded_up(bound), row->row};
  // The other limits take all the risk: the row that keeps them best says nothing of this one.
  return std::nullopt;
}

}  // namespace

Infeasibility infeasibility(Chooser& chooser, const Objective& objective) {
  Infeasibility result;
  const auto excess = [&](double value, const Limit& limit) { return value / limit.bound - 1; };
  Valued rows;
  for (std::size_t row = 0; row < chooser.swept().costs.size(); ++row) {
    if (!is_allowed(chooser, row)) continue;
    double worst = -INFINITY;
    for (const Limit& limit : objective.limits)
      worst = std::max(worst, excess(value_at(chooser, row, limit, objective), limit));
    if (std::isfinite(worst)) rows.emplace_back(worst, row);
  }
  double least_worst = INFINITY;
  for (const auto& [mean, row] : least(std::move(rows), chooser.belief())) {
    double worst = -INFINITY, worst_value = 0;
    const Limit* missed = nullptr;
    for (const Limit& limit : objective.limits) {
      const double value =
          order_statistic(chooser.belief().limited_draws(row, limit.kind, objective),
                          probability_needed(limit, objective));
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
  return result;
}

std::string to_text(const Infeasibility& infeasibility, const PlanProblem& problem,
                    const Sweep& sweep) {
  if (infeasibility.missed.bound <= 0) return "no mode can run it";
  const PlanVariant& variant = problem.variants[sweep.variant_of(infeasibility.nearest)];
  const OperatingPoint& point = problem.modes.modes[sweep.mode_of(infeasibility.nearest)].point;
  return fmt::format("no mode keeps all limits; nearest is {}, {}: {} instead of {}",
                     point.label.empty() ? request_text(point) : point.label, text_of(variant),
                     limit_value_text(infeasibility.missed.kind, infeasibility.value),
                     limit_value_text(infeasibility.missed.kind, infeasibility.missed.bound));
}

}  // namespace ridgeline
