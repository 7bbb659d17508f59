// The laws of the input pipeline. Published epochs are in published_epochs_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "planner/training/pipeline.h"

namespace ridgeline::testing {
namespace {

const Dataset& images = known_dataset("gld23k").dataset;
constexpr double minibatch = 16;
constexpr double step_s = 0.2;

// As on AGX Xavier at MAXN: everything is cached after the first epoch.
InputPipeline loaded_from(std::string_view medium, int workers) {
  InputPipeline pipeline;
  pipeline.medium = storage_medium(medium).cost;
  pipeline.decode_clocks = known_dataset("gld23k").decode_clocks;
  pipeline.core_hz = 2265.6e6;
  pipeline.cores = 8;
  pipeline.free_memory_bytes = 20e9;
  pipeline.workers = workers;
  return pipeline;
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
      const double now =
          epoch(images, minibatch, step_s, loaded_from(medium, workers), true).time_s;
      EXPECT_LE(now, before);
      before = now;
    }
  }
}

// A loader that holds its dataset in memory does not read storage in any epoch.
TEST(TrainingPipeline, ADatasetInMemoryDoesNotDependOnStorage) {
  for (const char* name : {"mnist", "cifar10"}) {
    const KnownDataset& known = known_dataset(name);
    InputPipeline slow = loaded_from("hdd", 0), quick = loaded_from("ram", 0);
    slow.decode_clocks = quick.decode_clocks = known.decode_clocks;
    for (const bool first : {true, false})
      EXPECT_EQ(epoch(known.dataset, minibatch, step_s, slow, first).time_s,
                epoch(known.dataset, minibatch, step_s, quick, first).time_s);
    EXPECT_EQ(epoch(known.dataset, minibatch, step_s, slow, true).hit_share, 1);
  }
}

// 16 samples of 1 MB at 1 GB/s; the queue only with workers, in clocks of a core.
TEST(TrainingPipeline, TheResidualIsACopyAndAQueue) {
  InputPipeline pipeline = loaded_from("ram", 0);
  pipeline.tensor_bytes = 1e6;
  pipeline.copy_bytes_per_s = 1e9;
  pipeline.queue_clocks = 4e6;
  pipeline.core_hz = 1e9;
  EXPECT_DOUBLE_EQ(residual_s(pipeline, 16), 16e-3);
  pipeline.workers = 1;
  EXPECT_DOUBLE_EQ(residual_s(pipeline, 16), 20e-3);
  pipeline.core_hz = 2e9;
  EXPECT_DOUBLE_EQ(residual_s(pipeline, 16), 18e-3);
}

// While a minibatch is taken from the queue and copied, workers load the next ones. With PyTorch
// 1.13 on an x86 guest, one worker, loads of 105 ms, steps of 90 and copies of 25 ms a minibatch
// took 116 ms, not 130.
TEST(TrainingPipeline, WorkersLoadDuringTheResidual) {
  InputPipeline pipeline = loaded_from("ram", 1);
  const double residual = residual_s(pipeline, minibatch);
  const double loading = loaded_minibatch(images, minibatch, step_s, pipeline, true).loading_s;
  const auto step_of = [&](double device_s) { return device_s / pipeline.device_slowdown; };
  const auto period_s = [&](double device_s) {
    const LoadedMinibatch one =
        loaded_minibatch(images, minibatch, step_of(device_s), pipeline, true);
    return one.device_s + one.waiting_s + one.residual_s;
  };
  EXPECT_NEAR(period_s(loading), loading + residual, 1e-9);
  EXPECT_NEAR(period_s(loading - residual / 2), loading + residual / 2, 1e-9);
  EXPECT_NEAR(period_s(loading - residual), loading, 1e-9);
  EXPECT_NEAR(period_s(loading / 2), loading, 1e-9);
}

TEST(TrainingPipeline, PageCacheOfBoardsThatWereNotSeen) {
  EXPECT_NEAR(usual_page_cache_bytes(8.59e9), 2.14e9, 0.02e9);  // Xavier NX, where it was seen
  EXPECT_NEAR(usual_page_cache_bytes(34.36e9), 27.9e9, 0.1e9);
  EXPECT_NEAR(usual_page_cache_bytes(4.29e9), 1.07e9, 0.01e9);
}

TEST(TrainingPipeline, DatasetsByName) {
  EXPECT_EQ(known_dataset("gld23k").dataset.samples, 23080);
  EXPECT_NEAR(known_dataset("gld23k").dataset.bytes_per_sample * 23080, 2.8e9, 1);
  for (const KnownDataset& known : known_datasets()) {
    EXPECT_GT(known.decode_clocks, 0) << known.name;
    EXPECT_FALSE(known.origin.empty() || known.decode_origin.empty()) << known.name;
    // Raw pixels cannot take more than one byte per value.
    if (known.dataset.in_memory) {
      EXPECT_EQ(std::fmod(known.dataset.bytes_per_sample, known.width * known.height), 0);
    }
  }
  EXPECT_THROW(known_dataset("cifar"), Error);
}

TEST(TrainingPipeline, FewestWorkersAndLowestClockKeepTheDeviceBusy) {
  InputPipeline pipeline = loaded_from("ssd", 1);
  const auto workers = fewest_workers(images, minibatch, step_s / 4, pipeline, false, 16);
  ASSERT_TRUE(workers);
  pipeline.workers = *workers;
  EXPECT_NE(epoch(images, minibatch, step_s / 4, pipeline, false).bound, TrainingBound::input);
  pipeline.workers = *workers - 1;
  if (pipeline.workers > 0) {
    EXPECT_EQ(epoch(images, minibatch, step_s / 4, pipeline, false).bound, TrainingBound::input);
  }
  pipeline.workers = 4;
  const auto hz = lowest_core_hz(images, minibatch, step_s, pipeline, false);
  ASSERT_TRUE(hz);
  pipeline.core_hz = *hz * 1.001;
  EXPECT_NE(epoch(images, minibatch, step_s, pipeline, false).bound, TrainingBound::input);
  pipeline.core_hz = *hz * 0.98;
  EXPECT_EQ(epoch(images, minibatch, step_s, pipeline, false).bound, TrainingBound::input);
}

TEST(TrainingPipeline, StorageIsStatedAsARateAndAnAccessTime) {
  const StorageMedium both = storage_medium("90MB/s,0.2ms");
  EXPECT_DOUBLE_EQ(both.cost.bytes_per_s, 90e6);
  EXPECT_DOUBLE_EQ(both.cost.access_s, 0.2e-3);
  EXPECT_EQ(both.name, "90MB/s,0.2ms");
  const StorageMedium rate = storage_medium("90MB/s");
  EXPECT_DOUBLE_EQ(rate.cost.bytes_per_s, 90e6);
  EXPECT_EQ(rate.cost.access_s, 0);
  EXPECT_EQ(rate.cost.serial_share, both.cost.serial_share);
  EXPECT_EQ(storage_medium("nvmessd").name, "nvme");
  EXPECT_THROW(storage_medium("90MB"), Error);
  EXPECT_THROW(storage_medium("0MB/s"), Error);
}

}  // namespace
}  // namespace ridgeline::testing
