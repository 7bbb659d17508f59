// The duty cycle against values computed by hand, and queues against simulated requests.
#include "planner/periodic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "base/statistics.h"

namespace ridgeline::testing {
namespace {

TEST(DutyCycle, AddsTheIdleTime) {
  const DutyCycle cycle = duty_cycle({0.2, 10, 4}, 1);
  EXPECT_DOUBLE_EQ(cycle.duty, 0.2);
  EXPECT_DOUBLE_EQ(cycle.energy_j, 10 * 0.2 + 4 * 0.8);
  EXPECT_DOUBLE_EQ(cycle.mean_power_w, 5.2);
}

TEST(DutyCycle, RacesOnlyWhereIdleIsCheap) {
  const BatchCost fast{0.1, 30, 10}, slow{0.3, 12, 5};  // 3 J and 3.6 J while running
  const auto fast_j = [&](double idle_w) {
    return duty_cycle({fast.time_s, fast.power_w, idle_w}, 1).energy_j;
  };
  EXPECT_LT(duty_cycle(slow, 1).energy_j, fast_j(10));
  EXPECT_GT(duty_cycle(slow, 1).energy_j, fast_j(2));
}

TEST(DutyCycle, WithoutIdleTimeThePowerIsThatOfTheRun) {
  EXPECT_DOUBLE_EQ(duty_cycle({1, 12, 5}, 1).mean_power_w, 12);
  EXPECT_DOUBLE_EQ(duty_cycle({2, 12, 5}, 1).mean_power_w, 12);
}

TEST(LatencyAtRate, EvenArrivalsWaitForTheirBatch) {
  const Arrivals even{100, false};
  EXPECT_DOUBLE_EQ(latency_at_rate(0.005, 1, even, std::nullopt), 0.005);
  EXPECT_DOUBLE_EQ(latency_at_rate(0.005, 4, even, 0.9), 0.035);
  EXPECT_DOUBLE_EQ(latency_at_rate(0.005, 4, even, std::nullopt), 0.02);
  EXPECT_TRUE(std::isinf(latency_at_rate(0.011, 1, even, std::nullopt)));
}

TEST(LatencyAtRate, WorkThatTakesNoTimeWaitsForItsBatchOnly) {
  EXPECT_EQ(latency_at_rate(0, 1, {100, true}, std::nullopt), 0);
  EXPECT_EQ(latency_at_rate(0, 1, {100, true}, 0.95), 0);
  EXPECT_DOUBLE_EQ(latency_at_rate(0, 3, {100, true}, std::nullopt), 0.01);
}

TEST(LatencyAtRate, OneByOneIsTheMD1Queue) {
  const double load = 0.8, time_s = 0.01;
  EXPECT_NEAR(latency_at_rate(time_s, 1, {load / time_s, true}, std::nullopt),
              time_s * (1 + load / (2 * (1 - load))), 1e-12);
}

struct SimulatedQueue {
  double mean = 0;       // over all samples
  double first_p95 = 0;  // over the first samples of batches
};

SimulatedQueue simulate_queue(double time_s, std::int64_t batch, double per_s) {
  Random random{7};
  double now = 0, free = 0, sum = 0;
  std::vector<double> first;
  constexpr int batches = 200000;
  std::vector<double> arrived(static_cast<std::size_t>(batch));
  for (int i = 0; i < batches; ++i) {
    for (double& at : arrived) at = now += -std::log1p(-random.unit()) / per_s;
    free = std::max(free, now) + time_s;
    for (const double at : arrived) sum += free - at;
    first.push_back(free - arrived.front());
  }
  return {sum / (batches * static_cast<double>(batch)), quantile(first, 0.95)};
}

TEST(LatencyAtRate, AgreesWithASimulationOfRandomArrivals) {
  for (const std::int64_t batch : {1, 4, 8})
    for (const double load : {0.3, 0.6, 0.85}) {
      const double time_s = 0.01, per_s = load * static_cast<double>(batch) / time_s;
      const SimulatedQueue truth = simulate_queue(time_s, batch, per_s);
      const Arrivals arrivals{per_s, true};
      EXPECT_NEAR(latency_at_rate(time_s, batch, arrivals, std::nullopt) / truth.mean, 1, 0.05)
          << batch << " at " << load;
      const double ratio = latency_at_rate(time_s, batch, arrivals, 0.95) / truth.first_p95;
      EXPECT_GT(ratio, 0.95) << batch << " at " << load;
      EXPECT_LT(ratio, 1.15) << batch << " at " << load;
    }
}

}  // namespace
}  // namespace ridgeline::testing
