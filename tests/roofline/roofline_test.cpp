// Which rows become roofs and slopes, and the formulas: ridge, attainable rate, share of the roof.
// Rows are made up; pictures are tested in tests/plots.
#include "roofline/ceilings/roofline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "tests/roofline/made_up_mode.h"

namespace ridgeline::testing {
namespace {

Roofline make(const ProfileMode& mode, const RooflineOptions& options = {}) {
  return roofline_of(mode, made_up_machine(), options);
}

std::string error_of(const ProfileMode& mode, const RooflineOptions& options, ExitCode code) {
  try {
    make(mode, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

TEST(Roofline, AttainableIsTheLowerOfRoofAndSlope) {
  EXPECT_EQ(attainable_flops_per_s(100e9, 10e9, 2), 20e9);
  EXPECT_EQ(attainable_flops_per_s(100e9, 10e9, 10), 100e9);
  EXPECT_EQ(attainable_flops_per_s(100e9, 10e9, 1e30), 100e9);
}

TEST(Roofline, RidgeIsTheQuotientExactly) {
  const Roofline roofline = make(simple_mode());
  ASSERT_EQ(roofline.ridges.size(), 1U);
  const Estimate& ridge = roofline.ridges[0].flop_per_byte;
  EXPECT_EQ(ridge.value, 100e9 / 10e9);
  EXPECT_EQ(ridge.source, Source::measured);
  // Two independent intervals of 1 % make one of about 1.41 %.
  EXPECT_NEAR(ridge.high / ridge.value - 1, std::sqrt(2.0) * 0.01, 2e-4);
  EXPECT_NEAR(1 - ridge.low / ridge.value, std::sqrt(2.0) * 0.01, 2e-4);
}

TEST(Roofline, RidgeHasTheWeakerSource) {
  ProfileMode mode = simple_mode();
  mode.memory[0].bytes_per_s->source = Source::datasheet;
  EXPECT_EQ(make(mode).ridges[0].flop_per_byte.source, Source::datasheet);
}

TEST(Roofline, TakesTheFastestOfEachKind) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::fp32, Unit::vector, "avx2_fma", 50e9));
  mode.compute.push_back(compute_row(DType::fp32, Unit::scalar, "baseline", 5e9));
  mode.memory.push_back(memory_row(Level::dram, Direction::update, 12e9));
  mode.memory.push_back(memory_row(Level::l1, Direction::read, 500e9));
  const Roofline roofline = make(mode);
  ASSERT_EQ(roofline.roofs.size(), 2U);
  EXPECT_EQ(roofline.roofs[0].name, "FP32 AVX-512");
  EXPECT_EQ(roofline.roofs[1].name, "FP32 scalar");
  ASSERT_EQ(roofline.slopes.size(), 2U);
  EXPECT_EQ(roofline.slopes[0].name, "L1 read");
  EXPECT_EQ(roofline.slopes[1].name, "DRAM update");
  EXPECT_EQ(roofline.slopes[1].kernel, "update_avx512");

  RooflineOptions all;
  all.all = true;
  EXPECT_EQ(make(mode, all).roofs.size(), 3U);
  EXPECT_EQ(make(mode, all).slopes.size(), 3U);
}

TEST(Roofline, LeavesOutWhatIsUnsupportedImpossibleOrZero) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::bf16, Unit::matrix, "amx_bf16", 1e15));
  mode.compute.back().status = Status::impossible;
  mode.compute.push_back(compute_row(DType::fp16, Unit::vector, "avx512_fp16", 1));
  mode.compute.back().status = Status::unsupported;
  mode.compute.back().flops_per_s.reset();
  mode.compute.push_back(compute_row(DType::fp64, Unit::vector, "avx512f", 1));
  mode.compute.back().flops_per_s->low = 0;  // does not fit on a logarithmic axis
  EXPECT_EQ(make(mode).roofs.size(), 1U);
}

