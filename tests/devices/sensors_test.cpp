// Power sensors on made-up systems: rails of several board generations, energy counters, which of
// them is chosen, and the reason given if there is none.
#include "devices/sensors/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "devices/sensors/nvml.h"
#include "devices/sensors/rails.h"
#include "tests/support/fake_system.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

struct Channel {
  const char* label;
  int millivolt, milliampere;
};

void write_ina3221(FakeSystem& system, const std::string& folder,
                   std::initializer_list<Channel> channels, int shunt_microohm) {
  system.write(folder + "name", "ina3221\n");
  system.write(folder + "update_interval", "430\n");
  int number = 0;
  for (const Channel& channel : channels) {
    const std::string n = std::to_string(++number);
    system.write(folder + "in" + n + "_label", std::string(channel.label) + "\n");
    system.write(folder + "in" + n + "_input", std::to_string(channel.millivolt) + "\n");
    system.write(folder + "curr" + n + "_input", std::to_string(channel.milliampere) + "\n");
    system.write(folder + "shunt" + n + "_resistor", std::to_string(shunt_microohm) + "\n");
  }
}

// Readings of an idle AGX Orin.
void make_agx_orin(FakeSystem& system) {
  system.write("proc/device-tree/compatible",
               std::string("nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0", 46));
  system.write("etc/nv_tegra_release", "# R35 (release), REVISION: 4.1\n");
  write_ina3221(
      system, "sys/class/hwmon/hwmon3/",
      {{"VDD_GPU_SOC", 19912, 180}, {"VDD_CPU_CV", 19912, 20}, {"VIN_SYS_5V0", 5016, 784}}, 2000);
  write_ina3221(system, "sys/class/hwmon/hwmon4/",
                {{"NC", 0, 0}, {"VDDQ_VDD2_1V8AO", 5016, 120}, {"NC", 0, 0}}, 2000);
}

TEST(Rails, AreFoundByChipAndLabel) {
  FakeSystem system;
  make_agx_orin(system);
  system.write("sys/class/hwmon/hwmon0/name", "tmp451\n");
  system.write("sys/class/hwmon/hwmon0/in1_label", "VDD_OF_SOMETHING_ELSE\n");
  const std::vector<Rail> rails = find_rails(system.root());
  ASSERT_EQ(rails.size(), 4U);
  EXPECT_EQ(rails[0].label, "VDD_GPU_SOC");
  EXPECT_NEAR(read_w(system.root(), rails[0]).value(), 3.584, 0.001);
  EXPECT_NEAR(rails[0].step_w, 0.4, 0.01) << "20 mA at 19.9 V";
  EXPECT_DOUBLE_EQ(rails[0].lag_s, 0.43);
  EXPECT_NEAR(rails[2].step_w, 0.1, 0.001);
}

TEST(Rails, OfThorAndOfJetPack4) {
  FakeSystem thor;
  thor.write("sys/class/hwmon/hwmon2/name", "ina238\n");
  thor.write("sys/class/hwmon/hwmon2/label", "VIN\n");
  thor.write("sys/class/hwmon/hwmon2/power1_input", "36487000\n");
  ASSERT_EQ(find_rails(thor.root()).size(), 1U);
  EXPECT_NEAR(read_w(thor.root(), find_rails(thor.root())[0]).value(), 36.487, 1e-9);
  FakeSystem nano;
  const std::string folder = "sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0/";
  nano.write(folder + "rail_name_0", "POM_5V_IN\n");
  nano.write(folder + "in_power0_input", "2410\n");
  nano.write(folder + "rail_name_1", "POM_5V_GPU\n");
  nano.write(folder + "in_power1_input", "-39\n");
  const std::vector<Rail> rails = find_rails(nano.root());
  ASSERT_EQ(rails.size(), 2U);
  EXPECT_NEAR(read_w(nano.root(), rails[0]).value(), 2.41, 1e-9);
  EXPECT_NEAR(read_w(nano.root(), rails[1]).value(), -0.039, 1e-9) << "with its sign";
}

TEST(Rails, ThatDoNotAnswerAreLeftOut) {
  FakeSystem system;
  write_ina3221(system, "sys/class/hwmon/hwmon1/", {{"VDD_IN", 5000, 800}, {"VDD_SOC", 5000, 1}},
                5000);
  system.write("sys/class/hwmon/hwmon1/curr2_input", "garbage\n");
  system.write("sys/class/hwmon/hwmon1/in3_input", "4968\n");  // without a label
  const std::vector<Rail> rails = find_rails(system.root());
  ASSERT_EQ(rails.size(), 1U);
  EXPECT_EQ(rails[0].label, "VDD_IN");
}

