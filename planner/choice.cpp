// Rows that keep the limits at the means are tried from the best on, a block of draws at a time. A
// few rows from all over tell how far the draws spread, and rows that cannot pass are skipped.
#include "planner/choice.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "planner/task.h"

namespace ridgeline {
namespace {

constexpr double tie = 1e-6;
constexpr double same_cost = 0.03;
constexpr std::size_t pilots = 12;
constexpr std::size_t block = 16;
// How much of the least spread seen a row is taken to have, at first and after each block that held
// no answer: at first nothing that might pass is skipped, later the search ends.
constexpr double first_trust = 0.7;
constexpr double more_trust = 0.05;
constexpr double most_trust = 0.95;
constexpr std::size_t most_blocks_of_further_ones = 6;

double needed(const Limit& limit, const Objective& objective) {
  return std::max(limit.probability, objective.risk);
}

}  // namespace

Chooser::Chooser(const PlanProblem& problem, const Sweep& sweep, Belief& belief, Reach reach)
    : problem_(problem), sweep_(sweep), belief_(belief), reach_(reach) {}

bool Chooser::keeps(std::size_t row, const Service& service, const Objective& objective) const {
  return std::all_of(objective.limits.begin(), objective.limits.end(), [&](const Limit& limit) {
    return limited(limit.kind, service, slowdown_at(problem_, sweep_, row)) <= limit.bound;
  });
}

bool Chooser::holds_at_means(std::size_t row, const Objective& objective) const {
  return keeps(row, service_at(problem_, sweep_, row, objective), objective);
}

bool Chooser::holds(std::size_t row, const Objective& objective) {
  if (!holds_at_means(row, objective)) return false;
  if (belief_.draws() == 0) return true;
  if (belief_.probability(row, objective) < objective.risk) return false;
  return std::all_of(objective.limits.begin(), objective.limits.end(), [&](const Limit& limit) {
    return limit.probability <= objective.risk ||
           belief_.probability(row, limit, objective) >= limit.probability;
  });
}

// Clocks that are close, or that do not matter: a knob that changes nothing makes no other choice.
bool Chooser::is_near(std::size_t a, std::size_t b) const {
  if (sweep_.variant_of(a) != sweep_.variant_of(b)) return false;
  const auto& modes = problem_.modes.modes;
  if (ridgeline::is_near(modes[sweep_.mode_of(a)].point, modes[sweep_.mode_of(b)].point))
    return true;
  const RunCost &first = sweep_.costs[a], &second = sweep_.costs[b];
  const auto alike = [](double x, double y) {
    return std::abs(x / y - 1) < same_cost || (std::isnan(x) && std::isnan(y));
  };
  const std::size_t variant = sweep_.variant_of(a);
  return alike(first.time_s, second.time_s) && alike(first.power_w, second.power_w) &&
         alike(first.idle_w, second.idle_w) &&
         alike(pace_s(problem_, variant, sweep_.mode_of(a), first),
               pace_s(problem_, variant, sweep_.mode_of(b), second));
}

bool Chooser::is_behind(const Ranked& a, const Ranked& b) const {
  if (a.step != b.step) return a.step > b.step;
  const auto& first = problem_.modes.modes[sweep_.mode_of(a.row)].point;
  const auto& second = problem_.modes.modes[sweep_.mode_of(b.row)].point;
  if (has_lower_clocks(second, first)) return true;
  if (has_lower_clocks(first, second)) return false;
  return a.row > b.row;
}

std::vector<Chooser::Ranked> Chooser::feasible(const Objective& objective,
                                               const Score& score_at) const {
  std::vector<Ranked> ranked;
  for (std::size_t row = 0; row < sweep_.costs.size(); ++row) {
    if (!problem_.modes.modes[sweep_.mode_of(row)].is_choice(reach_)) continue;
    const Service service = service_at(problem_, sweep_, row, objective);
    const double score = score_at(row, service);
    if (!(score > 0) || !std::isfinite(score) || !keeps(row, service, objective)) continue;
    ranked.push_back({std::llround(std::log(score) / tie), row, score});
  }
  return ranked;
}

// Per limit the least ratio of the quantile that counts to the value, over a few rows.
std::vector<double> Chooser::spreads(const std::vector<Ranked>& ranked,
                                     const Objective& objective) {
  std::vector<std::size_t> rows;
  const std::size_t step = std::max<std::size_t>(1, ranked.size() / pilots);
  for (std::size_t i = 0; i < ranked.size(); i += step) rows.push_back(ranked[i].row);
  belief_.draw(rows);
  std::vector<double> result;
  for (const Limit& limit : objective.limits) {
    double least = INFINITY;
    for (const std::size_t row : rows) {
      const double value = limited(limit.kind, service_at(problem_, sweep_, row, objective),
                                   slowdown_at(problem_, sweep_, row));
      std::vector<double> draws = belief_.limited_draws(row, limit.kind, objective);
      for (double& draw : draws) draw = std::min(draw, 1e300);  // work that piles up
      if (value > 0) least = std::min(least, quantile(draws, needed(limit, objective)) / value);
    }
    result.push_back(std::isfinite(least) ? std::max(1.0, least) : 1.0);
  }
  return result;
}

bool Chooser::may_hold(std::size_t row, const Objective& objective,
                       const std::vector<double>& spreads, double trust) const {
  const Service service = service_at(problem_, sweep_, row, objective);
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    const Limit& limit = objective.limits[i];
    const double value = limited(limit.kind, service, slowdown_at(problem_, sweep_, row));
    if (value * (1 + trust * (spreads[i] - 1)) > limit.bound) return false;
  }
  return true;
}