TEST(Roofline, ThrottledRowsStayWithTheirNoteButYieldToGoodOnes) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::fp32, Unit::vector, "avx2_fma", 200e9));
  mode.compute.back().status = Status::throttled;
  mode.compute.push_back(compute_row(DType::fp64, Unit::vector, "avx512f", 50e9));
  mode.compute.back().status = Status::throttled;
  mode.compute.back().note = "hot";
  const Roofline roofline = make(mode);
  ASSERT_EQ(roofline.roofs.size(), 2U);
  EXPECT_EQ(roofline.roofs[0].isa, "avx512f");
  EXPECT_EQ(roofline.roofs[1].status, Status::throttled);
  EXPECT_EQ(roofline.roofs[1].note, "hot");
}

// A faster row that is not used is always reported.
TEST(Roofline, NamesBetterRowsThatAreLeftOut) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::fp64, Unit::vector, "avx2_fma", 96.6e9));
  mode.compute.back().status = Status::throttled;
  mode.compute.back().note = "the clock fell by 9 %";
  mode.compute.push_back(compute_row(DType::fp64, Unit::vector, "baseline", 36.9e9));
  mode.compute.push_back(compute_row(DType::fp16, Unit::vector, "avx512_fp16", 9e12));
  mode.compute.back().status = Status::impossible;
  mode.compute.push_back(compute_row(DType::fp64, Unit::scalar, "baseline", 9e9));
  mode.compute.back().status = Status::throttled;  // no better row: it becomes the roof
  mode.memory.push_back(memory_row(Level::dram, Direction::update, 15e9));
  mode.memory.back().status = Status::throttled;
  mode.memory.push_back(memory_row(Level::dram, Direction::write, 5e9));
  mode.memory.back().status = Status::throttled;  // slower, so not worth a mention
  const Roofline roofline = make(mode);
  ASSERT_EQ(roofline.left_out.size(), 3U);
  EXPECT_EQ(left_out_text(roofline.left_out[0]),
            "FP64 AVX2 96.6 GFLOP/s (throttled: the clock fell by 9 %); instead " +
                roofline.roofs[1].name);
  EXPECT_EQ(roofline.roofs[1].flops_per_s.value, 36.9e9);
  EXPECT_EQ(roofline.left_out[1].status, Status::impossible);
  EXPECT_EQ(roofline.left_out[1].instead, "");
  EXPECT_EQ(left_out_text(roofline.left_out[2]),
            "DRAM update 15.0 GB/s (throttled); instead DRAM read");
  EXPECT_TRUE(make(simple_mode()).left_out.empty());
  RooflineOptions all;
  all.all = true;  // shows throttled rows, but never impossible ones
  EXPECT_EQ(make(mode, all).left_out.size(), 1U);
}

TEST(Roofline, PointsAboveTheRoofOfADisturbedMachineAreNoFacts) {
  ProfileMode mode = simple_mode();
  mode.sweep = {sweep_row(2, 1, 39.6e9), sweep_row(64, 32, 98e9), sweep_row(4, 2, 40e9)};
  mode.sweep[2].status = Status::impossible;  // as `measure` marks them
  mode.sweep[2].note = "200 % of its roof: the machine was disturbed";
  Roofline roofline = make(mode);
  EXPECT_EQ(roofline.disturbed, "");
  EXPECT_EQ(roofline.points[0].status, Status::ok);
  EXPECT_EQ(roofline.points[0].note, "above the roof: check FLOP and bytes");
  mode.conditions.verdict = RunVerdict{RunState::quiet, "nothing ran", ""};
  EXPECT_EQ(make(mode).disturbed, "");
  mode.conditions.verdict = RunVerdict{RunState::disturbed, "someone compiled", "wait"};
  roofline = make(mode);
  EXPECT_EQ(roofline.disturbed, "someone compiled");
  ASSERT_EQ(roofline.points.size(), 3U);
  EXPECT_EQ(roofline.points[0].status, Status::impossible);
  EXPECT_EQ(roofline.points[0].note, "396 % of its roof: the machine was disturbed");
  EXPECT_EQ(roofline.points[1].status, Status::ok);
  EXPECT_EQ(roofline.points[2].note, "200 % of its roof: the machine was disturbed");
}

