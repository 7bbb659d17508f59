// A row keeps a pair of limits if enough draws lie below both; the tightest pairs are a staircase
// of as many steps as draws may break a limit.
#include "planner/choosable.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>
#include <utility>

#include "planner/choice.h"
#include "planner/pareto.h"

namespace ridgeline {
namespace {

constexpr double slack = 1e-9;  // 0.9 × 200 is 180, whatever the last bit says

std::vector<KeptLimits> kept_limits(std::vector<KeptLimits> drawn, std::size_t needed) {
  std::sort(drawn.begin(), drawn.end(), [](const KeptLimits& a, const KeptLimits& b) {
    return std::pair(a.latency_s, a.power_w) < std::pair(b.latency_s, b.power_w);
  });
  std::vector<KeptLimits> stairs;
  std::priority_queue<double> least;  // the `needed` smallest powers of the fastest draws
  for (const KeptLimits& draw : drawn) {
    least.push(draw.power_w);
    if (least.size() > needed) least.pop();
    if (least.size() < needed) continue;
    if (stairs.empty() || least.top() < stairs.back().power_w)
      stairs.push_back({draw.latency_s, least.top()});
  }
  return stairs;
}

}  // namespace

std::vector<ChoosableRow> choosable_rows(const PlanProblem& problem, const Sweep& sweep,
                                         SweepDraws& draws, Objective objective) {
  std::erase_if(objective.limits, [](const Limit& limit) {
    return limit.kind == LimitKind::latency || limit.kind == LimitKind::power;
  });
  std::set<std::size_t> wanted;
  for (std::size_t variant = 0; variant < problem.variants.size(); ++variant) {
    const auto front = variant_front(problem, sweep, objective, variant);
    wanted.insert(front.begin(), front.end());
    for (std::size_t mode = 0; mode < sweep.modes; ++mode)
      if (problem.candidates.modes[mode].stock && problem.candidates.is_eligible(mode) &&
          !std::isnan(sweep.costs[sweep.row(variant, mode)].time_s))
        wanted.insert(sweep.row(variant, mode));
  }
  std::vector<std::size_t> rows(wanted.begin(), wanted.end());
  draws.draw(rows);
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return has_lower_clocks(mode_at(problem, sweep, a).point, mode_at(problem, sweep, b).point);
  });

  Chooser chooser(problem, sweep, draws, problem.candidates.reach);
  const auto needed = static_cast<std::size_t>(
      std::ceil(objective.risk * static_cast<double>(draws.count()) - slack));
  std::vector<ChoosableRow> result;
  for (const std::size_t row : rows) {
    ChoosableRow choosable{row, service_at(problem, sweep, row, objective), {}};
    if (chooser.holds(row, objective)) {
      std::vector<KeptLimits> drawn;
      const std::vector<Service> services = draws.services(row, objective);
      const std::vector<bool> hold = draws.limits_hold(row, objective);
      for (std::size_t i = 0; i < services.size(); ++i)
        if (hold[i]) drawn.push_back({services[i].latency_s, services[i].mean_power_w});
      choosable.kept = draws.count() == 0
                           ? std::vector<KeptLimits>{{choosable.service.latency_s,
                                                      choosable.service.mean_power_w}}
                           : kept_limits(std::move(drawn), needed);
    }
    result.push_back(std::move(choosable));
  }
  return result;
}

}  // namespace ridgeline
