// Power of the CPU's sweep with a made-up sensor: time runs ten times faster, so that the test need
// not wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "devices/machine/this_machine.h"
#include "kernels/cpu/core_clock.h"
#include "kernels/cpu/measure.h"
#include "kernels/steady_clock.h"

namespace ridgeline::testing {
namespace {

double now_s() { return 10 * steady_seconds(); }

// 12 W at any load.
class SteadySensor final : public PowerSensor {
 public:
  const SensorFacts& facts() const override { return facts_; }
  PowerReading read() override { return {.energy_j = 12 * now_s()}; }

 private:
  SensorFacts facts_{"made-up counter", 0.001, 0};
};

TEST(CpuPower, SweepRowsAndRestHavePower) {
  SteadySensor sensor;
  const auto wait = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 10));
  };
  PowerMeter meter(sensor, {now_s, wait, [] { return false; }});
  const Topology topology = read_topology();
  cpu::MeasureOptions options;
  options.quick = true;
  options.budget_s = 12;
  options.threads = {1};
  options.available_bytes = std::uint64_t{64} << 20;
  options.only = {"sweep"};
  auto plan = cpu::plan(options, topology);
  ASSERT_GT(plan.size(), 2u);
  plan.erase(plan.begin() + 1, plan.end() - 1);
  const SamplerWorld world{now_s, [] { return OtherLoad{}; }, [] { return false; },
                           [](double, double) {}};
  ProfileMode mode = cpu::measure(plan, options, topology, nullptr, world, &meter);
  // On a busy machine the budget may be over before the last row.
  while (mode.sweep.size() < 2 && options.budget_s < 200) {
    options.budget_s *= 4;
    mode = cpu::measure(plan, options, topology, nullptr, world, &meter);
  }
  ASSERT_EQ(mode.sweep.size(), 2u);
  for (const SweepRow& row : mode.sweep) {
    ASSERT_TRUE(row.power_w) << row.kernel;
    EXPECT_NEAR(row.power_w->value, 12, 0.01);
  }
  ASSERT_TRUE(mode.idle_power_w);
  EXPECT_NEAR(mode.idle_power_w->value, 12, 0.01);
}

TEST(CoreClock, IsThatOfACore) {
  cpu::CoreClock clock;
  // Whoever shares the core can only make it look slower: the best of several readings counts.
  constexpr double patience_s = 10;
  const double start_s = steady_seconds();
  double hz = clock.read_hz();
  while (hz <= 1e8 && steady_seconds() - start_s < patience_s) hz = std::max(hz, clock.read_hz());
  EXPECT_GT(hz, 1e8);
  EXPECT_LT(hz, 1e10);
}

}  // namespace
}  // namespace ridgeline::testing