TEST(Roofline, UsesTheLargestThreadCountUnlessTold) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::fp32, Unit::vector, "avx512f", 900e9, 1));
  mode.memory.push_back(memory_row(Level::dram, Direction::read, 90e9, 1));
  EXPECT_EQ(make(mode).roofs[0].threads, 4);
  RooflineOptions one;
  one.threads = 1;
  EXPECT_EQ(make(mode, one).roofs[0].flops_per_s.value, 900e9);
  EXPECT_EQ(make(mode, one).slopes[0].threads, 1);
  one.threads = 3;
  EXPECT_EQ(error_of(mode, one, ExitCode::usage),
            "--threads: the profile has no rows with 3 threads (measured: 1, 4)");
}

TEST(Roofline, ThreadCountsOfOtherProcessorsDoNotMix) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::fp16, Unit::matrix, "", 5e12, 1));
  mode.compute.back().processor = Processor::gpu;
  mode.memory.push_back(memory_row(Level::dram, Direction::read, 100e9, 1));
  mode.memory.back().processor = Processor::gpu;
  const Roofline roofline = make(mode);
  ASSERT_EQ(roofline.roofs.size(), 2U);
  EXPECT_EQ(roofline.roofs[0].name, "GPU FP16 tensor cores");
  EXPECT_EQ(roofline.roofs[1].name, "CPU FP32 AVX-512");
  EXPECT_EQ(roofline.ridges.size(), 2U);  // each roof with the slope of its own processor
}

// Sparse peaks have twice the rate with half of the products left out, and kernels seldom use other
// memory: both are shown on request but are never a ceiling.
TEST(Roofline, SparsePeaksAndOtherMemoryAreNeverTheRoof) {
  ProfileMode mode = made_up_mode();
  mode.compute = {compute_row(DType::fp16, Unit::matrix, "sm_87", 10e12),
                  compute_row(DType::fp16, Unit::matrix, "sm_87", 20e12)};
  mode.compute[1].sparse = true;
  mode.compute[1].kernel = "sparse_fp16_8";
  mode.memory = {memory_row(Level::dram, Direction::read, 100e9),
                 memory_row(Level::dram, Direction::read, 120e9)};
  mode.memory[0].allocation = "device";
  mode.memory[1].allocation = "pinned";
  for (ComputeRow& row : mode.compute) row.processor = Processor::gpu;
  for (MemoryRow& row : mode.memory) row.processor = Processor::gpu;
  mode.sweep = {sweep_row(1, 0.5, 50e9)};
  mode.sweep[0].processor = Processor::gpu;
  for (const bool all : {false, true}) {
    RooflineOptions options;
    options.all = all;
    Machine machine = made_up_machine();
    machine.gpus = {{"Made-up GPU", "sm_87", 4, 1 << 20, ""}};
    const Roofline roofline = roofline_of(mode, machine, options);
    EXPECT_EQ(roofline.machine, "Made-up GPU");
    ASSERT_EQ(roofline.roofs.size(), all ? 2U : 1U);
    ASSERT_EQ(roofline.slopes.size(), all ? 2U : 1U);
    const Roof& roof = roofline.roofs[*roofline.main_roof];
    EXPECT_EQ(roof.name, "FP16 tensor cores");
    EXPECT_EQ(roof.flops_per_s.value, 10e12);
    EXPECT_EQ(roofline.slopes[*roofline.main_slope].bytes_per_s.value, 100e9);
    EXPECT_EQ(roofline.slopes[*roofline.points.at(0).slope].bytes_per_s.value, 100e9);
    if (!all) continue;
    EXPECT_EQ(roofline.roofs[0].name, "FP16 tensor cores sparse");
    EXPECT_TRUE(roofline.roofs[0].sparse && !roofline.roofs[0].chosen);
    EXPECT_EQ(roofline.slopes[0].name, "DRAM read, pinned memory");
    EXPECT_FALSE(roofline.slopes[0].chosen);
  }
}

