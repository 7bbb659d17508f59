// Which modes a sweep goes through on boards of each kind, and what it cannot reach; what is
// noticed while it runs.
#include "devices/control/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "devices/control/machine_watch.h"
#include "devices/machine/identification.h"
#include "tests/support/board_trees.h"

namespace ridgeline::testing {
namespace {

using control::SweepPlan;
using ::testing::HasSubstr;

class Sweep : public ::testing::Test {
 protected:
  SweepPlan plan(const std::string& text, const control::SweepSettings& settings = {}) {
    const control::World world(system_.root());
    const Identity identity = identify(system_.root());
    const catalog::Device device = this_device(identity, system_.root());
    return plan_sweep(text, world, control::find_knobs(world), device,
                      present_configuration(identity, device), settings, "--modes");
  }
  std::set<std::string> labels(const SweepPlan& plan) {
    std::set<std::string> all;
    for (const control::SweepMode& mode : plan.modes) all.insert(mode.label);
    return all;
  }
  ExitCode code_of(const std::string& text, const control::SweepSettings& settings = {}) {
    try {
      plan(text, settings);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::ok;
  }
  FakeSystem system_;
};

TEST_F(Sweep, AGridTakesStepsOfTheLiveTables) {
  make_board(system_, board_tree("agx_orin_jp6"));
  const SweepPlan grid = plan("grid:gpu=3,emc=all");
  EXPECT_EQ(grid.modes.size(), 12u);
  EXPECT_TRUE(labels(grid).contains("gpu=306MHz,emc=204MHz"));
  EXPECT_TRUE(labels(grid).contains("gpu=1300.5MHz,emc=3199MHz"));
  EXPECT_TRUE(grid.skipped.empty());
  EXPECT_EQ(plan("grid:gpu=all").modes.size(), 11u);
  EXPECT_EQ(plan("grid:gpu=306MHz/612MHz,cores=4/12").modes.size(), 4u);
}

TEST_F(Sweep, TheOrderIsShuffledAndAlwaysTheSame) {
  make_board(system_, board_tree("agx_orin_jp6"));
  const SweepPlan first = plan("grid:gpu=all,emc=all"), second = plan("grid:gpu=all,emc=all");
  std::vector<std::string> names, again;
  for (const auto& mode : first.modes) names.push_back(mode.label);
  for (const auto& mode : second.modes) again.push_back(mode.label);
  EXPECT_EQ(names, again);
  EXPECT_FALSE(std::is_sorted(names.begin(), names.end()));
}

TEST_F(Sweep, StepsAboveACapAreLeftOutWithANote) {
  make_board(system_, board_tree("xavier_nx_jp5"));
  const SweepPlan grid = plan("grid:emc=all");
  for (const control::SweepMode& mode : grid.modes) EXPECT_LE(*mode.request.memory_hz, 1.6e9);
  ASSERT_FALSE(grid.notes.empty());
  EXPECT_THAT(grid.notes[0], HasSubstr("above the 1600 MHz that the present mode allows"));
}

TEST_F(Sweep, StockModesThatNeedARebootAreListedWithTheCommand) {
  make_board(system_, board_tree("agx_orin_jp6"));
  system_.write("usr/sbin/nvpmodel", "");
  const SweepPlan stock = plan("stock");
  EXPECT_EQ(labels(stock), (std::set<std::string>{"MAXN", "50W"}));
  ASSERT_EQ(stock.skipped.size(), 2u);
  EXPECT_EQ(stock.skipped[0].label, "15W");
  EXPECT_EQ(stock.skipped[0].command, "sudo nvpmodel -m 1 && sudo reboot");
}

TEST_F(Sweep, CoresOfCpuKernelsAreAMatterOfAffinity) {
  make_empty(system_);
  const SweepPlan grid = plan("grid:cores=all", {true, 3});
  EXPECT_EQ(labels(grid), (std::set<std::string>{"cores=1", "cores=2", "cores=3"}));
  for (const control::SweepMode& mode : grid.modes) {
    EXPECT_TRUE(mode.threads);
    EXPECT_FALSE(mode.request.cpu_cores);
  }
}

TEST_F(Sweep, BadGridsAreUsageErrors) {
  make_board(system_, board_tree("agx_orin_jp6"));
  for (const char* text : {"grid:", "grid:gpu", "grid:gpu=", "grid:gpu=0", "grid:sm=all",
                           "grid:gpu=123MHz", "grid:cores=99", "42W", "gpu=9GHz"})
    EXPECT_EQ(code_of(text), ExitCode::usage) << text;
  EXPECT_EQ(code_of("grid:gpu=all,emc=all,cpu=all,cores=all"), ExitCode::usage) << "too many";
}

TEST_F(Sweep, AMachineWithoutKnobsHasNothingToSweep) {
  make_empty(system_);
  EXPECT_EQ(code_of("stock"), ExitCode::usage);
  EXPECT_EQ(code_of("grid:gpu=all"), ExitCode::usage);
}

TEST(MachineWatch, ThrottlingIsNoticed) {
  FakeSystem system;
  make_board(system, board_tree("agx_orin_jp6"));
  const std::string zone = "sys/class/thermal/thermal_zone0/";
  system.write(zone + "temp", "50000\n");
  system.write(zone + "trip_point_0_type", "passive\n");
  system.write(zone + "trip_point_0_temp", "85000\n");
  system.write("sys/class/thermal/thermal_zone1/temp", "-256000\n");  // switched off
  system.write("sys/class/hwmon/hwmon9/name", "soctherm_oc\n");
  system.write("sys/class/hwmon/hwmon9/oc3_event_cnt", "5\n");
  const control::World world(system.root());
  const std::string gpu = "sys/class/devfreq/17000000.gpu/";
  for (const char* file : {"min_freq", "max_freq", "cur_freq"})
    system.write(gpu + file, "612000000\n");
  system.write("sys/class/hwmon/hwmon7/pwm1", "51\n");
  system.write("sys/class/hwmon/hwmon7/fan1_input", "1800\n");
  const control::Knobs knobs = control::find_knobs(world);
  control::MachineWatch quiet(world, knobs);
  EXPECT_TRUE(quiet.finish().empty());
  EXPECT_THAT(quiet.seen().throttling,
              ::testing::ElementsAre(ThrottleCount{"oc3", 0}, ThrottleCount{"trip_point", 0},
                                     ThrottleCount{"clock_fell", 0}));
  control::MachineWatch watch(world, knobs);
  system.write(zone + "temp", "86000\n");
  system.write("sys/class/hwmon/hwmon9/oc3_event_cnt", "12\n");
  system.write(gpu + "cur_freq", "510000000\n");
  watch.look();
  system.write(gpu + "cur_freq", "612000000\n");
  const std::vector<Warning> warnings = watch.finish();
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_THAT(warnings[0].text, HasSubstr("oc3 counted 7 over-current events"));
  EXPECT_THAT(warnings[1].text, HasSubstr("86 °C reached the trip point of 85 °C"));
  EXPECT_THAT(warnings[2].text, HasSubstr("fell to 510 MHz of 612 MHz although it was held"));
  const SystemConditions& seen = watch.seen();
  EXPECT_THAT(seen.throttling,
              ::testing::ElementsAre(ThrottleCount{"oc3", 7}, ThrottleCount{"trip_point", 2},
                                     ThrottleCount{"clock_fell", 1}));
  EXPECT_EQ(seen.coolest_c, 50);
  EXPECT_EQ(seen.hottest_c, 86);
  EXPECT_EQ(seen.trip_c, 85);
  EXPECT_DOUBLE_EQ(seen.fan_highest.value_or(0), 0.2);
  EXPECT_EQ(seen.fan_rpm, 1800);
  const auto knob = std::ranges::find(seen.knobs, "gpu", &KnobCondition::knob);
  ASSERT_NE(knob, seen.knobs.end());
  EXPECT_EQ(knob->lowest, 510e6);
  EXPECT_EQ(knob->highest, 612e6);
  EXPECT_TRUE(knob->held);
  EXPECT_EQ(knob->governor, "nvhost_podgov");
}

TEST(MachineWatch, TheKernelSaysWhetherTheGpuIsSuspended) {
  FakeSystem system;
  make_board(system, board_tree("agx_orin_jp6"));
  const control::World world(system.root());
  const control::Knobs knobs = control::find_knobs(world);
  EXPECT_FALSE(control::is_gpu_suspended(world, knobs).has_value());
  const std::string node = "sys/devices/platform/gpu.0/power/runtime_status";
  system.write(node, "active\n");
  EXPECT_EQ(control::is_gpu_suspended(world, knobs), false);
  system.write(node, "suspended\n");
  EXPECT_EQ(control::is_gpu_suspended(world, knobs), true);
  system.write(node, "unsupported\n");
  EXPECT_FALSE(control::is_gpu_suspended(world, knobs).has_value());
}

}  // namespace
}  // namespace ridgeline::testing
