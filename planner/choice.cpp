// Rows that keep the limits at the means are drawn from the best on, a block at a time. A few pilot
// rows show how far the draws lie above the means, and rows that cannot pass are skipped.
#include "planner/choice.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace ridgeline {
namespace {

constexpr double tie_width = 1e-6;  // of the logarithm of a score
constexpr double same_cost = 0.03;
constexpr std::size_t pilots = 12;
constexpr std::size_t block = 16;
// The share of the smallest margin among the pilots that a row is assumed to have: small at first,
// so that no row that might pass is skipped; more after each block without an answer, so that the
// search ends.
constexpr double first_trust = 0.7;
constexpr double more_trust = 0.05;
constexpr double most_trust = 0.95;
constexpr std::size_t most_blocks_of_runners_up = 6;
// Energies this close count as equal: repeated measurements differ by more. Times closer than half
// of that do not make a mode faster.
constexpr double same_energy = 0.01;
constexpr double same_time = 0.005;
constexpr std::size_t most_faster = 64;  // that are tried

}  // namespace

Chooser::Chooser(const PlanProblem& problem, const Sweep& sweep, SweepDraws& draws, Reach reach,
                 bool stock_only)
    : problem_(problem), sweep_(sweep), draws_(draws), reach_(reach), stock_only_(stock_only) {}

bool Chooser::is_eligible(std::size_t row) const {
  const CandidateMode& mode = mode_at(problem_, sweep_, row);
  return mode.is_eligible(reach_) && (mode.stock || !stock_only_);
}

bool Chooser::keeps(std::size_t row, const Service& service, const Objective& objective) const {
  return std::all_of(objective.limits.begin(), objective.limits.end(), [&](const Limit& limit) {
    return limited_value(limit.kind, service, slowdown_at(problem_, sweep_, row)) <= limit.bound;
  });
}

bool Chooser::holds_at_means(std::size_t row, const Objective& objective) const {
  return keeps(row, service_at(problem_, sweep_, row, objective), objective);
}

bool Chooser::holds(std::size_t row, const Objective& objective) {
  if (!holds_at_means(row, objective)) return false;
  if (draws_.count() == 0) return true;
  if (draws_.probability(row, objective) < objective.risk) return false;
  return std::all_of(objective.limits.begin(), objective.limits.end(), [&](const Limit& limit) {
    return limit.probability <= objective.risk ||
           draws_.probability(row, limit, objective) >= limit.probability;
  });
}

// A knob without effect on time and power does not make another choice.
bool Chooser::is_near(std::size_t a, std::size_t b) const {
  if (sweep_.variant_of(a) != sweep_.variant_of(b)) return false;
  if (ridgeline::is_near(mode_at(problem_, sweep_, a).point, mode_at(problem_, sweep_, b).point))
    return true;
  const BatchCost &first = sweep_.costs[a], &second = sweep_.costs[b];
  const auto alike = [](double x, double y) {
    return std::abs(x / y - 1) < same_cost || (std::isnan(x) && std::isnan(y));
  };
  const std::size_t variant = sweep_.variant_of(a);
  return alike(first.time_s, second.time_s) && alike(first.power_w, second.power_w) &&
         alike(first.idle_w, second.idle_w) &&
         alike(pace_s(problem_, variant, sweep_.mode_of(a), first),
               pace_s(problem_, variant, sweep_.mode_of(b), second));
}

std::string Chooser::name_of(std::size_t row) const {
  return mode_name(mode_at(problem_, sweep_, row).point) + ", " +
         text_of(variant_at(problem_, sweep_, row));
}

bool Chooser::is_behind(const Ranked& a, const Ranked& b) const {
  if (a.tie != b.tie) return a.tie > b.tie;
  const OperatingPoint& first = mode_at(problem_, sweep_, a.row).point;
  const OperatingPoint& second = mode_at(problem_, sweep_, b.row).point;
  if (has_lower_clocks(second, first)) return true;
  if (has_lower_clocks(first, second)) return false;
  return a.row > b.row;
}

std::vector<Chooser::Ranked> Chooser::feasible(const Objective& objective,
                                               const Score& score_at) const {
  std::vector<Ranked> ranked;
  for (std::size_t row = 0; row < sweep_.costs.size(); ++row) {
    if (!is_eligible(row)) continue;
    const Service service = service_at(problem_, sweep_, row, objective);
    const double score = score_at(row, service);
    if (!(score > 0) || !std::isfinite(score) || !keeps(row, service, objective)) continue;
    ranked.push_back({std::llround(std::log(score) / tie_width), row, score});
  }
  return ranked;
}

// Per limit: the smallest ratio, over the pilots, of the quantile that must hold to the value at
// the means.
std::vector<double> Chooser::margins(const std::vector<Ranked>& ranked,
                                     const Objective& objective) {
  std::vector<std::size_t> rows;
  const std::size_t stride = std::max<std::size_t>(1, ranked.size() / pilots);
  for (std::size_t i = 0; i < ranked.size(); i += stride) rows.push_back(ranked[i].row);
  draws_.draw(rows);
  std::vector<double> result;
  for (const Limit& limit : objective.limits) {
    double least = INFINITY;
    for (const std::size_t row : rows) {
      const double value = limited_value_at(problem_, sweep_, row, limit.kind, objective);
      std::vector<double> draws = draws_.limited_values(row, limit.kind, objective);
      for (double& draw : draws) draw = std::min(draw, 1e300);  // infinite if work piles up
      if (value > 0)
        least = std::min(least, quantile(draws, required_probability(limit, objective)) / value);
    }
    result.push_back(std::isfinite(least) ? std::max(1.0, least) : 1.0);
  }
  return result;
}