TEST(Roofline, NamesAreUnique) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::fp16, Unit::matrix, "", 2e12));
  mode.compute.push_back(compute_row(DType::fp16, Unit::matrix, "", 1e12));
  mode.compute.back().accumulate = DType::fp32;
  const Roofline roofline = make(mode);
  EXPECT_EQ(roofline.roofs[0].name, "FP16 matrix → FP16");
  EXPECT_EQ(roofline.roofs[1].name, "FP16 matrix → FP32");
}

TEST(Roofline, SweepStandsUnderTheReadSlope) {
  ProfileMode mode = simple_mode();
  mode.memory.push_back(memory_row(Level::dram, Direction::update, 20e9));
  mode.memory.push_back(memory_row(Level::l1, Direction::read, 500e9));
  mode.sweep = {sweep_row(0, 0, 1), sweep_row(2, 1, 9e9), sweep_row(64, 32, 98e9)};
  const Roofline roofline = make(mode);
  ASSERT_EQ(roofline.slopes.size(), 3U);  // L1, the fastest DRAM direction and DRAM read
  ASSERT_EQ(roofline.points.size(), 2U);  // a row without FLOP does not fit on the picture
  EXPECT_EQ(roofline.slopes[*roofline.points[0].slope].name, "DRAM read");
  EXPECT_EQ(roofline.points[0].bound, BoundBy::memory);
  EXPECT_DOUBLE_EQ(roofline.points[0].fraction_of_roof->value, 0.9);
  EXPECT_EQ(roofline.points[1].bound, BoundBy::compute);
  EXPECT_DOUBLE_EQ(roofline.points[1].fraction_of_roof->value, 0.98);
}

TEST(Roofline, PlacesGivenPoints) {
  RooflineOptions options;
  options.points = {{"copy", 1e9, 1e9, 0.2}, {"gemm", 100e9, 1e9, {}}, {"dream", 1e9, 1e9, 0.05}};
  const Roofline roofline = make(simple_mode(), options);
  ASSERT_EQ(roofline.points.size(), 3U);
  const Point& copy = roofline.points[0];
  EXPECT_EQ(copy.attainable_flops_per_s->value, 10e9);
  EXPECT_EQ(copy.attainable_flops_per_s->source, Source::predicted);
  EXPECT_EQ(copy.bound, BoundBy::memory);
  EXPECT_EQ(copy.flops_per_s->value, 5e9);
  EXPECT_DOUBLE_EQ(copy.fraction_of_roof->value, 0.5);
  EXPECT_EQ(copy.note, "");
  const Point& gemm = roofline.points[1];
  EXPECT_EQ(gemm.bound, BoundBy::compute);
  EXPECT_FALSE(gemm.flops_per_s);
  EXPECT_FALSE(gemm.fraction_of_roof);
  EXPECT_EQ(roofline.points[2].note, "above the roof: check FLOP and bytes");
}

TEST(Roofline, PointsAreComparedWithTheWantedDtype) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::int8, Unit::vector, "avx512_vnni", 400e9));
  mode.compute.push_back(compute_row(DType::int8, Unit::matrix, "amx_int8", 1e12));
  RooflineOptions options;
  options.dtype = DType::int8;
  options.points = {{"conv", 1e12, 1e9, {}}};
  const Roofline roofline = make(mode, options);
  EXPECT_EQ(roofline.points[0].attainable_flops_per_s->value, 1e12);
  options.dtype = DType::fp8;
  EXPECT_EQ(error_of(mode, options, ExitCode::usage),
            "--dtype: the profile has no roof for fp8 (measured: fp32, int8)");
}

TEST(Roofline, WithoutFp32AnotherRoofIsMain) {
  ProfileMode mode = simple_mode();
  mode.compute[0].dtype = DType::fp64;
  const Roofline roofline = make(mode);
  ASSERT_TRUE(roofline.main_roof);
  EXPECT_EQ(roofline.roofs[*roofline.main_roof].dtype, DType::fp64);
}

