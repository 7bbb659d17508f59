// What a batch, its host work and a generated text cost, worked out by hand.
#include "planner/service.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ridgeline::testing {
namespace {

// 30 ms at 20 W, idle 5 W, a core of 1 GHz that takes 2 W.
BatchCost batch_of_30_ms() {
  BatchCost cost{.time_s = 30e-3, .power_w = 20, .idle_w = 5};
  cost.core_hz = 1e9;
  cost.core_w = 2;
  return cost;
}

// 10 ms of a core per sample.
HostWork ten_ms(bool pipelined) {
  HostWork host;
  host.clocks_per_sample = 1e7;
  host.pipelined = pipelined;
  return host;
}

// A prompt of 0.1 s at 10 W and 20 tokens of 10 ms at 6 W: 1 J + 1.2 J in 0.3 s.
TEST(Service, ARequestIsItsPromptAndItsTokens) {
  BatchCost prompt{.time_s = 0.1, .power_w = 10, .idle_w = 2};
  prompt.host_s = 0.02;
  BatchCost token{.time_s = 0.01, .power_w = 6, .idle_w = 2};
  token.host_s = 0.003;
  add_generation(prompt, token, 20);
  EXPECT_DOUBLE_EQ(prompt.time_s, 0.3);
  EXPECT_DOUBLE_EQ(prompt.power_w, 2.2 / 0.3);
  EXPECT_DOUBLE_EQ(prompt.first_token_s, 0.1);
  EXPECT_DOUBLE_EQ(prompt.token_s, 0.01);
  EXPECT_DOUBLE_EQ(prompt.token_w, 6);
  EXPECT_DOUBLE_EQ(prompt.host_s, 0.08);
  EXPECT_DOUBLE_EQ(prompt.idle_w, 2);
}

TEST(Service, OneBatchAfterAnother) {
  const Service service = inference_service(batch_of_30_ms(), 2, {});
  EXPECT_DOUBLE_EQ(service.time_s, 30e-3);
  EXPECT_DOUBLE_EQ(service.latency_s, 30e-3);
  EXPECT_DOUBLE_EQ(service.delay_s, 30e-3);
  EXPECT_DOUBLE_EQ(service.sample_s, 15e-3);
  EXPECT_DOUBLE_EQ(service.goal_s, 15e-3);
  EXPECT_DOUBLE_EQ(service.energy_j, 0.3);
  EXPECT_DOUBLE_EQ(service.mean_power_w, 20);
  EXPECT_DOUBLE_EQ(service.peak_power_w, 20);
}

// The device idles for the 20 ms in which a core decodes: 0.6 J + 0.1 J + 0.04 J for two samples.
TEST(Service, HostWorkBeforeEachBatch) {
  const Service service = inference_service(batch_of_30_ms(), 2, {}, ten_ms(false));
  EXPECT_DOUBLE_EQ(service.time_s, 50e-3);
  EXPECT_DOUBLE_EQ(service.latency_s, 50e-3);
  EXPECT_DOUBLE_EQ(service.sample_s, 25e-3);
  EXPECT_NEAR(service.energy_j, 0.37, 1e-12);
  EXPECT_NEAR(service.mean_power_w, 0.74 / 50e-3, 1e-9);
  EXPECT_DOUBLE_EQ(service.peak_power_w, 20);  // not at the same time
}

// Beside the device, the core works without idle time of the device: 0.6 J + 0.04 J.
TEST(Service, HostWorkBesideTheDevice) {
  const Service service = inference_service(batch_of_30_ms(), 2, {}, ten_ms(true), 4);
  EXPECT_DOUBLE_EQ(service.latency_s, 50e-3);
  EXPECT_DOUBLE_EQ(service.sample_s, 15e-3);
  EXPECT_NEAR(service.energy_j, 0.32, 1e-12);
  EXPECT_DOUBLE_EQ(service.peak_power_w, 22);
  // With one core nothing overlaps.
  const Service alone = inference_service(batch_of_30_ms(), 2, {}, ten_ms(true), 1);
  EXPECT_DOUBLE_EQ(alone.sample_s, 25e-3);
  EXPECT_DOUBLE_EQ(alone.peak_power_w, 20);
  // With four samples the core is the slower of the two.
  const Service slow = inference_service(batch_of_30_ms(), 4, {}, ten_ms(true), 4);
  EXPECT_DOUBLE_EQ(slow.sample_s, 10e-3);
  EXPECT_NEAR(slow.energy_j, (0.6 + 5 * 10e-3 + 0.08) / 4, 1e-12);
}

// Two busy cores take 4 W all the time.
TEST(Service, CoresOfOtherProgramsTakePowerAllTheTime) {
  HostWork host;
  host.reserved_cores = 2;
  EXPECT_TRUE(host.is_given());
  EXPECT_FALSE(HostWork{}.is_given());
  const Service service = inference_service(batch_of_30_ms(), 1, {}, host);
  EXPECT_DOUBLE_EQ(service.sample_s, 30e-3);
  EXPECT_NEAR(service.energy_j, 0.72, 1e-12);
  EXPECT_DOUBLE_EQ(service.mean_power_w, 24);
  EXPECT_DOUBLE_EQ(service.peak_power_w, 24);
  Objective rare;
  rare.arrivals = Arrivals{1, false};
  const Service idle = inference_service(batch_of_30_ms(), 1, rare, host);
  EXPECT_NEAR(idle.energy_j, 0.6 + 5 * 0.97 + 4, 1e-12);
  // Beside a graphics card the power of a core is not known.
  BatchCost card = batch_of_30_ms();
  card.core_w = NAN;
  EXPECT_DOUBLE_EQ(inference_service(card, 1, {}, host).peak_power_w, 20);
}

// Ten samples a second in pairs: 0.2 s from one batch to the next, and the first sample of a pair
// waits 0.1 s for the second.
TEST(Service, ArrivalsAtARate) {
  Objective objective;
  objective.arrivals = Arrivals{10, false};
  const Service service = inference_service(batch_of_30_ms(), 2, objective);
  EXPECT_NEAR(service.latency_s, 0.05 + 0.03, 1e-12);  // on average
  EXPECT_DOUBLE_EQ(service.sample_s, 15e-3);           // that could be served
  EXPECT_NEAR(service.energy_j, (0.6 + 5 * 0.17) / 2, 1e-12);
  EXPECT_NEAR(service.mean_power_w, (0.6 + 5 * 0.17) / 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(service.goal_s, service.latency_s);
  EXPECT_DOUBLE_EQ(service.delay_s, service.latency_s);
  objective.latency_quantile = 0.9;
  EXPECT_NEAR(inference_service(batch_of_30_ms(), 2, objective).latency_s, 0.1 + 0.03, 1e-12);
  // The host's 20 ms come on top, beside the device or not.
  objective.latency_quantile.reset();
  for (const bool pipelined : {false, true})
    EXPECT_NEAR(inference_service(batch_of_30_ms(), 2, objective, ten_ms(pipelined)).latency_s,
                0.05 + 0.05, 1e-12);
}

}  // namespace
}  // namespace ridgeline::testing
