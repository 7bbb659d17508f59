// Looks up clock tables of a few dozen steps.
// Nearest is by distance in hertz; of two equally near steps the lower one is taken.
#include "devices/modes/clock_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/error.h"

namespace ridgeline {

bool same_clock(double a_hz, double b_hz) {
  return std::abs(a_hz - b_hz) <= 0.005 * std::max(std::abs(a_hz), std::abs(b_hz));
}

std::string clock_text(double hz) { return csv_number(hz / 1e6) + " MHz"; }

std::vector<double> lockable_clocks(const catalog::ClockDomain& domain) {
  std::vector<double> clocks;
  clocks.reserve(domain.steps.size() + 1);
  for (const catalog::ClockStep& step : domain.steps) clocks.push_back(step.hz);
  if (domain.ceiling_hz) {
    const double ceiling = domain.ceiling_hz->value;
    // Steps above the ceiling are in the table and cannot be reached.
    std::erase_if(clocks, [&](double hz) { return hz > ceiling && !same_clock(hz, ceiling); });
    const bool listed = std::any_of(clocks.begin(), clocks.end(),
                                    [&](double hz) { return same_clock(hz, ceiling); });
    if (!listed) clocks.push_back(ceiling);
  }
  std::sort(clocks.begin(), clocks.end());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  return clocks;
}

std::optional<double> ceiling_clock(const catalog::ClockDomain& domain) {
  if (domain.ceiling_hz) return domain.ceiling_hz->value;
  if (domain.complete && !domain.steps.empty()) return lockable_clocks(domain).back();
  return std::nullopt;
}

std::pair<std::optional<double>, std::optional<double>> neighbours(
    const catalog::ClockDomain& domain, double hz) {
  std::pair<std::optional<double>, std::optional<double>> result;
  for (const double step : lockable_clocks(domain)) {
    if (same_clock(step, hz)) return {step, step};
    if (!domain.complete) continue;
    if (step < hz) result.first = step;
    if (step > hz && !result.second) result.second = step;
  }
  return result;
}

double lockable_clock(const catalog::ClockDomain& domain, double wanted_hz, const ClockAsker& asker,
                      std::vector<std::string>& notes) {
  const std::vector<double> clocks = lockable_clocks(domain);
  if (clocks.empty())
    throw usage_error(
        asker.where, fmt::format("no source states the {} clocks of {}", asker.knob, asker.device));
  const double nearest = *std::min_element(clocks.begin(), clocks.end(), [&](double a, double b) {
    return std::abs(a - wanted_hz) < std::abs(b - wanted_hz);
  });
  if (same_clock(nearest, wanted_hz)) return nearest;
  const bool knows_top = domain.ceiling_hz.has_value() || domain.complete;
  if (wanted_hz > clocks.back() && knows_top)
    throw usage_error(asker.where,
                      fmt::format("{}={} is above the highest clock of {}", asker.knob,
                                  clock_text(wanted_hz), asker.device),
                      "ask for at most " + clock_text(clocks.back()));
  if (wanted_hz < clocks.front() && domain.complete)
    throw usage_error(asker.where,
                      fmt::format("{}={} is below the lowest clock of {}", asker.knob,
                                  clock_text(wanted_hz), asker.device),
                      "ask for at least " + clock_text(clocks.front()));
  if (!domain.complete) {
    notes.push_back(fmt::format("{}: {} is kept as asked, not all lockable steps are known",
                                asker.knob, clock_text(wanted_hz)));
    return wanted_hz;
  }
  notes.push_back(fmt::format("{}: {} is not lockable, the nearest step is {}", asker.knob,
                              clock_text(wanted_hz), clock_text(nearest)));
  return nearest;
}

}  // namespace ridgeline