TEST(Roofline, WhatIsMissingIsSaid) {
  EXPECT_EQ(error_of(made_up_mode(), {}, ExitCode::incomplete),
            "no compute or memory row was measured (run 'ridgeline measure' to the end)");
  ProfileMode mode = simple_mode();
  mode.memory.clear();
  EXPECT_EQ(make(mode).ridges.size(), 0U);
  RooflineOptions options;
  options.points = {{"x", 1, 1, {}}};
  EXPECT_EQ(error_of(mode, options, ExitCode::incomplete),
            "--point: the profile has no compute roof or no DRAM row to compare with (run "
            "'ridgeline measure' without --only)");
}

ComputeRow gpu_row(const char* kernel, double rate) {
  ComputeRow row = compute_row(DType::fp16, Unit::matrix, "sm_90", rate);
  row.processor = Processor::gpu;
  row.kernel = kernel;
  return row;
}

TEST(Roofline, HeldPeaksAreDrawnWhereTheyDiffer) {
  ProfileMode mode = simple_mode();
  const auto hold = [](double share, const Estimate& burst) {
    Sustained held;
    held.seconds = 5;
    held.rate = Estimate{share * burst.value, share * burst.low, share * burst.high, burst.source};
    return held;
  };
  mode.compute[0].sustained = hold(0.98, *mode.compute[0].flops_per_s);
  mode.memory[0].sustained = hold(0.9, *mode.memory[0].bytes_per_s);
  const Roofline roofline = make(mode);
  ASSERT_EQ(roofline.roofs.size(), 1U);  // 2 % are not worth a line
  ASSERT_EQ(roofline.slopes.size(), 2U);
  EXPECT_FALSE(roofline.slopes[0].sustained);
  EXPECT_TRUE(roofline.slopes[1].sustained);
  EXPECT_EQ(roofline.slopes[1].name, roofline.slopes[0].name + ", held");
  EXPECT_NEAR(roofline.slopes[1].bytes_per_s.value / roofline.slopes[0].bytes_per_s.value, 0.9,
              1e-9);
  EXPECT_EQ(roofline.main_slope, 0U);
  EXPECT_EQ(roofline.ridges.size(), 1U);

  mode.compute[0].sustained = hold(0.8, *mode.compute[0].flops_per_s);
  mode.compute.push_back(compute_row(DType::fp32, Unit::vector, "avx2_fma", 50e9));
  mode.compute.back().sustained = hold(0.5, *mode.compute.back().flops_per_s);
  const Roofline both = make(mode);
  ASSERT_EQ(both.roofs.size(), 2U);  // that of the slower row is not drawn either
  EXPECT_TRUE(both.roofs[1].sustained);
  EXPECT_EQ(both.main_roof, 0U);
}

TEST(Roofline, ARateThatAnotherInstructionBeatsIsNoRoof) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(gpu_row("mma_fp16_8", 495e12));
  mode.compute.back().roof = false;
  mode.compute.push_back(gpu_row("wgmma_fp16_1", 400e12));
  RooflineOptions options;
  options.dtype = DType::fp16;
  const Roofline roofline = make(mode, options);
  EXPECT_EQ(roofline.roofs[*roofline.main_roof].kernel, "wgmma_fp16_1");
  for (const Roof& roof : roofline.roofs) EXPECT_NE(roof.kernel, "mma_fp16_8");
}

// The kernels of a sweep use vector units: their roof is that of the vectors, although products
// have a higher one. Without a vector roof it is any of the type.
TEST(Roofline, ASweepIsComparedWithTheVectorRoof) {
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::fp32, Unit::matrix, "amx_bf16", 900e9));
  mode.sweep = {sweep_row(2, 1, 9e9)};
  const Roofline both = make(mode);
  ASSERT_TRUE(both.points[0].roof);
  EXPECT_EQ(both.roofs[*both.points[0].roof].unit, Unit::vector);
  mode.compute.erase(mode.compute.begin());
  const Roofline products = make(mode);
  ASSERT_TRUE(products.points[0].roof);
  EXPECT_EQ(products.roofs[*products.points[0].roof].unit, Unit::matrix);
}

}  // namespace
}  // namespace ridgeline::testing
