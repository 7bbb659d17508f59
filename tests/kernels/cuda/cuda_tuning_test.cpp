// Tuning and working sets, as the simulated GPU sees them: which addresses the rows touch, how the
// time is shared out among kernels, and what a row says if it was too short.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "kernels/cuda/bench.h"
#include "tests/kernels/cuda/measured.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The last launch of a row is its reading: the whole set, each byte once per pass.
TEST(CudaTuning, RowsTouchTheSetThatTheyState) {
  for (const Board& board : all_boards()) {
    const std::uint64_t l2 = board.facts.l2_bytes;
    TestGpu gpu(board);
    const ProfileMode mode =
        measured(gpu, {.quick = true, .only = {"device", "l2", "l1", "sweep"}});
    for (const MemoryRow& row : mode.memory) {
      const TestGpu::Touched& touched = gpu.touched().at(row.kernel);
      const auto distinct = static_cast<double>(touched.footprint.distinct_bytes);
      const auto stated = static_cast<double>(row.working_set_bytes);
      EXPECT_LE(distinct, stated) << board.facts.name << " " << row.kernel;
      EXPECT_GE(distinct, (row.level == Level::l2 ? 0.5 : 0.95) * stated)
          << board.facts.name << " " << row.kernel;
      switch (row.level) {
        case Level::dram:
          EXPECT_GE(row.working_set_bytes, 100 * l2) << row.kernel;
          EXPECT_EQ(touched.footprint.spread, 1) << row.kernel << ": blocks share lines";
          EXPECT_LT(touched.in_l2, 0.01) << row.kernel;
          break;
        case Level::l2:
          EXPECT_LE(row.working_set_bytes, l2 / 2);
          EXPECT_GT(touched.in_l2, 0.99);
          break;
        default:
          EXPECT_LE(row.working_set_bytes, board.facts.l1_bytes / 2) << row.kernel;
          EXPECT_EQ(touched.in_l2, 0) << row.kernel;
      }
    }
    for (const SweepRow& row : mode.sweep) {
      EXPECT_GE(row.working_set_bytes, 100 * l2) << row.kernel;
      EXPECT_EQ(gpu.touched().at(row.kernel).footprint.spread, 1) << row.kernel;
    }
  }
}

// tcgen05.alloc waits while other blocks hold all columns of tensor memory: no launch needs that.
TEST(CudaTuning, NoBlockWaitsForTensorMemory) {
  for (const bool quick : {true, false}) {
    TestGpu gpu(thor());
    const ProfileMode mode =
        measured(gpu, {.quick = quick, .only = {"tcgen05_fp16", "tcgen05_nvfp4", "tcgen05_int8"}});
    EXPECT_EQ(mode.compute.size(), 3u);
    EXPECT_GT(gpu.most_tensor_columns(), 0);
    EXPECT_LE(gpu.most_tensor_columns(), 512);
  }
}

// Fewer warps than the best number leave units idle, more get in each other's way: a shape that is
// not the best shows. With 80 registers, 24 warps are all that fit.
TEST(CudaTuning, TheBestShapeIsFoundWhereverItIs) {
  for (const int best_warps : {4, 8, 16, 24}) {
    TestGpuSettings settings = test_orin();
    settings.arithmetic_best_warps = settings.dram_best_warps = best_warps;
    settings.arithmetic_crowd_loss = settings.dram_crowd_loss = 0.6;
    settings.pipes["fma_fp32"].latency_cycles = best_warps;  // with four chains, or fewer warps
    settings.dram_latency_s = best_warps * 16 * 15 * 512 / 180e9;
    TestGpu gpu(settings);
    const ProfileMode mode = measured(gpu, {.quick = true, .only = {"fma_fp32", "read_dram"}});
    EXPECT_NEAR(mode.compute.at(0).flops_per_s->value / settings.flops_per_s("fma_fp32"), 1, 0.01)
        << best_warps << " warps";
    for (const MemoryRow& row : mode.memory)
      EXPECT_NEAR(row.bytes_per_s->value / 180e9, 1, 0.01) << best_warps << " warps";
  }
}

// While the clock falls, each shape runs slower than the one before it: the best one is the one
// that does most per cycle.
TEST(CudaTuning, AFallingClockDoesNotChooseTheShape) {
  TestGpuSettings settings = test_orin();
  settings.arithmetic_best_warps = 4;
  settings.arithmetic_crowd_loss = 0.3;
  settings.clock_at = [](double now_s) { return 1.3e9 * std::max(0.3, 1 - now_s / 0.15); };
  TestGpu gpu(settings);
  const ComputeRow row = measured(gpu, {.only = {"fma_fp32"}}).compute.at(0);
  EXPECT_GT(row.flops_per_s->value, 0.985 * row.theory_flops_per_s->value) << row.note;
}

// A kernel that takes a hundred times as long as expected is cut short, and no other one is.
TEST(CudaTuning, ASlowKernelStarvesNoOther) {
  TestGpuSettings settings = test_orin();
  settings.slow_kernels["sweep_0"] = 100;
  TestGpu gpu(settings);
  const ProfileMode mode =
      measured(gpu, {.budget_s = 12,
                     .only = {"sweep_0", "sweep_16", "mma_fp16", "mma_int8", "mma_tf32"},
                     .sustain_s = 0.0});
  for (const ComputeRow& row : mode.compute) {
    EXPECT_EQ(row.note, "") << row.kernel;
    EXPECT_NEAR(row.flops_per_s->value / settings.flops_per_s(program_of(row.kernel).pipe), 1, 0.01)
        << row.kernel;
  }
  ASSERT_EQ(mode.sweep.size(), 2u);
  EXPECT_THAT(mode.sweep[0].note, HasSubstr("tuning was cut short"));
  EXPECT_THAT(mode.sweep[1].note, Not(HasSubstr("cut short")));
  EXPECT_EQ(mode.conditions.rows.cut_short, 1);
}