bool Chooser::may_hold(std::size_t row, const Objective& objective,
                       const std::vector<double>& margins, double trust) const {
  const Service service = service_at(problem_, sweep_, row, objective);
  for (std::size_t i = 0; i < margins.size(); ++i) {
    const Limit& limit = objective.limits[i];
    const double value = limited_value(limit.kind, service, slowdown_at(problem_, sweep_, row));
    if (value * (1 + trust * (margins[i] - 1)) > limit.bound) return false;
  }
  return true;
}

std::vector<Choice> Chooser::best(const Objective& objective, std::size_t count) {
  return search(objective, count, [&](std::size_t, const Service& service) {
    return score_of(objective.goal, service);
  });
}

// The fastest mode of the same batch and type that takes at most 1 % more energy, and of modes that
// are as fast, the one of least energy.
std::optional<Choice> Chooser::faster_than(const Choice& choice, const Objective& objective) {
  struct Candidate {
    std::size_t row = 0;
    double time_s = 0, score = 0;
  };
  const auto at = [&](std::size_t row) {
    const Service service = service_at(problem_, sweep_, row, objective);
    return Candidate{row, service.goal_s, score_of(objective.goal, service)};
  };
  const double enough_s = at(choice.row).time_s * (1 - same_time);
  const std::size_t variant = sweep_.variant_of(choice.row);
  std::vector<Candidate> faster;
  for (std::size_t mode = 0; mode < sweep_.modes; ++mode) {
    const std::size_t row = sweep_.row(variant, mode);
    if (!is_eligible(row)) continue;
    const Candidate candidate = at(row);
    if (candidate.score > 0 && candidate.score <= choice.score * (1 + same_energy) &&
        candidate.time_s < enough_s && holds_at_means(row, objective))
      faster.push_back(candidate);
  }
  std::sort(faster.begin(), faster.end(),
            [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
  std::optional<Candidate> found;
  std::size_t tried = 0;
  for (const Candidate& candidate : faster) {
    if (found && (candidate.time_s > found->time_s * (1 + same_time))) break;
    if (found && candidate.score >= found->score) continue;
    if (++tried > most_faster) break;
    if (!holds(candidate.row, objective)) continue;
    found = Candidate{candidate.row, found ? found->time_s : candidate.time_s, candidate.score};
  }
  if (!found) return std::nullopt;
  const bool is_drawn = draws_.count() > 0 && !objective.limits.empty();
  return Choice{found->row, found->score, is_drawn ? draws_.probability(found->row, objective) : 1};
}

std::vector<Choice> Chooser::settled(const Objective& objective, std::size_t count) {
  std::vector<Choice> choices = best(objective, count);
  if (choices.empty() || objective.goal != Goal::energy) return choices;
  const auto faster = faster_than(choices.front(), objective);
  if (!faster) return choices;
  std::vector<Choice> result{*faster};
  for (const Choice& choice : choices)
    if (!is_near(choice.row, faster->row) && result.size() < count) result.push_back(choice);
  return result;
}

std::optional<Choice> Chooser::least(LimitKind kind, const Objective& objective) {
  const auto found = search(objective, 1, [&](std::size_t row, const Service& service) {
    // Scores must be positive, and the fastest row has a slowdown of zero.
    return kind == LimitKind::slowdown ? 1 + slowdown_at(problem_, sweep_, row)
                                       : limited_value(kind, service, 0);
  });
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<Choice> Chooser::search(const Objective& objective, std::size_t count,
                                    const Score& score) {
  std::vector<Ranked> heap = feasible(objective, score);
  const bool is_drawn = draws_.count() > 0 && !objective.limits.empty();
  const std::vector<double> known_margins =
      is_drawn ? margins(heap, objective) : std::vector<double>();
  const auto behind = [&](const Ranked& a, const Ranked& b) { return is_behind(a, b); };
  std::make_heap(heap.begin(), heap.end(), behind);

  std::vector<Choice> chosen;
  const auto is_new = [&](std::size_t row) {
    return std::none_of(chosen.begin(), chosen.end(),
                        [&](const Choice& other) { return is_near(row, other.row); });
  };
  double trust = first_trust;
  std::size_t runner_up_blocks = 0;
  while (!heap.empty() && chosen.size() < count && runner_up_blocks < most_blocks_of_runners_up) {
    std::vector<Ranked> tried;
    while (!heap.empty() && tried.size() < block) {
      std::pop_heap(heap.begin(), heap.end(), behind);
      const Ranked next = heap.back();
      heap.pop_back();
      if (is_new(next.row) && (!is_drawn || may_hold(next.row, objective, known_margins, trust)))
        tried.push_back(next);
    }
    if (is_drawn) {
      std::vector<std::size_t> rows;
      for (const Ranked& next : tried) rows.push_back(next.row);
      draws_.draw(rows);
    }
    for (const Ranked& next : tried) {
      if (chosen.size() == count) break;
      if (!is_new(next.row) || !holds(next.row, objective)) continue;
      chosen.push_back(
          {next.row, next.score, is_drawn ? draws_.probability(next.row, objective) : 1});
    }
    if (chosen.empty()) {
      trust = std::min(most_trust, trust + more_trust);
    } else {  // runners-up need not be the very next rows
      trust = 1;
      ++runner_up_blocks;
    }
  }
  return chosen;
}

}  // namespace ridgeline
