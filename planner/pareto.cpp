// Rows in order of delay: an earlier row beats a later one if it has no more energy and no more
// power, which a staircase of (energy, power) shows in logarithmic time.
#include "planner/pareto.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ridgeline {
namespace {

struct Place {
  double delay_s = 0, energy_j = 0, power_w = 0;
  std::size_t row = 0;
};

std::vector<Place> places(const PlanProblem& problem, const Sweep& sweep,
                          const Objective& objective, std::size_t begin, std::size_t end) {
  std::vector<Place> result;
  for (std::size_t row = begin; row < end; ++row) {
    if (!problem.candidates.is_eligible(sweep.mode_of(row))) continue;
    const Service service = service_at(problem, sweep, row, objective);
    if (!std::isfinite(service.delay_s)) continue;
    const bool known = std::isfinite(service.energy_j);
    result.push_back(
        {service.delay_s, known ? service.energy_j : 0, known ? service.mean_power_w : 0, row});
  }
  std::sort(result.begin(), result.end(), [&](const Place& a, const Place& b) {
    if (a.delay_s != b.delay_s) return a.delay_s < b.delay_s;
    if (a.energy_j != b.energy_j) return a.energy_j < b.energy_j;
    if (a.power_w != b.power_w) return a.power_w < b.power_w;
    return has_lower_clocks(mode_at(problem, sweep, a.row).point,
                            mode_at(problem, sweep, b.row).point);
  });
  return result;
}

std::vector<std::size_t> front_of(const std::vector<Place>& sorted) {
  std::vector<std::size_t> front;
  std::map<double, double> stairs;  // energy → least power with at most that energy; power falls
  for (const Place& place : sorted) {
    auto above = stairs.upper_bound(place.energy_j);
    if (above != stairs.begin() && std::prev(above)->second <= place.power_w) continue;
    front.push_back(place.row);
    while (above != stairs.end() && above->second >= place.power_w) above = stairs.erase(above);
    stairs[place.energy_j] = place.power_w;
  }
  return front;
}

}  // namespace

std::vector<std::size_t> pareto_front(const PlanProblem& problem, const Sweep& sweep,
                                      const Objective& objective) {
  return front_of(places(problem, sweep, objective, 0, sweep.costs.size()));
}

std::vector<std::size_t> variant_front(const PlanProblem& problem, const Sweep& sweep,
                                       const Objective& objective, std::size_t variant) {
  return front_of(places(problem, sweep, objective, sweep.row(variant, 0),
                         sweep.row(variant, 0) + sweep.modes));
}

std::vector<std::size_t> energy_front(const PlanProblem& problem, const Sweep& sweep,
                                      const Objective& objective) {
  std::vector<std::size_t> front;
  double least = INFINITY;
  for (const Place& place : places(problem, sweep, objective, 0, sweep.costs.size())) {
    if (place.energy_j >= least) continue;
    least = place.energy_j;
    front.push_back(place.row);
  }
  return front;
}

}  // namespace ridgeline
