// Compares turns with a discrete-event simulation of jittered requests.
#include "planner/concurrent/interleaving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/planner/simulated_turns.h"

namespace ridgeline::testing {
namespace {

struct Case {
  double requests_per_s, jitter_s;
  int batch;
  double inference_s, training_s, limit_s;
};

TEST(Interleaving, KeepsTheLatencyAndTrainsAsMuchAsTheBestSchedule) {
  int feasible = 0;
  for (const Case& at :
       {Case{60, 1e-3, 1, 4e-3, 12e-3, 50e-3}, Case{60, 1e-3, 1, 4e-3, 12e-3, 18e-3},
        Case{60, 2e-3, 2, 6e-3, 9e-3, 50e-3}, Case{30, 0, 1, 10e-3, 30e-3, 45e-3},
        Case{120, 0.5e-3, 8, 20e-3, 15e-3, 120e-3}, Case{10, 5e-3, 1, 20e-3, 7e-3, 40e-3},
        Case{100, 1e-3, 4, 12e-3, 40e-3, 90e-3}}) {
    const InferenceStream stream{at.requests_per_s, at.jitter_s};
    Turns turns;
    turns.batch = at.batch;
    turns.inference_s = at.inference_s;
    turns.training_s = at.training_s;
    const Interleaving planned = interleave(stream, turns, at.limit_s);
    if (!planned.feasible) continue;
    ++feasible;
    EXPECT_LE(planned.latency_s, at.limit_s + 1e-12);
    const Simulated ours = simulate(stream, turns, planned.slack_s + stream.jitter_s, 11);
    EXPECT_LE(ours.latency_s, at.limit_s * (1 + 1e-9));
    double best = 0;
    for (int step = -20; step <= 60; ++step) {
      const double allowed_s = step * at.limit_s / 40;
      const Simulated other = simulate(stream, turns, allowed_s, 11);
      if (other.latency_s <= at.limit_s) best = std::max(best, other.trainings_per_s);
    }
    EXPECT_NEAR(planned.trainings_per_s / best, 1, 0.02) << at.requests_per_s << " " << at.limit_s;
  }
  EXPECT_GE(feasible, 6);
}

TEST(Interleaving, WhatCannotKeepUpOrIsTooLateIsNotFeasible) {
  Turns turns;
  turns.inference_s = 20e-3;
  turns.training_s = 5e-3;
  EXPECT_FALSE(interleave({60, 0}, turns, 1).feasible);
  EXPECT_FALSE(interleave({10, 0}, turns, 19e-3).feasible);
  EXPECT_TRUE(interleave({10, 0}, turns, 21e-3).feasible);
}

TEST(Interleaving, MoreLatencyNeverTrainsLessAndPowerIsTheSumOfItsParts) {
  Turns turns;
  turns.inference_s = 5e-3;
  turns.training_s = 9e-3;
  turns.inference_w = 20;
  turns.training_w = 30;
  turns.idle_w = 8;
  double before = 0;
  for (double limit_s = 6e-3; limit_s < 60e-3; limit_s += 1e-3) {
    const Interleaving at = interleave({40, 0}, turns, limit_s);
    EXPECT_GE(at.trainings_per_s, before * (1 - 2e-3)) << limit_s;
    before = std::max(before, at.trainings_per_s);
    EXPECT_GE(at.mean_w, turns.idle_w);
    const double trains = at.trainings_per_s * turns.training_s, infers = 40 * turns.inference_s;
    EXPECT_NEAR(at.idle_share, std::max(0.0, 1 - trains - infers), 1e-9) << limit_s;
    EXPECT_LE(at.mean_w, turns.training_w);
    EXPECT_LE(at.mean_w, at.peak_w);
  }
}

// A request every 20 ms takes 10 ms, training steps of 30 ms. With 30 ms from request to result a
// step may end 20 ms late, and two requests follow until the next: one step in three windows, half
// of the time for training and half for inference.
TEST(Interleaving, AStepThatIsLongerThanAWindow) {
  Turns turns;
  turns.inference_s = 10e-3;
  turns.training_s = 30e-3;
  turns.inference_w = 20;
  turns.training_w = 30;
  turns.idle_w = 5;
  const Interleaving at = interleave({50, 0}, turns, 30e-3);
  EXPECT_TRUE(at.feasible);
  EXPECT_NEAR(at.trainings_per_s, 1 / 60e-3, 1e-9);
  EXPECT_NEAR(at.latency_s, 30e-3, 1e-12);
  EXPECT_NEAR(at.slack_s, 20e-3, 1e-12);
  EXPECT_NEAR(at.idle_share, 0, 1e-12);
  EXPECT_NEAR(at.mean_w, 0.5 * 20 + 0.5 * 30, 1e-9);
  EXPECT_EQ(at.peak_w, 30);
  // A millisecond less, and no step fits: the device idles half of the time.
  const Interleaving late = interleave({50, 0}, turns, 29e-3);
  EXPECT_TRUE(late.feasible);
  EXPECT_EQ(late.trainings_per_s, 0);
  EXPECT_NEAR(late.latency_s, 10e-3, 1e-12);
  EXPECT_NEAR(late.idle_share, 0.5, 1e-12);
  EXPECT_NEAR(late.mean_w, 0.5 * 20 + 0.5 * 5, 1e-9);
  EXPECT_EQ(late.peak_w, 20);
  // Without a limit the device never idles.
  const Interleaving free = interleave({50, 0}, turns, 1);
  EXPECT_NEAR(free.trainings_per_s, 0.5 / 30e-3, 1e-9);
  // Nothing to train: inference alone.
  turns.training_s = 0;
  EXPECT_EQ(interleave({50, 0}, turns, 1).trainings_per_s, 0);
}

// Steps that are longer than a window run into the next ones; they count once.
TEST(Interleaving, TheDeviceIsNeverBusierThanAllOfItsTime) {
  int late = 0;
  for (const double jitter_s : {0.0, 0.5e-3, 2e-3, 5e-3})
    for (const double training_s : {3e-3, 9e-3, 31e-3, 70e-3, 200e-3})
      for (const double limit_s : {20e-3, 60e-3, 120e-3, 400e-3}) {
        Turns turns;
        turns.inference_s = 8e-3;
        turns.training_s = training_s;
        const Interleaving at = interleave({50, jitter_s}, turns, limit_s);
        if (!at.feasible) continue;
        EXPECT_LE(at.trainings_per_s * training_s + 50 * turns.inference_s, 1 + 1e-9)
            << jitter_s << " " << training_s << " " << limit_s;
        late += at.trainings_per_s > 0 && training_s > 20e-3;
      }
  EXPECT_GT(late, 10);
}

}  // namespace
}  // namespace ridgeline::testing
