// Power is piecewise constant: kernels, and idle between them. A first-order lag is then exact:
// each piece pulls the reading towards its power.
#include "tests/kernels/cuda/test_rail.h"

#include <algorithm>
#include <cmath>

namespace ridgeline::testing {

TestRail::TestRail(const TestGpu& gpu, TestRailSettings settings)
    : gpu_(gpu),
      settings_(settings),
      facts_{"test rail", settings.counter ? 0.1 : settings.lag_s, settings.step_w},
      reading_w_(gpu.idle_w()) {}

double TestRail::follow(double until_s) {
  const auto pull = [&](double to_s, double power_w) {
    if (to_s <= at_s_) return;
    reading_w_ = power_w + (reading_w_ - power_w) * std::exp(-(to_s - at_s_) / settings_.lag_s);
    at_s_ = to_s;
  };
  const auto& drawn = gpu_.drawn();
  for (; next_ < drawn.size() && drawn[next_].begin_s < until_s; ++next_) {
    pull(drawn[next_].begin_s, gpu_.idle_w());
    pull(std::min(drawn[next_].end_s, until_s), drawn[next_].power_w);
    if (drawn[next_].end_s > until_s) return reading_w_;
  }
  pull(until_s, gpu_.idle_w());
  return reading_w_;
}

double TestRail::power_w(double at_s) const {
  const auto& drawn = gpu_.drawn();
  const auto after = std::ranges::upper_bound(drawn, at_s, {}, &TestGpu::Drawn::begin_s);
  if (after == drawn.begin() || std::prev(after)->end_s < at_s) return gpu_.idle_w();
  return std::prev(after)->power_w;
}

double TestRail::energy_j(double until_s) const {
  double energy = gpu_.idle_w() * until_s;
  for (const TestGpu::Drawn& drawn : gpu_.drawn())
    energy += (drawn.power_w - gpu_.idle_w()) *
              std::max(0.0, std::min(drawn.end_s, until_s) - drawn.begin_s);
  return energy;
}

PowerReading TestRail::read() {
  const double now_s = gpu_.now_s();
  if (settings_.fails_after_s > 0 && now_s > settings_.fails_after_s)
    throw SensorError("rail VDD_TEST", "stopped responding");
  if (settings_.counter) return {.energy_j = energy_j(std::floor(now_s * 50) / 50)};
  const double power = settings_.lag == TestRailSettings::Lag::delay
                           ? power_w(now_s - settings_.lag_s)
                           : follow(now_s);
  return {.power_w = std::round(power / settings_.step_w) * settings_.step_w};
}

}  // namespace ridgeline::testing