std::vector<Choice> Chooser::best(const Objective& objective, std::size_t count) {
  return search(objective, count, [&](std::size_t, const Service& service) {
    return score_of(objective.goal, service);
  });
}

std::optional<Choice> Chooser::least(LimitKind kind, const Objective& objective) {
  const auto found = search(objective, 1, [&](std::size_t row, const Service& service) {
    // The fastest row has a slowdown of zero, and scores are above it.
    return kind == LimitKind::slowdown ? 1 + slowdown_at(problem_, sweep_, row)
                                       : limited(kind, service, 0);
  });
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<Choice> Chooser::search(const Objective& objective, std::size_t count,
                                    const Score& score) {
  std::vector<Ranked> heap = feasible(objective, score);
  const bool draws = belief_.draws() > 0 && !objective.limits.empty();
  const std::vector<double> known = draws ? spreads(heap, objective) : std::vector<double>();
  const auto behind = [&](const Ranked& a, const Ranked& b) { return is_behind(a, b); };
  std::make_heap(heap.begin(), heap.end(), behind);

  std::vector<Choice> chosen;
  const auto is_new = [&](std::size_t row) {
    return std::none_of(chosen.begin(), chosen.end(),
                        [&](const Choice& other) { return is_near(row, other.row); });
  };
  double trust = first_trust;
  std::size_t further_blocks = 0;
  while (!heap.empty() && chosen.size() < count && further_blocks < most_blocks_of_further_ones) {
    std::vector<Ranked> tried;
    while (!heap.empty() && tried.size() < block) {
      std::pop_heap(heap.begin(), heap.end(), behind);
      const Ranked next = heap.back();
      heap.pop_back();
      if (is_new(next.row) && (!draws || may_hold(next.row, objective, known, trust)))
        tried.push_back(next);
    }
    if (draws) {
      std::vector<std::size_t> rows;
      for (const Ranked& next : tried) rows.push_back(next.row);
      belief_.draw(rows);
    }
    for (const Ranked& next : tried) {
      if (chosen.size() == count) break;
      if (!is_new(next.row) || !holds(next.row, objective)) continue;
      chosen.push_back(
          {next.row, next.score, draws ? belief_.probability(next.row, objective) : 1});
    }
    if (chosen.empty()) {
      trust = std::min(most_trust, trust + more_trust);
    } else {  // further ones need not be the very next
      trust = 1;
      ++further_blocks;
    }
  }
  return chosen;
}

}  // namespace ridgeline
