// What a GPU does beside its kernels, from the files of Jetsons of several JetPack releases and
// from a stub of NVML.
#include "devices/sensors/gpu_watch.h"

#include <gtest/gtest.h>

#include "tests/support/fake_system.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

TEST(GpuWatch, ReadsTheFilesOfJetPack6) {
  FakeSystem system;
  system.write("sys/class/devfreq/17000000.gpu/cur_freq", "612000000\n");
  system.write("sys/devices/platform/gpu.0/load", "137\n");
  system.write("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
  system.write("sys/class/thermal/thermal_zone0/temp", "51000\n");
  system.write("sys/class/thermal/thermal_zone1/type", "gpu-thermal\n");
  system.write("sys/class/thermal/thermal_zone1/temp", "48250\n");
  system.write("sys/kernel/debug/bpmp/debug/clk/emc/rate", "2133000000\n");
  system.write("sys/class/hwmon/hwmon3/name", "soctherm_oc\n");
  system.write("sys/class/hwmon/hwmon3/oc1_event_cnt", "2\n");
  system.write("sys/class/hwmon/hwmon3/oc3_event_cnt", "40\n");
  const GpuState state = GpuWatch(nullptr, system.root()).read();
  EXPECT_EQ(state.clock_hz, 612e6);
  EXPECT_EQ(state.memory_hz, 2133e6);
  EXPECT_EQ(state.load, 0.137);
  EXPECT_EQ(state.temperature_c, 48.25);
  EXPECT_EQ(state.over_currents, 42);
  EXPECT_FALSE(state.power_w);
  EXPECT_FALSE(state.processes);
}

TEST(GpuWatch, ReadsTheFilesOfOlderAndNewerReleases) {
  FakeSystem xavier;
  xavier.write("sys/class/devfreq/17000000.gv11b/cur_freq", "1109250000\n");
  xavier.write("sys/devices/gpu.0/load", "1000\n");
  xavier.write("sys/class/thermal/thermal_zone2/type", "GPU-therm\n");
  xavier.write("sys/class/thermal/thermal_zone2/temp", "39500\n");
  const GpuState old = GpuWatch(nullptr, xavier.root()).read();
  EXPECT_EQ(old.clock_hz, 1109.25e6);
  EXPECT_EQ(old.load, 1);
  EXPECT_EQ(old.temperature_c, 39.5);
  EXPECT_FALSE(old.memory_hz);
  EXPECT_FALSE(old.over_currents);

  FakeSystem thor;
  thor.write("sys/class/devfreq/gpu-gpc-0/cur_freq", "1575000000\n");
  thor.write("sys/class/devfreq/bwmgr/cur_freq", "4266000000\n");
  const GpuState state = GpuWatch(nullptr, thor.root()).read();
  EXPECT_EQ(state.clock_hz, 1575e6);
  EXPECT_EQ(state.memory_hz, 4266e6);
  EXPECT_FALSE(state.load);
}

// Zones that fail to read, words in place of numbers, absurd values: absent, not zero.
TEST(GpuWatch, WhatMakesNoSenseIsAbsent) {
  FakeSystem system;
  system.write("sys/class/devfreq/17000000.gpu/cur_freq", "fast\n");
  system.write("sys/devices/platform/gpu.0/load", "5000\n");
  system.write("sys/class/thermal/thermal_zone1/type", "gpu-thermal\n");
  system.write("sys/class/thermal/thermal_zone1/temp", "-256000\n");
  const GpuState state = GpuWatch(nullptr, system.root()).read();
  EXPECT_FALSE(state.clock_hz);
  EXPECT_FALSE(state.load);
  EXPECT_FALSE(state.temperature_c);
  FakeSystem laptop;
  make_laptop(laptop);
  const GpuState none = GpuWatch(nullptr, laptop.root()).read();
  EXPECT_FALSE(none.clock_hz || none.temperature_c || none.load || none.over_currents);
}

TEST(GpuWatch, AsksNvmlOnCards) {
  std::string why;
  for (const char* library :
       {"tests/libridgeline_test_nvml.so", "tests/libridgeline_test_nvml_old.so"}) {
    const FakeSystem system;
    const auto nvml = Nvml::open("0000:01:00.0", why, build_file(library));
    ASSERT_TRUE(nvml) << why;
    const GpuState state = GpuWatch(nvml, system.root()).read();
    EXPECT_EQ(state.temperature_c, 47);
    EXPECT_DOUBLE_EQ(state.load.value(), 0.12);
    EXPECT_EQ(state.processes, 3);
    EXPECT_EQ(state.clock_hz, 1395e6);
    EXPECT_DOUBLE_EQ(state.power_w.value(), 31.5);
    EXPECT_NE(state.held_by, 0u);
  }
}

}  // namespace
}  // namespace ridgeline::testing
