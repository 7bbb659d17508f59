// The measuring loop against a GPU of known speed: measurements match the configuration, and every
// fault is reported in one line while finished rows are kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "kernels/cuda/single_run.h"
#include "tests/kernels/cuda/measured.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double one_percent = 0.01;

TEST(CudaMeasure, FindsThePeaksOfTheGpu) {
  const TestGpuSettings settings = test_orin();
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu);
  EXPECT_TRUE(mode.conditions.complete);
  EXPECT_GT(mode.compute.size(), 10u);
  for (const ComputeRow& row : mode.compute) {
    if (row.status == Status::unsupported) continue;
    const double peak = settings.flops_per_s(program_of(row.kernel).pipe);
    EXPECT_EQ(row.status, Status::ok) << row.kernel << ": " << row.note;
    ASSERT_TRUE(row.flops_per_s) << row.kernel;
    EXPECT_NEAR(row.flops_per_s->value / peak, 1, one_percent) << row.kernel;
    ASSERT_TRUE(row.clock_hz) << row.kernel;
    EXPECT_NEAR(row.clock_hz->value / settings.clock_hz, 1, 1e-4) << row.kernel;
  }
  for (const MemoryRow& row : mode.memory) {
    EXPECT_EQ(row.allocation.empty(), row.level != Level::dram) << row.kernel;
    const double peak = row.level == Level::dram ? 180e9
                        : row.level == Level::l2 ? settings.l2_bytes_per_s()
                                                 : 120 * 16 * settings.clock_hz;
    ASSERT_TRUE(row.bytes_per_s) << row.kernel;
    EXPECT_NEAR(row.bytes_per_s->value / peak, 1, one_percent) << row.kernel;
  }
  for (const SweepRow& row : mode.sweep) {
    const double roof = settings.sweep_bytes_per_s(row.fma_per_element);
    EXPECT_NEAR(row.bytes_per_s->value / roof, 1, one_percent) << row.kernel;
  }
  EXPECT_EQ(mode.sweep.size(), 10u);
  EXPECT_LT(gpu.now_s(), 300) << "a full run";
}

TEST(CudaMeasure, FindsTheCostOfLaunching) {
  TestGpu gpu(test_orin());
  const ProfileMode mode = measured(gpu, {.only = {"launch"}});
  ASSERT_EQ(mode.launch.size(), 3u);
  for (const LaunchRow& row : mode.launch) {
    const double expected = row.kind == "async_launch" ? 5e-6
                            : row.kind == "graph_node" ? 1e-6
                                                       : 7e-6;
    ASSERT_TRUE(row.time_s) << row.kind;
    EXPECT_NEAR(row.time_s->value / expected, 1, one_percent) << row.kind;
  }
}

TEST(CudaMeasure, WhatTheArchitectureLacksIsARowWithTheReason) {
  TestGpuSettings settings = test_orin();
  settings.facts.architecture = 110;
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.only = {"sparse_fp8", "int4", "tcgen05_sparse_fp8"}});
  ASSERT_EQ(mode.compute.size(), 3u);
  for (const ComputeRow& row : mode.compute) EXPECT_EQ(row.status, Status::unsupported);
  EXPECT_THAT(mode.compute[0].note, HasSubstr("no such instruction"));
  EXPECT_THAT(mode.compute[1].note, HasSubstr("out of other instructions"));
  EXPECT_EQ(mode.compute[2].kernel, "tcgen05_sparse_fp8");
  EXPECT_THAT(mode.compute[2].note, HasSubstr("the full rate of sm_110 needs tcgen05"));
}

