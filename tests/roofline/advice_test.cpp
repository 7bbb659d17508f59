// Advice on costs in closed form: which changes are kept, in which order, and their text.
#include "roofline/explain/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A host that takes 10 ms per run at any batch, a GPU that takes 1 ms per sample at 1 GHz, 10 W of
// power and 10 W more at 1 GHz with a quadratic voltage.
std::optional<Cost> cost_of(const Setting& setting) {
  const double ghz = setting.point.gpu_hz.value_or(1e9) * 1e-9;
  const double host = setting.runtime == Runtime::tensorrt ? 1e-3 : 10e-3;
  const double width = setting.dtype == DType::int8 ? 0.25 : setting.dtype == DType::fp16 ? 0.5 : 1;
  const double gpu = static_cast<double>(setting.batch) * width * 1e-3 / ghz;
  const double time = std::max(host, gpu);
  return Cost{time, time * 10 + gpu * 10 * ghz * ghz * ghz};
}

Setting now() {
  Setting setting;
  setting.point.label = "A";
  setting.point.gpu_hz = 1e9;
  setting.point.cpu_cores = 4;
  setting.runtime = Runtime::torch_eager;
  return setting;
}

std::vector<std::string> changes(const std::vector<Advice>& advice) {
  std::vector<std::string> texts;
  for (const Advice& each : advice) texts.push_back(each.change);
  return texts;
}

TEST(Advice, GainsArePerSample) {
  Choices choices;
  choices.batches = {2};
  const auto advice = advise(now(), choices, cost_of);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].change, "batch 2 instead of 1");
  EXPECT_DOUBLE_EQ(advice[0].time_gain, 0.5);
  // 0.11 J for one sample, 0.12 J for two.
  EXPECT_NEAR(*advice[0].energy_gain, 1 - 0.06 / 0.11, 1e-12);
  EXPECT_EQ(to_text(advice[0]), "batch 2 instead of 1: −50 % time, −45 % energy per sample");
}

TEST(Advice, TheSmallestBatchThatSavesNearlyAll) {
  Choices choices;
  choices.batches = {2, 4, 8, 16, 32, 64};
  const auto advice = advise(now(), choices, cost_of);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].change, "batch 8 instead of 1");
}

TEST(Advice, TheLargestGainFirstAndOnlyWhatHelps) {
  Choices choices;
  choices.batches = {4};
  choices.dtypes = {DType::fp32, DType::fp16};  // hidden behind the host: only energy to gain
  choices.runtimes = {Runtime::tensorrt, Runtime::torch_eager, Runtime::cuda_graph};
  choices.gpu_hz = {0.25e9, 0.5e9, 1e9, 2e9};
  const auto advice = advise(now(), choices, cost_of);
  EXPECT_THAT(
      changes(advice),
      ::testing::ElementsAre("tensorrt instead of torch-eager", "batch 4 instead of 1",
                             "GPU clock 250.0 MHz instead of 1.000 GHz", "fp16 instead of fp32"));
  for (const Advice& each : advice)
    EXPECT_TRUE(each.time_gain > 0 || *each.energy_gain > 0) << each.change;
}

TEST(Advice, TheFastestModeAndTheThriftiest) {
  Setting setting = now();
  setting.batch = 100;  // the GPU takes most of the time
  const auto mode = [](const char* label, double hz) {
    OperatingPoint point;
    point.label = label;
    point.gpu_hz = hz;
    point.cpu_cores = 4;
    return point;
  };
  Choices choices;
  choices.modes = {mode("slow", 0.1e9), mode("A", 1e9), mode("fast", 1.1e9), mode("eco", 0.79e9)};
  // "slow" takes ten times as long, more than its energy saves.
  EXPECT_THAT(changes(advise(setting, choices, cost_of)),
              ::testing::Not(::testing::Contains(HasSubstr("slow"))));
  EXPECT_THAT(changes(advise(setting, choices,
                             [&](const Setting& other) {
                               auto cost = cost_of(other);
                               if (other.point.label == "eco") *cost->energy_j /= 2;
                               if (other.point.label == "fast") *cost->energy_j *= 1.01;
                               return cost;
                             })),
              ::testing::ElementsAre("mode eco instead of A", "mode fast instead of A"));
}

TEST(Advice, WithoutEnergyTimeCounts) {
  Choices choices;
  choices.batches = {2};
  choices.gpu_hz = {0.5e9, 1e9};
  const auto advice = advise(now(), choices, [](const Setting& setting) {
    return std::optional<Cost>({cost_of(setting)->time_s, std::nullopt});
  });
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_FALSE(advice[0].energy_gain);
  EXPECT_EQ(to_text(advice[0]), "batch 2 instead of 1: −50 % time per sample");
}

TEST(Advice, WhatCannotBeRunIsNotAdvised) {
  Choices choices;
  choices.batches = {2, 4};
  const auto only_now = [](const Setting& setting) {
    return setting.batch == 1 ? cost_of(setting) : std::nullopt;
  };
  EXPECT_THAT(advise(now(), choices, only_now), IsEmpty());
  const auto nothing = [](const Setting&) { return std::optional<Cost>(); };
  EXPECT_THAT(advise(now(), choices, nothing), IsEmpty());
}

TEST(Advice, AtMostEight) {
  Choices choices;
  Setting setting = now();
  setting.point.memory_hz = 1e9;
  setting.point.cpu_hz = {1e9};
  choices.batches = {2};
  choices.gpu_hz = choices.memory_hz = choices.cpu_hz = {2e9};
  choices.cpu_cores = {2};
  choices.dtypes = {DType::fp16, DType::fp8, DType::int8, DType::int4};
  choices.runtimes = {Runtime::tensorrt, Runtime::cuda_graph};
  double cost = 1;
  const auto cheaper = [&](const Setting&) { return std::optional<Cost>({cost *= 0.9, {}}); };
  EXPECT_EQ(advise(setting, choices, cheaper).size(), most_advice);
}

}  // namespace
}  // namespace ridgeline::testing
