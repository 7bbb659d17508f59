// Coefficients: the values read from a model for a runtime, the defaults of missing parameters, and
// that every parameter a formula reads is declared.
#include "roofline/model/coefficients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/parameters.h"
#include "devices/modes/mode_space.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/ceilings/datasheet.h"
#include "tests/base/error_line.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// An undeclared name is an Error, so the test reads everything.
TEST(Coefficients, EveryNameThatIsAskedForIsDeclared) {
  for (const catalog::IndexRow& row : catalog::index()) {
    const catalog::Device device = catalog::load(row.id);
    const OperatingPoint point = default_mode(device, device.configurations.front()).point;
    for (const MachineModel& model :
         {catalog::machine_model(device), with_priors(catalog::machine_model(device))})
      for (const auto& [runtime, word] : TokenTable<Runtime>::rows) {
        EXPECT_EQ(error_line([&, runtime = runtime] { coefficients(model, runtime); }), "no error")
            << row.id << " " << word;
        EXPECT_EQ(error_line([&] { cache_bytes(model); }), "no error") << row.id;
      }
    // A mode may lack a clock or a bandwidth, which is a different Error.
    const MachineModel model = with_priors(catalog::machine_model(device));
    EXPECT_THAT(error_line([&] { model_ceilings(model, point, Runtime::tensorrt); }),
                Not(HasSubstr("is not a parameter")))
        << row.id;
  }
}

TEST(Coefficients, AskingForAnUndeclaredNameIsAnError) {
  const MachineModel model = model_of("jetson-agx-orin-64gb");
  EXPECT_EQ(error_line([&] { ParameterIndex(model).find("gpu_cash_share"); }),
            "jetson-agx-orin-64gb: \"gpu_cash_share\" is not a parameter of a machine model; did "
            "you mean \"gpu_cache_share\"?");
}

TEST(Coefficients, PriorsAreDeclared) {
  for (const PriorRow& row : prior_rows()) {
    ASSERT_NE(find_parameter_row(row.name), nullptr) << row.name;
    const Distribution distribution = find_parameter_row(row.name)->distribution;
    EXPECT_TRUE(distribution != Distribution::fixed || row.sigma == 0) << row.name;
  }
}

TEST(Coefficients, WhatAModelLacksIsTheDeclaredValue) {
  const Coefficients silent = coefficients(MachineModel{"empty", {}, {}}, Runtime::torch_eager);
  EXPECT_EQ(silent.processor, Processor::cpu);
  EXPECT_EQ(silent.dram_efficiency, 1);
  EXPECT_EQ(silent.engine.matmul_efficiency[index_of(DType::fp16)], 0.5);
  EXPECT_EQ(silent.engine.convolution_efficiency[index_of(DType::fp16)], 0.5);
  EXPECT_EQ(silent.engine.cached_traffic, 1);
  EXPECT_EQ(silent.kernel_scale, 1);
  EXPECT_FALSE(silent.power.known);
}

TEST(Coefficients, ALibrarysOwnValueGoesFirst) {
  MachineModel model{"board", {}, {}};
  set_parameter(model, {"gpu_multiprocessors", 8, Source::datasheet});
  set_parameter(model, {"gpu_matmul_fp16_efficiency", 0.6, Source::assumed});
  set_parameter(model, {"tensorrt_matmul_fp16_efficiency", 0.8, Source::assumed});
  set_parameter(model, {"kernel_time_scale", 1.5, Source::assumed});
  set_parameter(model, {"tensorrt_kernel_time_scale", 2, Source::assumed});
  const auto efficiency = [&](Runtime runtime, DType dtype) {
    return coefficients(model, runtime).engine.matmul_efficiency[index_of(dtype)];
  };
  EXPECT_EQ(efficiency(Runtime::tensorrt, DType::fp16), 0.8);
  EXPECT_EQ(efficiency(Runtime::tensorrt, DType::bf16), 0.8);  // as fp16
  EXPECT_EQ(efficiency(Runtime::torch_eager, DType::fp16), 0.6);
  EXPECT_EQ(coefficients(model, Runtime::tensorrt).kernel_scale, 2);
  EXPECT_EQ(coefficients(model, Runtime::torch_eager).kernel_scale, 1.5);
}

// Tensor cores of consumer cards are twice as fast with a narrow accumulator.
TEST(Coefficients, TheFasterAccumulatorCountsInAnyOrder) {
  const char* wide = "gpu_matrix_fp16_fp32_flop_per_sm_clock";
  const char* narrow = "gpu_matrix_fp16_fp16_flop_per_sm_clock";
  for (const bool wide_first : {false, true}) {
    MachineModel model{"card", {}, {}};
    set_parameter(model, {"gpu_multiprocessors", 8, Source::datasheet});
    set_parameter(model,
                  {wide_first ? wide : narrow, wide_first ? 512.0 : 1024.0, Source::datasheet});
    set_parameter(model,
                  {wide_first ? narrow : wide, wide_first ? 1024.0 : 512.0, Source::datasheet});
    EXPECT_EQ(coefficients(model, Runtime::ideal).engine.matrix_rate[index_of(DType::fp16)], 1024);
  }
}

}  // namespace
}  // namespace ridgeline::testing