// On each architecture, the products whose full rate needs another instruction than mma.sync.
TEST(CudaPlan, NamesTheRatesThatMmaDoesNotReach) {
  const auto beside = [](int architecture, std::string_view group_without_code = "none") {
    cuda::DeviceFacts facts;
    facts.architecture = architecture;
    std::string names;
    for (const auto& trial : cuda::plan({}, facts, [&](const cuda::Kernel& kernel) {
           return cuda::CodeSupport{kernel.group.starts_with(group_without_code) ? "no code" : ""};
         }))
      if (!trial.instruction.empty()) {
        EXPECT_FALSE(trial.missing.empty());
        names += trial.name() + " ";
      }
    return names;
  };
  EXPECT_EQ(beside(87), "");
  EXPECT_EQ(beside(120), "");
  // Dense products have kernels.
  EXPECT_EQ(beside(90),
            "wgmma_sparse_fp16 wgmma_sparse_bf16 wgmma_sparse_tf32 wgmma_sparse_int8 "
            "wgmma_sparse_fp8 ");
  const std::string sparse =
      "tcgen05_sparse_fp16 tcgen05_sparse_bf16 tcgen05_sparse_tf32 tcgen05_sparse_int8 "
      "tcgen05_sparse_fp8 ";
  EXPECT_EQ(beside(100), sparse);
  EXPECT_EQ(beside(110), sparse);
  EXPECT_THAT(beside(103), Not(HasSubstr("int8")));
  EXPECT_THAT(beside(103), HasSubstr("tcgen05_k96_mxfp4 tcgen05_k96_nvfp4 "));
  // A build with an older toolkit has no tcgen05.
  EXPECT_THAT(beside(110, "tensor_sm100"), HasSubstr("tcgen05_int8 "));
  EXPECT_THAT(beside(110, "tensor_sm100"), HasSubstr("tcgen05_fp16 "));
}

// Products whose operands come from shared memory are a row of their own in full runs; what they
// reach is no roof, and hides no reason.
TEST(CudaPlan, FedProductsStandBesideTheRoof) {
  for (const int architecture : {75, 87, 89, 90, 110, 120})
    for (const bool quick : {false, true}) {
      cuda::DeviceFacts facts;
      facts.architecture = architecture;
      int fed = 0, whole = 0;
      for (const auto& trial : cuda::plan(
               {.quick = quick}, facts, [](const cuda::Kernel&) { return cuda::CodeSupport{}; })) {
        fed += trial.kernel().fed && trial.missing.empty();
        whole += !trial.kernel().fed && trial.missing.empty() &&
                 trial.kernel().dtype == DType::fp16 && trial.kernel().unit == Unit::matrix &&
                 trial.kernel().accumulate == DType::fp32 && !trial.kernel().sparse;
      }
      EXPECT_EQ(fed, quick                                       ? 0
                     : architecture == 75                        ? 2
                     : architecture == 89 || architecture == 120 ? 5
                                                                 : 4)
          << architecture;
      EXPECT_GE(whole, 1) << architecture;
    }
}

TEST(CudaMeasure, AClockBelowTheModesIsThrottling) {
  TestGpu gpu(test_orin());
  const ProfileMode mode = measured(gpu, {.only = {"fma_fp32"}}, {.cap_hz = 1.5e9});
  ASSERT_EQ(mode.compute.size(), 1u);
  EXPECT_EQ(mode.compute[0].status, Status::throttled);
  EXPECT_THAT(mode.compute[0].note, HasSubstr("87 % of the mode's clock"));
  ASSERT_TRUE(mode.compute[0].flops_per_s);
}

TEST(CudaMeasure, AFallingClockIsThrottling) {
  TestGpuSettings settings = test_orin();
  settings.clock_at = [](double now_s) { return now_s < 1.2 ? 1.3e9 : 0.9e9; };
  settings.noise = 0.02;  // so that the run does not end earlier
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.budget_s = 3, .only = {"fma_fp32"}});
  EXPECT_EQ(mode.compute.at(0).status, Status::throttled) << mode.compute.at(0).note;
}

