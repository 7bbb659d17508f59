// What can be set, read and run, on made-up systems.
// Permissions are tested as an ordinary user, even if root runs the tests.
#include "devices/machine/abilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices/modes/present_mode.h"
#include "devices/sensors/sensors.h"
#include "tests/support/fake_system.h"

namespace ridgeline::testing {
namespace {

using Kind = Ability::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Abilities, OfALaptopAsOrdinaryUser) {
  FakeSystem system;
  make_laptop(system);
  system.protect("sys/class/powercap/intel-rapl:0/energy_uj");
  system.protect("sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw");
  const OrdinaryUser user;
  const auto abilities = system_abilities(system.root());
  ASSERT_EQ(abilities.size(), 4U);
  EXPECT_EQ(abilities[0].name, "CPU clock");
  EXPECT_EQ(abilities[1],
            (Ability{Kind::set, "power cap", false, "RAPL, per package; only root may set it",
                     "run ridgeline with sudo"}));
  EXPECT_EQ(abilities[2],
            (Ability{Kind::read, "CPU power", false, "RAPL, 1 package; only root may read it",
                     "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"}));
  EXPECT_EQ(abilities[3], (Ability{Kind::read, "performance counters", false,
                                   "perf_event_paranoid = 4, which shuts ordinary users out",
                                   "sudo sysctl kernel.perf_event_paranoid=2"}));
}

TEST(Abilities, ClockThatOnlyRootMaySet) {
  FakeSystem system;
  make_laptop(system);
  system.protect("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq");
  const OrdinaryUser user;
  EXPECT_EQ(system_abilities(system.root())[0],
            (Ability{Kind::set, "CPU clock", false,
                     "400 MHz to 4.70 GHz, governor powersave; only root may set it",
                     "run ridgeline with sudo"}));
}

TEST(Abilities, WhatTheOwnerOfTheFilesMayDo) {
  FakeSystem system;
  make_laptop(system);
  const auto abilities = system_abilities(system.root());
  EXPECT_EQ(abilities[0],
            (Ability{Kind::set, "CPU clock", true, "400 MHz to 4.70 GHz, governor powersave", ""}));
  EXPECT_EQ(abilities[1], (Ability{Kind::set, "power cap", true, "RAPL, per package", ""}));
  EXPECT_EQ(abilities[2], (Ability{Kind::read, "CPU power", true, "RAPL, 1 package", ""}));
}

TEST(Abilities, OfAJetson) {
  FakeSystem system;
  make_jetson(system);
  const auto abilities = system_abilities(system.root());
  ASSERT_EQ(abilities.size(), 4U);
  EXPECT_EQ(abilities[1].name, "power mode");
  EXPECT_EQ(abilities[2],
            (Ability{Kind::read, "board power", true, "INA3221: VDD_IN, VDD_CPU_GPU_CV", ""}));
  EXPECT_EQ(abilities[3],
            (Ability{Kind::read, "performance counters", true, "perf_event_paranoid = 2", ""}));
}

Ability named(const SystemRoot& root, const std::string& name) {
  for (const Ability& ability : system_abilities(root))
    if (ability.name == name) return ability;
  return {};
}

TEST(Abilities, BoardPowerNeedsRailsThatCanBeRead) {
  FakeSystem system;
  make_jetson(system);
  system.write("sys/class/hwmon/hwmon1/name", "tmp451\n");
  EXPECT_EQ(named(system.root(), "board power"),
            (Ability{Kind::read, "board power", false, "no INA3221 sensor found",
                     "sudo modprobe ina3221"}));
  system.write("sys/class/hwmon/hwmon1/name", "ina3221\n");
  system.write("sys/class/hwmon/hwmon1/curr1_input", "\n");
  EXPECT_EQ(named(system.root(), "board power").detail, "rail VDD_IN is missing or cannot be read");
}

TEST(Abilities, BoardPowerNeedsACatalogThatKnowsTheRails) {
  FakeSystem system;
  make_jetson(system);
  system.write("proc/device-tree/compatible",
               std::string("nvidia,p9999-0000\0nvidia,tegra999", 33));
  EXPECT_EQ(named(system.root(), "board power").detail,
            "the catalog lacks the rails that make up the power of this machine");
}

// The summary and the measurement use the same list of sensors.
TEST(Abilities, PowerCanBeReadWhereASensorIsFound) {
  FakeSystem laptop, jetson, nothing;
  make_laptop(laptop);
  make_jetson(jetson);
  for (const FakeSystem* system : {&laptop, &jetson, &nothing}) {
    bool can_read = false;
    for (const SensorKind& kind : sensor_kinds())
      can_read = can_read || named(system->root(), kind.quantity).available;
    EXPECT_EQ(can_read, find_power_sensor(Processor::cpu, {system->root()}).sensor != nullptr);
  }
}

TEST(Abilities, OfAnEmptySystemAllSayWhy) {
  const FakeSystem system;
  for (const Ability& ability : system_abilities(system.root())) {
    EXPECT_FALSE(ability.available) << ability.name;
    EXPECT_THAT(ability.detail, Not(IsEmpty())) << ability.name;
  }
}

TEST(PresentMode, OfALaptop) {
  FakeSystem system;
  make_laptop(system);
  const OperatingPoint mode = present_mode(system.root());
  EXPECT_EQ(mode.label, "as found");
  EXPECT_EQ(mode.cpu_cores, 5);
  EXPECT_THAT(mode.cpu_hz, ElementsAre(4.7e9, 3.5e9, 1e9));
  EXPECT_DOUBLE_EQ(mode.cap_w.value_or(0), 28);
  EXPECT_FALSE(mode.gpu_hz);
}

TEST(PresentMode, OfAJetsonHasTheNameOfItsMode) {
  FakeSystem system;
  make_jetson(system);
  const OperatingPoint mode = present_mode(system.root());
  EXPECT_EQ(mode.label, "15W");
  EXPECT_EQ(mode.cpu_cores, 6);
  EXPECT_EQ(mode.gpu_hz, 624.75e6);
  EXPECT_FALSE(mode.memory_hz);
  system.write("sys/kernel/nvpmodel_clk_cap/emc", "2133000000\n");
  EXPECT_EQ(present_mode(system.root()).memory_hz, 2133e6);
  system.write("sys/kernel/nvpmodel_clk_cap/emc", "9223372036854775807\n");
  EXPECT_FALSE(present_mode(system.root()).memory_hz) << "no cap";
  system.write("var/lib/nvpmodel/status", "pmode:0007 fmode:fanNull\n");
  EXPECT_EQ(present_mode(system.root()).label, "nvpmodel 7");
  system.write("etc/nvpmodel.conf", "< POWER_MODEL ID=7 NAME=MODE_30W >\n");
  EXPECT_EQ(present_mode(system.root()).label, "30W");
}

TEST(PresentMode, OfAnEmptySystem) {
  const FakeSystem system;
  EXPECT_EQ(present_mode(system.root()), (OperatingPoint{"as found", {}, {}, {}, {}, {}, {}}));
}

}  // namespace
}  // namespace ridgeline::testing
