// Predicted epochs against measurements of two boards, and the laws of the pipeline.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analyzer/training/training.h"
#include "base/random.h"
#include "planner/training/pipeline.h"
#include "roofline/model/step.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

// MobileNetV3-Large on 23,080 images (2.8 GB), batch 16, PyTorch, JetPack 4.5.1 (HiPC SRS 2021).
const Dataset images{23080, 2.8e9 / 23080};
constexpr double minibatch = 16;
constexpr double steps = 1443;

// Taken from the Xavier NX rows alone (15 W, 6 cores):
//  compute      E2E less stall without workers: 522 s
//  decoding     stall on the SSD without workers, 455 s, less its fetch and the residual
//  residual     stall with a worker on SD and SSD: 18.5 s
//  HDD          stall 704 s without workers and an epoch of 5600 s with the dataset four times as
//               large: fetching 431 s, memory for 0.765 of the images
//  SD           stall 502 s without workers
constexpr double nx_hz = 1420.8e6, agx_hz = 2265.6e6;
constexpr double nx_step_s = 522 / steps;
constexpr double nx_free_bytes = 0.765 * 2.8e9;

InputPipeline from_nx(std::string_view medium) {
  InputPipeline pipeline;
  pipeline.medium = storage_medium(medium).cost;
  const double ssd_miss_s = 0.576 * fetch_s(storage_medium("ssd").cost, images.bytes_per_sample);
  pipeline.decode_clocks = ((455 - 18.5) / images.samples - ssd_miss_s) * nx_hz;
  pipeline.residual_s = 18.5 / steps;
  pipeline.device_slowdown = 1.03;
  return pipeline;
}

InputPipeline on_nx(std::string_view medium, int workers) {
  InputPipeline pipeline = from_nx(medium);
  pipeline.core_hz = nx_hz;
  pipeline.cores = 6;
  pipeline.free_memory_bytes = nx_free_bytes;
  pipeline.workers = workers;
  return pipeline;
}

// AGX Xavier at MAXN, 8 cores, 32 GB: everything is cached after the first epoch.
InputPipeline on_agx(std::string_view medium, int workers) {
  InputPipeline pipeline = from_nx(medium);
  pipeline.core_hz = agx_hz;
  pipeline.cores = 8;
  pipeline.free_memory_bytes = 20e9;
  pipeline.workers = workers;
  return pipeline;
}

// A predicted training step, in seconds.
double modelled_step(std::string_view device, std::string_view mode) {
  WorkloadOptions options;
  options.batch = static_cast<std::int64_t>(minibatch);
  const Training training =
      train(build_workload("mobilenet_v3_large", options), {Optimizer::momentum});
  const NetworkLoad load =
      network_load(lower(training.graph, Runtime::torch_eager), Runtime::torch_eager);
  Conditions conditions;
  conditions.point = point_of(device, mode);
  conditions.runtime = Runtime::torch_eager;
  return StepModel(load, coefficients(model_of(device), Runtime::torch_eager))
      .at(conditions, false)
      .time_s;
}

// The NX's measured step, times the predicted ratio of the two boards.
double agx_step() {
  return nx_step_s * modelled_step("jetson-agx-xavier", "MAXN") /
         modelled_step("jetson-xavier-nx", "gpu=1109.25MHz,cpu=1420.8MHz,cores=6");
}
const double agx_step_s = agx_step();

TEST(TrainingPipeline, GivesBackTheRowsThatItsFactsWereTakenFrom) {
  const auto nx = [](std::string_view medium, int workers) {
    return epoch(images, minibatch, nx_step_s, on_nx(medium, workers), false);
  };
  EXPECT_NEAR(nx("hdd", 0).stall_s, 704, 35);
  EXPECT_NEAR(nx("hdd", 0).time_s, 1226, 61);
  EXPECT_NEAR(nx("sd", 0).stall_s, 502, 25);
  EXPECT_NEAR(nx("ssd", 0).stall_s, 455, 23);
  EXPECT_NEAR(nx("hdd", 1).stall_s, 173, 25);
  EXPECT_NEAR(nx("ssd", 1).stall_s, 18.6, 1);
  EXPECT_NEAR(nx("hdd", 2).stall_s, 18.9, 1);
}