TEST(BoardSensor, AddsTheRailsThatMakeUpTheBoard) {
  FakeSystem system;
  make_agx_orin(system);
  const FoundSensor found = find_power_sensor(Processor::gpu, {system.root(), nullptr, "not here"});
  ASSERT_TRUE(found.sensor) << found.why_not;
  EXPECT_EQ(found.sensor->facts().name, "INA3221 VDD_GPU_SOC + VDD_CPU_CV + VIN_SYS_5V0");
  EXPECT_NEAR(found.sensor->read().power_w.value(), 3.584 + 0.398 + 3.933, 0.001)
      << "VDDQ is inside of VIN_SYS_5V0";
  EXPECT_NEAR(found.sensor->facts().step_w, 0.572, 0.01);
}

TEST(BoardSensor, FollowsARailToItsNewNumber) {
  FakeSystem system;
  make_agx_orin(system);
  const FoundSensor found = find_power_sensor(Processor::cpu, {system.root()});
  ASSERT_TRUE(found.sensor) << found.why_not;
  write_ina3221(system, "sys/class/hwmon/hwmon9/",
                {{"VDD_GPU_SOC", 20000, 200}, {"VDD_CPU_CV", 20000, 0}, {"VIN_SYS_5V0", 5000, 0}},
                2000);
  system.write("sys/class/hwmon/hwmon3/name", "tmp451\n");
  for (const char* file : {"curr1_input", "curr2_input", "curr3_input"})
    system.write(std::string("sys/class/hwmon/hwmon3/") + file, "\n");
  EXPECT_NEAR(found.sensor->read().power_w.value(), 4.0, 1e-9);
  system.write("sys/class/hwmon/hwmon9/curr2_input", "\n");
  EXPECT_THROW(found.sensor->read(), Error);
}

TEST(BoardSensor, SaysWhichRailIsMissing) {
  FakeSystem system;
  make_agx_orin(system);
  system.write("sys/class/hwmon/hwmon3/in2_label", "NC\n");
  const FoundSensor found = find_power_sensor(Processor::gpu, {system.root(), nullptr, "not here"});
  EXPECT_FALSE(found.sensor);
  EXPECT_EQ(found.why_not, "NVML: not here; rails: rail VDD_CPU_CV is missing or cannot be read");
}

TEST(BoardSensor, IsTakenWhereNvmlHasNoPower) {
  FakeSystem system;
  make_agx_orin(system);
  setenv("RIDGELINE_TEST_NVML", "nvmlDeviceGetPowerUsage=3 nvmlDeviceGetTotalEnergyConsumption=3",
         1);
  std::string why;
  const auto nvml = Nvml::open("", why, build_file("tests/libridgeline_test_nvml.so"));
  const FoundSensor found = find_power_sensor(Processor::gpu, {system.root(), nvml});
  unsetenv("RIDGELINE_TEST_NVML");
  ASSERT_TRUE(found.sensor) << found.why_not;
  EXPECT_THAT(found.sensor->facts().name, HasSubstr("INA3221"));
  EXPECT_EQ(find_power_sensor(Processor::gpu, {system.root(), nvml}).sensor->facts().name,
            "NVML energy counter");
}

TEST(Rapl, AddsPackagesAndCorrectsWraps) {
  FakeSystem system;
  for (const char* zone : {"intel-rapl:0", "intel-rapl:2"}) {
    const std::string folder = std::string("sys/class/powercap/") + zone;
    system.write(folder + "/energy_uj", "900000\n");
    system.write(folder + "/max_energy_range_uj", "1000000\n");
  }
  system.write("sys/class/powercap/intel-rapl:0:0/energy_uj", "77\n");
  const FoundSensor found = find_power_sensor(Processor::cpu, {system.root()});
  ASSERT_TRUE(found.sensor) << found.why_not;
  EXPECT_EQ(found.sensor->facts().name, "RAPL, 2 packages");
  EXPECT_NEAR(found.sensor->read().energy_j.value(), 0, 1e-9);
  system.write("sys/class/powercap/intel-rapl:0/energy_uj", "100000\n");  // wrapped
  system.write("sys/class/powercap/intel-rapl:2/energy_uj", "950000\n");
  EXPECT_NEAR(found.sensor->read().energy_j.value(), 0.2 + 0.05, 1e-9);
}

TEST(Rapl, ThatOnlyRootMayReadIsSaidSo) {
  FakeSystem system;
  make_laptop(system);
  system.protect("sys/class/powercap/intel-rapl:0/energy_uj");
  const OrdinaryUser user;
  const FoundSensor found = find_power_sensor(Processor::cpu, {system.root()});
  EXPECT_FALSE(found.sensor);
  EXPECT_THAT(found.why_not, HasSubstr("RAPL: the RAPL energy counters may not be read"));
}

TEST(Sensors, AMachineWithoutAnySaysSo) {
  FakeSystem system;
  EXPECT_EQ(find_power_sensor(Processor::cpu, {system.root()}).why_not,
            "rails: not a Jetson; RAPL: no RAPL energy counters here");
}

}  // namespace
}  // namespace ridgeline::testing
