// NVML through a stub library: readings, missing functions and failures.
#include "devices/sensors/nvml.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

const std::string present = build_file("tests/libridgeline_test_nvml.so");
const std::string old = build_file("tests/libridgeline_test_nvml_old.so");
const std::string bus_id = "0000:01:00.0";

class NvmlTest : public ::testing::Test {
 protected:
  ~NvmlTest() override { unsetenv("RIDGELINE_TEST_NVML"); }
  // Functions to fail, as "function=code" words.
  static void fail(const std::string& words) { setenv("RIDGELINE_TEST_NVML", words.c_str(), 1); }
  std::shared_ptr<Nvml> open(const std::string& library = present) {
    return Nvml::open(bus_id, why_, library);
  }
  std::unique_ptr<PowerSensor> sensor(const std::string& library = present) {
    SensorPlace place;
    place.nvml = open(library);
    place.no_nvml = why_;
    OpenedSensor opened = open_nvml_sensor(place);
    why_ = opened.why_not;
    return std::move(opened.sensor);
  }
  std::string why_;
};

TEST_F(NvmlTest, TellsWhatTheGpuDoes) {
  const auto nvml = open();
  ASSERT_TRUE(nvml) << why_;
  EXPECT_DOUBLE_EQ(nvml->power_w().value.value(), 31.5);
  EXPECT_DOUBLE_EQ(nvml->sm_clock_hz().value.value(), 1395e6);
  EXPECT_DOUBLE_EQ(nvml->memory_clock_hz().value.value(), 5001e6);
  EXPECT_DOUBLE_EQ(nvml->power_limit_w().value.value(), 70);
  EXPECT_DOUBLE_EQ(nvml->temperature_c().value.value(), 47);
  EXPECT_DOUBLE_EQ(nvml->load().value.value(), 0.12);
  EXPECT_EQ(nvml->processes().value.value(), 3);
  EXPECT_DOUBLE_EQ(nvml->power_limits().value.value().least_w, 60);
  EXPECT_DOUBLE_EQ(nvml->power_limits().value.value().most_w, 75);
  EXPECT_EQ(throttle_text(nvml->throttle_reasons().value.value()), "power cap, heat, by hardware");
  const double before = nvml->energy_j().value.value();
  EXPECT_NEAR(nvml->energy_j().value.value() - before, 0.315, 1e-9);
}

TEST_F(NvmlTest, FindsTheGpuByItsPlaceOnTheBus) {
  EXPECT_FALSE(Nvml::open("0000:02:00.0", why_, present));
  EXPECT_EQ(why_, "no such GPU");
  EXPECT_TRUE(Nvml::open("", why_, present)) << "the first one";
}

TEST_F(NvmlTest, IsGivenBack) {
  void* const library = dlopen(present.c_str(), RTLD_NOW);
  ASSERT_TRUE(library);
  const auto users = reinterpret_cast<int (*)()>(dlsym(library, "ridgeline_test_nvml_users"));
  {
    const auto nvml = open();
    EXPECT_EQ(users(), 1);
  }
  EXPECT_EQ(users(), 0);
  fail("nvmlDeviceGetHandleByPciBusId_v2=4");
  EXPECT_FALSE(open());
  EXPECT_EQ(users(), 0) << "also where the GPU cannot be asked";
  dlclose(library);
}

TEST_F(NvmlTest, SaysWhyItCannotBeAsked) {
  EXPECT_FALSE(open("libno-such-library.so.1"));
  EXPECT_EQ(why_, "libno-such-library.so.1 is not installed");
  const std::pair<const char*, const char*> faults[] = {
      {"nvmlInit_v2=9", "the NVIDIA driver is not loaded"},
      {"nvmlInit_v2=18", "library and driver are of different versions"},
      {"nvmlInit_v2=999", "NVML error 999"},
      {"nvmlDeviceGetHandleByPciBusId_v2=4", "no permission"},
      {"nvmlDeviceGetHandleByPciBusId_v2=15", "the GPU is lost"}};
  for (const auto& [words, reason] : faults) {
    fail(words);
    EXPECT_FALSE(open()) << words;
    EXPECT_EQ(why_, reason);
  }
}

TEST_F(NvmlTest, AFunctionThatIsMissingLacksAnAnswer) {
  const auto nvml = open(old);
  ASSERT_TRUE(nvml) << why_;
  EXPECT_FALSE(nvml->energy_j().value);
  EXPECT_EQ(nvml->energy_j().why, "the driver is too old for it");
  EXPECT_EQ(throttle_text(nvml->throttle_reasons().value.value()), "power cap, heat, by software")
      << "by the older name of the question";
}

TEST_F(NvmlTest, SensorCountsEnergyWhereItCan) {
  const auto counter = sensor();
  ASSERT_TRUE(counter) << why_;
  EXPECT_EQ(counter->facts().name, "NVML energy counter");
  EXPECT_TRUE(counter->read().energy_j);
  const auto plain = sensor(old);
  ASSERT_TRUE(plain) << why_;
  EXPECT_EQ(plain->facts().name, "NVML");
  EXPECT_DOUBLE_EQ(plain->read().power_w.value(), 31.5);
}

TEST_F(NvmlTest, AJetsonHasNoSensorHere) {
  fail("nvmlDeviceGetPowerUsage=3 nvmlDeviceGetTotalEnergyConsumption=3");
  EXPECT_FALSE(sensor());
  EXPECT_EQ(why_, "no power: this GPU does not support it");
}

TEST_F(NvmlTest, AGpuThatIsLostIsAnError) {
  const auto counter = sensor();
  ASSERT_TRUE(counter) << why_;
  fail("nvmlDeviceGetTotalEnergyConsumption=15");
  try {
    counter->read();
    FAIL() << "a reading of a GPU that is lost";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("NVML energy counter: the GPU is lost"));
  }
}

TEST(ThrottleReasons, IdlenessAndSettingsAreNone) {
  EXPECT_EQ(throttle_text(0x01 | 0x02 | 0x10 | 0x100), "");
  EXPECT_EQ(throttle_text(0x88), "hardware slowdown, power brake");
}

}  // namespace
}  // namespace ridgeline::testing