TEST(CudaMeasure, MoreThanTheHardwareAllowsIsImpossible) {
  TestGpuSettings settings = test_orin();
  settings.scale_arithmetic(1.1);
  settings.issue_per_cycle = 5;
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.only = {"fma_fp32"}});
  EXPECT_EQ(mode.compute.at(0).status, Status::impossible);
}

TEST(CudaMeasure, AWrongResultIsNoMeasurement) {
  TestGpuSettings settings = test_orin();
  settings.wrong_kernel = "mma_int8";
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.only = {"mma_int8", "fma_fp32"}});
  ASSERT_EQ(mode.compute.size(), 2u);
  EXPECT_EQ(mode.compute[0].status, Status::ok);
  EXPECT_EQ(mode.compute[1].status, Status::unsupported);
  EXPECT_THAT(mode.compute[1].note, HasSubstr("differs from the host's"));
  EXPECT_FALSE(mode.compute[1].flops_per_s);
}

TEST(CudaMeasure, AKernelThatFailsLeavesTheOthers) {
  TestGpuSettings settings = test_orin();
  settings.fail_launch = 3;
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.only = {"vector"}});
  EXPECT_TRUE(mode.conditions.complete);
  EXPECT_THAT(mode.compute.at(0).note, HasSubstr("too many resources"));
  EXPECT_EQ(mode.compute.at(1).status, Status::ok);
}

TEST(CudaMeasure, ALostDeviceKeepsTheFinishedRows) {
  TestGpuSettings settings = test_orin();
  settings.lost_after_s = 2;
  settings.noise = 0.02;  // so that the run does not end earlier
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.budget_s = 5, .only = {"vector", "launch"}});
  EXPECT_FALSE(mode.conditions.complete);
  EXPECT_TRUE(warns_of(mode, "the GPU was lost"));
  EXPECT_TRUE(std::ranges::any_of(mode.compute, [](const ComputeRow& row) {
    return row.status == Status::ok && row.flops_per_s && row.flops_per_s->value > 0;
  }));
  EXPECT_TRUE(mode.launch.empty());
}

TEST(CudaMeasure, LittleMemoryMakesSmallBuffersAndSaysSo) {
  TestGpuSettings settings = test_orin();
  settings.facts.free_bytes = std::uint64_t{200} << 20;
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.only = {"device"}});
  EXPECT_TRUE(warns_of(mode, "GPU memory is short: buffers of 100 MiB instead of 768 MiB"));
  EXPECT_EQ(mode.memory.at(0).status, Status::ok);
  TestGpuSettings none = test_orin();
  none.facts.free_bytes = std::uint64_t{8} << 20;
  TestGpu empty(none);
  EXPECT_THROW(measured(empty, {.only = {"dram"}}), Error);
}

TEST(CudaMeasure, CodeThatTheDriverCompiledIsSaidSo) {
  TestGpuSettings settings = test_orin();
  settings.from_ptx = true;
  TestGpu gpu(settings);
  EXPECT_TRUE(warns_of(measured(gpu, {.only = {"fma_fp32"}}), "no machine code for sm_87"));
  settings.missing_code = "this build has no code for it";
  TestGpu other(settings);
  const ProfileMode mode = measured(other, {.only = {"fma_fp32"}});
  EXPECT_EQ(mode.compute.at(0).note, "this build has no code for it");
}

TEST(CudaMeasure, AQuickRunIsQuickAndGivesBackAllMemory) {
  TestGpu gpu(test_orin());
  const ProfileMode mode = measured(gpu, {.quick = true});
  EXPECT_LT(gpu.now_s(), 45);
  EXPECT_EQ(mode.conditions.started.size(), std::string_view("2026-01-02T03:04:05Z").size());
  EXPECT_EQ(gpu.allocated_bytes(), 0u);
}

