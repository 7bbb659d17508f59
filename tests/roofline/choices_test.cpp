// What a run on a board could change: its modes and clocks, batches, types and runtimes.
#include "roofline/explain/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices/modes/mode_grid.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MachineSource orin() {
  return machine_source(
      {.on = "jetson-agx-orin-64gb", .mode = "30W", .jetpack = "", .threads = {}});
}

TEST(Choices, ClocksAreThoseOfTheMaskThatTheModeHas) {
  const MachineSource source = orin();
  const Setting now{source.point, 4, DType::fp32, Runtime::torch_eager};
  const Choices choices = choices_for(source, now);
  const ModeGrid grid = full_grid(source.known->device, source.known->configuration);
  bool found = false;
  for (const MaskGrid& mask : grid.masks) {
    if (mask.gpu_units != now.point.gpu_units || found) continue;
    found = true;
    EXPECT_EQ(choices.gpu_hz, mask.gpu_hz);
    EXPECT_EQ(choices.memory_hz, mask.memory_hz);
    EXPECT_EQ(choices.cpu_hz, mask.cpu_hz);
    EXPECT_EQ(choices.cpu_cores, mask.cpu_cores);
  }
  EXPECT_TRUE(found);
  EXPECT_FALSE(choices.cpu_hz.empty());
  EXPECT_EQ(choices.modes.size(), source.known->configuration.modes.size());
  EXPECT_THAT(choices.batches, ElementsAre(8, 16, 32, 64, 128, 256));
  EXPECT_THAT(choices.dtypes, ElementsAre(DType::fp16, DType::int8));  // bf16 costs as fp16
}

TEST(Choices, NothingBeatsTheIdealRuntime) {
  const MachineSource source = orin();
  Setting now{source.point, 1, DType::fp16, Runtime::torch_eager};
  EXPECT_THAT(choices_for(source, now).runtimes,
              ElementsAre(Runtime::tensorrt, Runtime::torch_compiled, Runtime::cuda_graph));
  now.runtime = Runtime::ideal;
  EXPECT_THAT(choices_for(source, now).runtimes, IsEmpty());
}

// TF32 exists from Ampere on, and only TensorRT takes it for all products in fp32.
TEST(Choices, Tf32IsNotedWhereItRuns) {
  const MachineModel orin_model = model_of("jetson-agx-orin-64gb");
  EXPECT_THAT(tf32_note(orin_model, DType::fp32, Runtime::tensorrt), ::testing::HasSubstr("TF32"));
  EXPECT_EQ(tf32_note(orin_model, DType::fp16, Runtime::tensorrt), "");
  EXPECT_EQ(tf32_note(orin_model, DType::fp32, Runtime::torch_eager), "");
  EXPECT_EQ(tf32_note(model_of("jetson-agx-xavier"), DType::fp32, Runtime::tensorrt), "");
}

// Orin has no units for FP8: it runs in 16 bits.
TEST(Choices, ATypeWithoutUnitsRunsInTheNextWiderOne) {
  const MachineModel orin_model = model_of("jetson-agx-orin-64gb");
  EXPECT_EQ(runnable_dtype(orin_model, DType::fp16), DType::fp16);
  const DType wide = runnable_dtype(orin_model, DType::fp8);
  EXPECT_TRUE(wide == DType::fp16 || wide == DType::bf16) << to_string(wide);
  // Xavier has no bf16 either.
  EXPECT_THAT(
      choices_for(
          machine_source({.on = "jetson-agx-xavier", .mode = "", .jetpack = "", .threads = {}}), {})
          .dtypes,
      ElementsAre(DType::fp16, DType::int8));
}

}  // namespace
}  // namespace ridgeline::testing