TEST(TrainingPipeline, FactsOfOneBoardPredictTheOther) {
  struct Row {
    const char* what;
    std::string_view medium;
    int workers;
    bool first, stall;
    double seen_s;
  };
  const std::vector<Row> rows = {
      {"stall, no worker", "hdd", 0, false, true, 317},
      {"stall, no worker", "sd", 0, false, true, 311},
      {"stall, no worker", "ssd", 0, false, true, 309},
      {"stall, 1 worker", "hdd", 1, false, true, 14.7},
      {"stall, 1 worker", "sd", 1, false, true, 14.6},
      {"stall, 1 worker", "ssd", 1, false, true, 14.5},
      {"epoch, no worker", "hdd", 0, false, false, 605},
      {"epoch, no worker", "sd", 0, false, false, 598},
      {"epoch, no worker", "ssd", 0, false, false, 597},
      {"epoch, 1 worker", "hdd", 1, false, false, 308},
      {"epoch, 1 worker", "sd", 1, false, false, 305},
      {"epoch, 1 worker", "ssd", 1, false, false, 309},
      {"stall, 2 workers", "sd", 2, false, true, 14},
      {"stall, 2 workers", "ssd", 2, false, true, 13},
      {"first stall, 1 worker", "hdd", 1, true, true, 408.2},
      {"first stall, 2 workers", "hdd", 2, true, true, 223.9},
      {"first stall, 4 workers", "hdd", 4, true, true, 115.4},
      {"first stall, 1 worker", "sd", 1, true, true, 134},  // not the NX's card
      {"first stall, 2 workers", "sd", 2, true, true, 12.3},
      {"first epoch, no worker", "hdd", 0, true, false, 1060},
      {"first epoch, no worker", "sd", 0, true, false, 925},
      {"first epoch, no worker", "ssd", 0, true, false, 620},
  };
  int close = 0;
  std::string far;
  for (const Row& row : rows) {
    const Epoch predicted =
        epoch(images, minibatch, agx_step_s, on_agx(row.medium, row.workers), row.first);
    const double value = row.stall ? predicted.stall_s : predicted.time_s;
    if (std::abs(value - row.seen_s) <= std::max(0.1 * row.seen_s, 10.0))
      ++close;
    else
      far += std::string(row.what) + " " + std::string(row.medium) + ": " + std::to_string(value) +
             " for " + std::to_string(row.seen_s) + "\n";
  }
  EXPECT_GE(close, 0.8 * static_cast<double>(rows.size())) << far;
}

// A page cache that drops the least recently used, read in a new random order per epoch.
TEST(TrainingPipeline, HitShareIsThatOfALeastRecentlyUsedCache) {
  constexpr std::size_t samples = 2000;
  for (const double cached : {0.2, 0.5, 0.8, 0.95}) {
    std::vector<std::size_t> order(samples);
    for (std::size_t i = 0; i < samples; ++i) order[i] = i;
    std::vector<long> last(samples, -1);
    std::vector<bool> seen;
    Random random{3};
    long now = 0, hits = 0, reads = 0;
    std::vector<std::size_t> history;
    for (int pass = 0; pass < 6; ++pass) {
      for (std::size_t i = samples; i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
      for (const std::size_t sample : order) {
        if (pass > 0 && sample % 20 == 0) {  // only a twentieth, since distances are slow to find
          seen.assign(samples, false);
          std::size_t distinct = 0;
          for (long t = last[sample] + 1; t < now; ++t) {
            const std::size_t other = history[static_cast<std::size_t>(t)];
            if (!seen[other]) {
              seen[other] = true;
              ++distinct;
            }
          }
          ++reads;
          if (static_cast<double>(distinct) < cached * samples) ++hits;
        }
        last[sample] = now++;
        history.push_back(sample);
      }
    }
    const double share = static_cast<double>(hits) / static_cast<double>(reads);
    EXPECT_NEAR(random_order_hit_share(cached), share, 0.05) << cached;
  }
  EXPECT_EQ(random_order_hit_share(1.5), 1);
  EXPECT_EQ(random_order_hit_share(0), 0);
}

TEST(TrainingPipeline, MoreWorkersOrClockNeverTakeLonger) {
  for (const std::string_view medium : {"hdd", "sd", "ssd", "nvme", "ram"}) {
    double before = 1e300;
    for (int workers = 1; workers <= 8; ++workers) {
      const double now = epoch(images, minibatch, agx_step_s, on_agx(medium, workers), true).time_s;
      EXPECT_LE(now, before);
      before = now;
    }
  }
}

TEST(TrainingPipeline, FewestWorkersAndLowestClockKeepTheDeviceBusy) {
  InputPipeline pipeline = on_agx("ssd", 1);
  const auto workers = fewest_workers(images, minibatch, agx_step_s / 4, pipeline, false, 16);
  ASSERT_TRUE(workers);
  pipeline.workers = *workers;
  EXPECT_NE(epoch(images, minibatch, agx_step_s / 4, pipeline, false).bound, TrainingBound::input);
  pipeline.workers = *workers - 1;
  if (pipeline.workers > 0) {
    EXPECT_EQ(epoch(images, minibatch, agx_step_s / 4, pipeline, false).bound,
              TrainingBound::input);
  }
  pipeline.workers = 4;
  const auto hz = lowest_core_hz(images, minibatch, agx_step_s, pipeline, false);
  ASSERT_TRUE(hz);
  pipeline.core_hz = *hz * 1.001;
  EXPECT_NE(epoch(images, minibatch, agx_step_s, pipeline, false).bound, TrainingBound::input);
  pipeline.core_hz = *hz * 0.98;
  EXPECT_EQ(epoch(images, minibatch, agx_step_s, pipeline, false).bound, TrainingBound::input);
}

}  // namespace
}  // namespace ridgeline::testing