TEST(CudaSingleRun, TakesTheSizesThatAreAsked) {
  TestGpu gpu(test_orin());
  const cuda::Kernel& kernel = *cuda::find_kernel("mma_fp16_8");
  const auto run = cuda::run_alone(gpu, kernel, {.blocks = 20, .iterations = 64, .samples = 1});
  ASSERT_EQ(run.samples.size(), 1u);
  EXPECT_EQ(run.setup.flop(), 160 * 4096.0 * 20 * 4 * 64);
  const auto shortest = cuda::run_alone(gpu, kernel, {.iterations = 1, .samples = 1});
  EXPECT_LT(shortest.samples[0].seconds, 20e-6);
  const cuda::Kernel& read = *cuda::find_kernel("read_dram");
  const auto stream = cuda::run_alone(
      gpu, read, {.blocks = 16, .iterations = 1, .bytes = std::uint64_t{4} << 20, .samples = 3});
  EXPECT_EQ(stream.setup.bytes(), 4 << 20);
  const auto counted = cuda::run_alone(gpu, read, {});
  EXPECT_GE(counted.samples[0].seconds, 2.9e-3);
}

TEST(CudaSingleRun, SizesThatNoLaunchCanHaveAreRefused) {
  TestGpu gpu(test_orin());
  const cuda::Kernel& read = *cuda::find_kernel("read_dram");
  EXPECT_THROW(cuda::run_alone(gpu, read, {.block_threads = 100}), Error);
  EXPECT_THROW(cuda::run_alone(gpu, read, {.block_threads = 2048}), Error);
  EXPECT_THROW(cuda::run_alone(gpu, read, {.blocks = 1'000'000}), Error);
  EXPECT_THROW(cuda::run_alone(gpu, read, {.blocks = 1000, .bytes = 4096}), Error);
  EXPECT_THROW(cuda::run_alone(gpu, *cuda::find_kernel("read_shared"), {.block_threads = 256}),
               Error);
}

// Every kernel stays within its set, for all sizes.
TEST(CudaSetup, StaysWithinItsSet) {
  for (const cuda::Kernel& kernel : cuda::kernel_table()) {
    if (kernel.arrays == 0 || kernel.level == Level::shared) continue;
    for (const std::uint64_t bytes : {std::uint64_t{100} << 20, std::uint64_t{77'777'777}})
      for (const std::uint32_t blocks : {1u, 16u, 52u})
        for (const bool contiguous : {false, true}) {
          cuda::Setup setup{&kernel, {blocks, 128}, contiguous, bytes, 3};
          const cuda::Arguments arguments = setup.arguments();
          if (kernel.direction == Direction::random) {
            EXPECT_LE(arguments.window, bytes);
            continue;
          }
          const std::uint64_t tile = kernel.warp_bytes() * 4;
          const std::uint64_t trips = setup.passes() ? arguments.trips : 1;
          std::uint64_t end = 0;
          for (std::uint64_t block = 0; block < blocks; ++block)
            end = std::max(end, block * arguments.block_step % arguments.window +
                                    (trips - 1) * arguments.trip_step + tile);
          EXPECT_LE(end + std::uint64_t(kernel.arrays - 1) * arguments.pitch, bytes)
              << kernel.name << " " << blocks << " blocks";
        }
  }
}

TEST(CudaPlan, UnknownWordsAreRefused) {
  TestGpu gpu(test_orin());
  EXPECT_THROW(measured(gpu, {.only = {"fp23"}}), Error);
}

TEST(CudaCodeSupport, MachineCodeRunsUpwardsWithinAMajor) {
  EXPECT_TRUE(cuda::runs_machine_code(80, 86));
  EXPECT_TRUE(cuda::runs_machine_code(87, 87));
  EXPECT_FALSE(cuda::runs_machine_code(86, 80));
  EXPECT_FALSE(cuda::runs_machine_code(86, 87));
  EXPECT_FALSE(cuda::runs_machine_code(80, 90));
  EXPECT_TRUE(cuda::runs_machine_code(120, 121));
}

}  // namespace
}  // namespace ridgeline::testing
