// Memory of a GPU of known speed: three paths to a Jetson's DRAM, the copy engines of a card, and
// facts for which the catalog overrides the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "devices/catalog/catalog.h"
#include "kernels/cuda/gpu_here.h"
#include "tests/kernels/cuda/measured.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

constexpr double memory_tolerance = 0.01;

TestGpuSettings test_card() {
  TestGpuSettings settings = test_orin();
  settings.facts.name = "Test card";
  settings.facts.architecture = 86;
  settings.facts.integrated = false;
  settings.facts.memory_bytes_per_s = 190e9;
  return settings;
}

TEST(CudaMemory, AJetsonHasThreeWaysToItsDram) {
  TestGpuSettings settings = test_orin();
  settings.pinned_share = 0.7;
  settings.managed_share = 0.9;
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.only = {"dram"}});
  std::map<std::string, int> rows;
  for (const MemoryRow& row : mode.memory) {
    ++rows[row.allocation];
    const double share = row.allocation == "pinned" ? 0.7 : row.allocation == "managed" ? 0.9 : 1;
    ASSERT_TRUE(row.bytes_per_s) << row.kernel << ": " << row.note;
    EXPECT_NEAR(row.bytes_per_s->value / (share * 180e9), 1, memory_tolerance)
        << row.kernel << " " << row.allocation;
    EXPECT_EQ(row.working_set_bytes, std::uint64_t{768} << 20);
  }
  const std::map<std::string, int> expected{{"device", 6}, {"managed", 5}, {"pinned", 5}};
  EXPECT_EQ(rows, expected);
  EXPECT_TRUE(mode.transfer.empty()) << "there is nothing to copy between";
}

TEST(CudaMemory, ACardHasCopyEngines) {
  const TestGpuSettings settings = test_card();
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.only = {"transfer", "dram"}});
  for (const MemoryRow& row : mode.memory) EXPECT_EQ(row.allocation, "device");
  ASSERT_EQ(mode.transfer.size(), 6u);
  for (const TransferRow& row : mode.transfer) {
    const double speed = row.kind == "host_to_device"   ? settings.to_device_bytes_per_s
                         : row.kind == "device_to_host" ? settings.to_host_bytes_per_s
                                                        : settings.both_bytes_per_s;
    const double share = row.host_memory == "pinned" ? 1 : settings.pageable_share;
    EXPECT_EQ(row.status, Status::ok) << row.note;
    ASSERT_TRUE(row.bytes_per_s) << row.kind;
    EXPECT_NEAR(row.bytes_per_s->value / (share * speed), 1, memory_tolerance)
        << row.kind << " " << row.host_memory;
    EXPECT_EQ(row.bytes, std::uint64_t{64} << 20);
  }
  EXPECT_EQ(measured(gpu, {.only = {"pageable"}}).transfer.size(), 3u);
  EXPECT_EQ(gpu.allocated_bytes(), 0u);
}

TEST(CudaMemory, LittleMemoryMakesSmallCopiesAndSaysSo) {
  TestGpuSettings settings = test_card();
  settings.facts.free_bytes = std::uint64_t{100}
                              << 20;  // four buffers of 16 MiB, and the time stamps
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.only = {"transfer"}});
  ASSERT_FALSE(mode.conditions.warnings.empty());
  EXPECT_THAT(mode.conditions.warnings.front().text, HasSubstr("copies of 16 MiB instead of 64"));
  EXPECT_EQ(mode.transfer.at(0).bytes, std::uint64_t{16} << 20);
}

// Every set holds one trip of all blocks, even for a large GPU with little memory.
TEST(CudaMemory, NoLaunchLeavesASmallSet) {
  TestGpuSettings settings = test_card();
  settings.facts.multiprocessors = 132;
  settings.facts.free_bytes = std::uint64_t{64} << 20;
  TestGpu gpu(settings);
  for (const MemoryRow& row : measured(gpu, {.budget_s = 1, .only = {"dram"}}).memory) {
    EXPECT_TRUE(row.bytes_per_s) << row.kernel << ": " << row.note;
    EXPECT_EQ(row.working_set_bytes, std::uint64_t{32} << 20);
  }
}

TEST(CudaFacts, TheCatalogCorrectsAJetson) {
  const catalog::Device orin = catalog::load("jetson-agx-orin-64gb");
  const catalog::Configuration& configuration = orin.configurations.front();
  cuda::DeviceFacts wrong = test_orin().facts;
  wrong.l2_bytes = 1;
  wrong.max_clock_hz = 612e6;
  wrong.memory_bytes_per_s = 7;
  const cuda::DeviceFacts right = cuda::corrected_facts(wrong, orin, configuration, {});
  EXPECT_EQ(right.l2_bytes, 4u << 20);
  EXPECT_EQ(right.max_clock_hz, 1300.5e6);
  EXPECT_NEAR(*right.memory_bytes_per_s, 204.7e9, 0.1e9);
  OperatingPoint mode;
  mode.memory_hz = 2133e6;
  EXPECT_NEAR(*cuda::corrected_facts(wrong, orin, configuration, mode).memory_bytes_per_s, 136.5e9,
              0.1e9);
  mode.memory_hz = -1;  // no cap
  EXPECT_EQ(cuda::corrected_facts(wrong, orin, configuration, mode).memory_bytes_per_s,
            right.memory_bytes_per_s);
  wrong.integrated = false;
  EXPECT_EQ(cuda::corrected_facts(wrong, orin, configuration, mode).l2_bytes, 1u);
}

}  // namespace
}  // namespace ridgeline::testing