TEST(CudaTuning, WhatIsCutShortIsSaidInTheRowAndTheProfile) {
  TestGpu gpu(test_orin());
  const ProfileMode mode = measured(gpu, {.budget_s = 0.05, .only = {"fma_fp32", "read_dram"}});
  EXPECT_THAT(mode.compute.at(0).note, HasSubstr("tuning was cut short: "));
  EXPECT_THAT(mode.compute.at(0).note, HasSubstr(" launch shapes tried"));
  EXPECT_EQ(mode.conditions.rows.cut_short, 4);
  EXPECT_TRUE(warns_of(mode, "too short to find the best launch shape of 4 kernels"));
  Profile profile;
  profile.machine.gpus = {{"Test GPU", "sm_87", 16, 1 << 20, ""}};
  profile.modes = {mode};
  const Json json = to_json(profile);
  EXPECT_THAT(schema_violations(json, "profile.schema.json"), IsEmpty());
  EXPECT_EQ(profile_from_json(JsonCursor(json, "profile")), profile);
}

// A search that saw a tenth of the shapes has seen good ones: this GPU needs some warps to hide its
// latencies.
TEST(CudaTuning, LikelyShapesComeFirst) {
  TestGpuSettings settings = test_orin();
  settings.pipes["fma_fp32"].latency_cycles = 30;
  settings.dram_latency_s = 5e-6;
  TestGpu gpu(settings);
  const ProfileMode mode =
      measured(gpu, {.budget_s = 0.05, .only = {"fma_fp32", "mma_fp16", "device"}});
  for (const ComputeRow& row : mode.compute) {
    EXPECT_THAT(row.note, HasSubstr("cut short"));
    EXPECT_GT(row.flops_per_s->value, 0.95 * settings.flops_per_s(program_of(row.kernel).pipe));
  }
  for (const MemoryRow& row : mode.memory)
    EXPECT_GT(row.bytes_per_s->value, 0.9 * 180e9) << row.kernel << " " << row.note;
}

TEST(CudaTuning, ASetThatL2MayServeSaysSo) {
  TestGpuSettings settings(ada_card());
  settings.facts.free_bytes = std::uint64_t{6} << 30;  // 3 GiB of elements, 43 times L2
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.quick = true, .only = {"read_dram"}});
  EXPECT_EQ(mode.memory.at(0).note, "small set: up to 2 % may come from L2");
  EXPECT_TRUE(warns_of(mode, "GPU memory is short: buffers of 3 GiB instead of 11.2 GiB"))
      << mode.conditions.warnings.at(0).text;
}

// What the table declares and what the simulated GPU knows were written down apart.
TEST(TestGpu, KnowsEveryKernelFromElsewhere) {
  for (const cuda::Kernel& kernel : cuda::kernel_table()) {
    const KernelProgram& program = program_of(kernel.name);
    EXPECT_EQ(program.bytes() + 512 * program.near_accesses, kernel.bytes_per_trip())
        << kernel.name;
    // Streams scale or add on the side: their arithmetic is not what limits them.
    if (kernel.role == cuda::Role::memory) continue;
    EXPECT_EQ(program.flop(), kernel.flop_per_trip()) << kernel.name;
  }
}

// A walk that leaves its buffer is an illegal address, as on a real GPU.
TEST(TestGpu, StopsAtAnIllegalAddress) {
  TestGpu gpu(test_orin());
  const cuda::Kernel& kernel = *cuda::find_kernel("read_dram");
  void* const memory = gpu.allocate(1 << 20, cuda::MemoryKind::device);
  cuda::Setup setup{&kernel, {16, 128}, false, 1 << 20, 1};
  cuda::Arguments arguments = setup.arguments();
  arguments.data = memory;
  gpu.launch(kernel, setup.grid, arguments);
  EXPECT_NO_THROW(gpu.synchronize());
  arguments.trips += 1;
  gpu.launch(kernel, setup.grid, arguments);
  EXPECT_THROW(gpu.synchronize(), cuda::GpuError);
}

TEST(TestGpu, CountsEveryTouchedByteOnce) {
  const KernelProgram& read = program_of("read_dram");
  const cuda::Grid grid{4, 128};
  constexpr std::uint64_t tile = 4 * 16 * 512;
  cuda::Arguments arguments{};
  arguments.window = 64 * tile;
  arguments.trips = 8;
  const auto walk = [&](std::uint64_t block_step, std::uint64_t trip_step) {
    arguments.block_step = block_step;
    arguments.trip_step = trip_step;
    return footprint_of(read, grid, arguments);
  };
  EXPECT_EQ(walk(tile, 4 * tile).distinct_bytes, 32 * tile);  // side by side
  EXPECT_EQ(walk(8 * tile, tile).distinct_bytes, 32 * tile);  // each its own region
  EXPECT_EQ(walk(tile, 0).distinct_bytes, 4 * tile);          // stays in one place
  EXPECT_EQ(walk(0, tile).distinct_bytes, 8 * tile);          // all blocks in one region
  EXPECT_EQ(walk(0, tile).spread, 0.25);
  EXPECT_EQ(walk(tile / 2, 4 * tile).distinct_bytes, 20 * tile);   // half of each tile shared
  EXPECT_EQ(walk(2 * tile, 16 * tile).distinct_bytes, 32 * tile);  // with gaps
  EXPECT_EQ(walk(2 * tile, 16 * tile).end, 119 * tile);
}

}  // namespace
}  // namespace ridgeline::testing
