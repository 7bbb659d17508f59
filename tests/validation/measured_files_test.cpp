// Outputs of trtexec, tegrastats and jtop as measured values: the run is found between idle time
// before and after it, and what cannot be used is said.
#include "validation/measured_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

PowerRecord one_rail() {
  PowerRecord record;
  record.channels = {{"VDD_IN", true, 0.43, 0}};
  return record;
}

// Ten readings a second.
void add_seconds(PowerRecord& record, double seconds, double watt) {
  for (int i = 0; i < static_cast<int>(10 * seconds); ++i)
    record.samples.push_back({0.1 * static_cast<double>(record.samples.size()), {watt}});
}

TEST(MeasuredFiles, PowerIsThatOfTheRunAlone) {
  PowerRecord record = one_rail();
  add_seconds(record, 5, 4.8);  // idle
  add_seconds(record, 1, 8);    // the sensor follows
  add_seconds(record, 20, 10.2);
  add_seconds(record, 4, 4.9);
  const BusyPower power = busy_power(record, "power.log");
  EXPECT_NEAR(power.power_w, 10.2, 1e-9);
  EXPECT_NEAR(power.seconds, 20, 0.5);
  EXPECT_GT(power.left_out, 90u);
}

TEST(MeasuredFiles, ADipDoesNotEndTheRun) {
  PowerRecord record = one_rail();
  add_seconds(record, 5, 5);
  add_seconds(record, 10, 10);
  add_seconds(record, 0.1, 5);
  add_seconds(record, 10, 10);
  EXPECT_NEAR(busy_power(record, "power.log").seconds, 18.8, 0.3);
}

TEST(MeasuredFiles, ASteadyLogIsTheRun) {
  PowerRecord record = one_rail();
  for (int i = 0; i < 50; ++i) record.samples.push_back({0.1 * i, {9.8 + 0.4 * (i % 2)}});
  const BusyPower power = busy_power(record, "power.log");
  EXPECT_NEAR(power.power_w, 10, 1e-9);
  EXPECT_EQ(power.left_out, 0u);
}

TEST(MeasuredFiles, AShortRunInALongLogIsFound) {
  PowerRecord record = one_rail();
  add_seconds(record, 60, 5);
  add_seconds(record, 4, 12);
  add_seconds(record, 36, 5);
  EXPECT_NEAR(busy_power(record, "power.log").power_w, 12, 1e-9);
}

TEST(MeasuredFiles, ReadingsThatStandOutAreNoRun) {
  PowerRecord record = one_rail();
  for (int i = 0; i < 8; ++i) {
    add_seconds(record, 10, 10);
    add_seconds(record, 0.1, 14);
  }
  EXPECT_EQ(busy_power(record, "power.log").left_out, 0u);
}

TEST(MeasuredFiles, TooLittleIsSaid) {
  PowerRecord record = one_rail();
  add_seconds(record, 0.3, 9);
  try {
    busy_power(record, "power.log");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 readings"));
    EXPECT_EQ(error.code(), ExitCode::incomplete);
  }
  PowerRecord unknown = one_rail();
  unknown.channels[0].in_sum = false;
  add_seconds(unknown, 5, 9);
  EXPECT_THROW(busy_power(unknown, "power.log"), Error);
}

TEST(MeasuredFiles, FilesOfTools) {
  const TemporaryDirectory folder;
  folder.write("time.log",
               "&&&& RUNNING TensorRT.trtexec [TensorRT v100300] # trtexec\n"
               "[I] GPU Compute Time: min = 6.0 ms, max = 7 ms, mean = 6.2 ms, median = 6.13 ms, "
               "percentile(90%) = 6.3 ms\n");
  EXPECT_DOUBLE_EQ(measured_time_s(folder.file("time.log")), 6.13e-3);
  folder.write("layers.json",
               R"([{"count": 100}, {"name": "conv", "timeMs": 10, "averageMs": 0.1}])");
  EXPECT_THROW(measured_time_s(folder.file("layers.json")), Error) << "layers only";
  std::string tegrastats, jtop = "time,uptime,Power VDD_IN,Power VDD_SOC\n";
  for (int i = 0; i < 30; ++i) {
    const int milliwatt = i < 8 ? 4760 : 10200;
    tegrastats += fmt::format(
        "03-14-2024 09:26:{:02} RAM 1/2MB (lfb 1x4MB) SWAP 0/1MB (cached 0MB) CPU [1%@729] "
        "GR3D_FREQ 0% VDD_IN {}mW/5000mW VDD_CPU_GPU_CV 520mW/510mW VDD_SOC 1440mW/1430mW\n",
        i, milliwatt);
    jtop += fmt::format("2024-03-14 09:26:{:02}.0,{},{},1440\n", i, i, milliwatt);
  }
  folder.write("tegrastats.log", tegrastats);
  EXPECT_NEAR(measured_power(folder.file("tegrastats.log")).power_w, 10.2, 1e-9);
  folder.write("jtop.csv", jtop);
  EXPECT_NEAR(measured_power(folder.file("jtop.csv")).power_w, 10.2, 1e-9);
}

}  // namespace
}  // namespace ridgeline::testing
