// The laws of the input pipeline. Published epochs are in published_epochs_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "planner/training/pipeline.h"
#include "planner/training/storage.h"

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

// What a core spends on a sample grows with its pixels: photographs of 800x600 more than those of
// 500x375, these more than thumbnails, whose transforms cost their calls alone, the same for both.
TEST(TrainingPipeline, SmallerImagesAreDecodedFaster) {
  const auto clocks = [](const char* name) { return known_dataset(name).decode_clocks; };
  EXPECT_LT(clocks("imagenet"), clocks("gld23k"));
  EXPECT_GT(clocks("imagenet"), 500.0 * 375 / (800 * 600) * clocks("gld23k"));
  for (const char* thumbnail : {"mnist", "cifar10"})
    EXPECT_LT(clocks(thumbnail), 0.05 * clocks("imagenet")) << thumbnail;
  EXPECT_NEAR(clocks("mnist") / clocks("cifar10"), 1, 0.2);
}

// 100 samples of 1 MB in steps of 10, of which each takes 0.1 s and a core 5 ms, from a medium that
// gives 100 MB/s: 20 ms with the access time, half of it serial. Nothing is cached.
TEST(TrainingPipeline, AnEpochByHand) {
  const Dataset samples{100, 1e6};
  InputPipeline pipeline;
  pipeline.medium = {100e6, 10e-3, 0.5};
  pipeline.decode_clocks = 5e6;
  pipeline.core_hz = 1e9;
  pipeline.cores = 4;
  pipeline.host_s = 20e-3;
  pipeline.tensor_bytes = 1e6;
  pipeline.copy_bytes_per_s = 1e9;  // 10 ms for a step
  pipeline.queue_clocks = 2e6;
  pipeline.device_slowdown = 1.1;
  // Without workers the process loads, then computes: ten times 0.2 s + 0.05 s + 0.1 s + 0.01 s.
  const Epoch alone = epoch(samples, 10, 0.1, pipeline, true);
  EXPECT_NEAR(alone.time_s, 3.6, 1e-9);
  EXPECT_NEAR(alone.device_s, 1, 1e-9);
  EXPECT_NEAR(alone.wait_s, 2.5, 1e-9);
  EXPECT_NEAR(alone.unhidden_s, 0.1, 1e-9);
  EXPECT_NEAR(alone.stall_s, 2.6, 1e-9);
  EXPECT_NEAR(alone.fetch_s, 2, 1e-9);
  EXPECT_NEAR(alone.decode_s, 0.5, 1e-9);
  EXPECT_NEAR(alone.host_s, 0.5 + 0.1 + 0.2, 1e-9);
  EXPECT_NEAR(alone.read_bytes, 100e6, 1);
  EXPECT_EQ(alone.hit_share, 0);
  EXPECT_EQ(alone.bound, TrainingBound::input);
  // Two workers halve all but the serial 0.1 s: 0.175 s beside 0.11 s of the device and 12 ms of
  // copy and queue.
  pipeline.workers = 2;
  const Epoch two = epoch(samples, 10, 0.1, pipeline, true);
  EXPECT_NEAR(two.device_s, 1.1, 1e-9);
  EXPECT_NEAR(two.wait_s, 10 * (0.175 - 0.122), 1e-9);
  EXPECT_NEAR(two.unhidden_s, 10 * 12e-3, 1e-9);
  EXPECT_EQ(two.bound, TrainingBound::input);
  // Of 64 workers only four have a core; a step of 1 s hides them.
  pipeline.workers = 64;
  EXPECT_NEAR(epoch(samples, 10, 0.1, pipeline, true).wait_s, 10 * (0.1375 - 0.122), 1e-9);
  const Epoch slow = epoch(samples, 10, 1, pipeline, true);
  EXPECT_EQ(slow.wait_s, 0);
  EXPECT_EQ(slow.bound, TrainingBound::device);
  // A core that is busy with the process for longer than the step is what limits.
  pipeline.cores = 1;
  pipeline.host_s = 2;
  EXPECT_NEAR(epoch(samples, 10, 1, pipeline, true).wait_s, 10 * (2 + 12e-3 + 50e-3 - 1.1 - 12e-3),
              1e-9);
  // With room for all samples a later epoch reads nothing.
  pipeline.free_memory_bytes = 200e6;
  const Epoch later = epoch(samples, 10, 1, pipeline, false);
  EXPECT_EQ(later.hit_share, 1);
  EXPECT_EQ(later.read_bytes, 0);
}

// A step shorter than its queue and copy is limited by the host.
TEST(TrainingPipeline, QueueAndCopyMayTakeLongerThanTheDevice) {
  InputPipeline pipeline = loaded_from("ram", 8);
  pipeline.decode_clocks = 0;
  pipeline.queue_clocks = 100e6;
  EXPECT_EQ(epoch(images, minibatch, 10e-3, pipeline, false).bound, TrainingBound::host);
  EXPECT_EQ(epoch(images, minibatch, 1, pipeline, false).bound, TrainingBound::device);
}

// The access time of a medium is added to its bytes; a rate alone has none, and its serial share
// is that of a disk.
TEST(TrainingPipeline, AStatedRateIsADisk) {
  EXPECT_DOUBLE_EQ(fetch_s(storage_medium("100MB/s,2ms").cost, 1e6), 12e-3);
  EXPECT_DOUBLE_EQ(fetch_s(storage_medium("100MB/s").cost, 1e6), 10e-3);
  EXPECT_EQ(storage_medium("100MB/s").cost.serial_share, storage_medium("hdd").cost.serial_share);
}

}  // namespace
}  // namespace ridgeline::testing
