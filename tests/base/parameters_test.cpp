// The table of parameters: every name belongs to one row, misspelt names to none, and family names
// are parsed as declared.
#include "base/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/base/error_line.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(Parameters, RowsAreComplete) {
  std::set<std::string_view> units, names;
  for (const ParameterRow& row : parameter_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.unit.empty()) << row.name;
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    units.insert(row.unit);
  }
  EXPECT_THAT(
      units, ElementsAre("1", "B", "B/clock", "B/s", "FLOP/clock", "Hz", "J/B", "J/FLOP", "J/clock",
                         "V", "W", "clocks", "elements/clock", "s", "taps/clock"));
}

TEST(Parameters, EveryNameBelongsToOneRow) {
  std::map<std::string, std::string_view> owners;
  for (const ParameterRow& row : parameter_rows())
    for (const std::string& name : example_names(row)) {
      EXPECT_TRUE(owners.emplace(name, row.name).second) << name << " is also " << owners[name];
      ASSERT_NE(find_parameter_row(name), nullptr) << name;
      EXPECT_EQ(find_parameter_row(name)->name, row.name) << name;
    }
}

TEST(Parameters, MisspeltNamesAreErrors) {
  for (const char* name :
       {"", "gpu", "gpu_", "board_offset", "my_board_offset_w", "gpu_l2_byte", "cpu_l4_bytes",
        "cpux_l2_bytes", "gpu_depthwise_taps_per_core_clock", "cpu_pool_taps_per_sm_clock",
        "ideal_matmul_fp16_efficiency", "gpu_matmul_fp12_efficiency", "resnet_kernel_time_scale",
        "idle_at__mhz_w", "gpu_matrix_fp16_fp32_op_per_sm_clock", "{engine}_cache_share"}) {
    EXPECT_EQ(find_parameter_row(name), nullptr) << name;
    EXPECT_NE(error_line([&] { parameter_row(name, "f.json"); }), "no error") << name;
  }
  EXPECT_EQ(error_line([] { parameter_row("tensorrt_lunch_clocks", "f.json"); }),
            "f.json: \"tensorrt_lunch_clocks\" is not a parameter of a machine model; did you mean "
            "\"tensorrt_launch_clocks\"?");
}

TEST(Parameters, FamiliesAreTakenApart) {
  EXPECT_THAT(family_words(families::cluster_cores, "cpu12_cores"), Optional(ElementsAre("12")));
  EXPECT_THAT(family_words(families::idle_at_clock, "idle_at_1110.5_mhz_w"),
              Optional(ElementsAre("1110.5")));
  EXPECT_THAT(family_words(families::matmul_efficiency, "torch_compiled_matmul_fp16_efficiency"),
              Optional(ElementsAre("torch_compiled", "fp16")));
  EXPECT_EQ(family_words(families::cluster_cores, "cpu_l2_bytes"), std::nullopt);
  EXPECT_EQ(family_words(families::gpu_cache, "memory_bytes"), std::nullopt);
}

TEST(Parameters, BehaviourIsDeclared) {
  const auto row = [](const char* name) { return parameter_row(name, ""); };
  EXPECT_EQ(row("board_offset_w").distribution, Distribution::normal);
  EXPECT_EQ(row("wall_offset_w").distribution, Distribution::normal);
  EXPECT_EQ(row("gpu_multiprocessors").distribution, Distribution::fixed);
  EXPECT_EQ(row("tensorrt_kernel_time_scale").scope, Scope::network);
  EXPECT_EQ(row("host_time_scale").scope, Scope::network);
  EXPECT_EQ(row("tensorrt_launch_clocks").scope, Scope::runtime);
  EXPECT_EQ(row("gpu_voltage_floor_ratio").if_absent, 1);
}

}  // namespace
}  // namespace ridgeline::testing
