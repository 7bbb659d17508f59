// Power over time: sums without double counting, energy of windows, logs of other tools with all
// their oddities, live channels of every tree, and what reading them costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <time.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "base/error.h"
#include "devices/sensors/power_channels.h"
#include "devices/sensors/power_logs.h"
#include "devices/sensors/power_recorder.h"
#include "tests/support/board_trees.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const double missing = std::numeric_limits<double>::quiet_NaN();

PowerRecord two_rails() {
  return {"test", {{"VDD_IN", true, 0.43, 0.04}, {"VDD_SOC", false, 0.43, 0.04}}, {}, {}};
}

std::string notes_of(const PowerSummary& summary) {
  std::string text;
  for (const std::string& note : summary.notes) text += note + "\n";
  return text;
}

TEST(PowerRecord, PartsAreShownAndNotAdded) {
  PowerRecord record = two_rails();
  record.samples = {{0, {4, 1}}, {1, {6, 1}}, {2, {8, 1}}};
  const PowerSummary summary = summarize(record);
  ASSERT_TRUE(summary.total);
  EXPECT_DOUBLE_EQ(summary.total->mean_w, 6);
  EXPECT_DOUBLE_EQ(summary.total->energy_j, 12);
  EXPECT_DOUBLE_EQ(summary.channels[1].energy_j, 2);
  EXPECT_DOUBLE_EQ(summary.total->min_w, 4);
  EXPECT_DOUBLE_EQ(summary.total->max_w, 8);
}

TEST(PowerRecord, AWindowIsCutBetweenReadings) {
  PowerRecord record = two_rails();
  for (int i = 0; i <= 10; ++i) record.samples.push_back({double(i), {double(i), 0.5}});
  const PowerSummary summary = summarize(record, 2.5, 4.5);
  EXPECT_DOUBLE_EQ(summary.seconds, 2);
  EXPECT_NEAR(summary.total->energy_j, 7, 1e-9);
}

TEST(PowerRecord, AWindowBetweenTwoReadingsHasTheirPower) {
  PowerRecord record = two_rails();
  record.samples = {{0, {4, 1}}, {1, {4, 1}}};
  const PowerSummary summary = summarize(record, 0.2, 0.3);
  EXPECT_NEAR(summary.total->energy_j, 0.4, 1e-9);
}

TEST(PowerRecord, MissingNegativeAndStuckReadingsAreSaid) {
  PowerRecord record = two_rails();
  for (int i = 0; i < 20; ++i) record.samples.push_back({0.5 * i, {4 + 0.1 * i, 1}});
  record.samples[3].power_w[0] = missing;
  record.samples[4].power_w[0] = -0.39;
  const PowerSummary summary = summarize(record);
  EXPECT_THAT(notes_of(summary), HasSubstr("VDD_IN could not be read 1 times"));
  EXPECT_THAT(notes_of(summary), HasSubstr("VDD_IN read below zero, down to -390 mW"));
  EXPECT_THAT(notes_of(summary), HasSubstr("VDD_SOC read 1.00 W throughout"));
}

TEST(PowerRecord, TimeThatStepsBackCountsForNothing) {
  PowerRecord record = two_rails();
  record.samples = {{0, {4, 1}}, {1, {4, 1}}, {-3600, {4, 1}}, {-3599, {4, 1}}};
  const PowerSummary summary = summarize(record);
  EXPECT_DOUBLE_EQ(summary.total->energy_j, 8);
  EXPECT_THAT(notes_of(summary), HasSubstr("time steps back 1 time"));
}

TEST(PowerRecord, NothingReadIsAnErrorNeverZeroWatt) {
  PowerRecord record = two_rails();
  EXPECT_THROW(summarize(record), Error);
  record.samples = {{0, {missing, missing}}};
  EXPECT_THROW(summarize(record), Error);
}

// Lines of our own, in the form of each release.
struct LogCase {
  const char* name;
  std::string text;
  double total_w;  // 0: no total
  std::size_t rails;
};

const LogCase log_cases[] = {
    {"JetPack 4, no units and no time",
     "RAM 1500/7850MB (lfb 90x4MB) SWAP 0/3925MB (cached 0MB) CPU [11%@1190,7%@1190,off,off] "
     "EMC_FREQ 6%@1600 GR3D_FREQ 41%@675 APE 150 MTS fg 0% bg 1% CPU@41.5C PMIC@100C GPU@40C "
     "VDD_IN 5120/4890 VDD_CPU_GPU_CV 1440/1210 VDD_SOC 1280/1265\n",
     5.12, 3},
    {"JetPack 5, AGX Orin: NC is no rail and VDDQ is a part",
     "03-14-2024 09:26:53 RAM 4100/62795MB (lfb 9000x4MB) SWAP 0/31397MB (cached 0MB) CPU "
     "[12%@1728,off] EMC_FREQ 8%@3199 GR3D_FREQ 55%@611 VIC_FREQ 729 APE 174 CV0@-256C "
     "tj@49.1C VDD_GPU_SOC 7600mW/7210mW VDD_CPU_CV 1200mW/1190mW VIN_SYS_5V0 4630mW/4600mW NC "
     "0mW/0mW VDDQ_VDD2_1V8AO 1310mW/1290mW NC 0mW/0mW\n",
     13.43, 4},
    {"JetPack 6, ragged",
     "RAM 3050/7620MB (lfb 12x4MB)  SWAP 0/3810MB (cached 0MB) CPU [35%@1344] GR3D_FREQ 97%@[917] "
     "NVENC   off NVDEC off  APE 200 cpu@53.1C   VDD_IN 14440mW/13980mW VDD_CPU_GPU_CV "
     "6480mW/6200mW VDD_SOC 3120mW/3090mW\r\n",
     14.44, 3},
    {"JetPack 7, three values",
     "06-01-2026 07:30:00 RAM 2900/7486MB (lfb 30x4MB) CPU [4%@883] GR3D_FREQ 3%@[305] "
     "cpu@45.5C/46.0C VDD_IN 3560mW/3530mW/3640mW VDD_CPU_GPU_CV 480mW/470mW/520mW VDD_SOC "
     "1120mW/1124mW/1160mW\n",
     3.56, 3},
    {"Thor",
     "06-01-2026 07:31:00 RAM 9000/125700MB (lfb 20x4MB) CPU [61%@2601,off] EMC_FREQ 22%@4266 "
     "GR3D_FREQ 90%@[1574,1574,1574] NVENC0_FREQ @1691 VDD_GPU 36100mW/9100mW/37200mW "
     "VDD_CPU_SOC_MSS 21050mW/12000mW/24000mW VIN_SYS_5V0 12900mW/7300mW/13100mW VIN "
     "98700mW/37000mW/104300mW\n",
     98.7, 4},
    {"jtop",
     "time,uptime,CPU1,RAM,Temp CPU,Power VDD_CPU_GPU_CV,Power VDD_SOC,Power TOT,nvp model\n"
     "2024-03-14 09:26:53.100000,1:02:03,12,0.4,45.5,1440,1280,5120,MAXN\n",
     5.12, 3},
};

TEST(PowerLog, EveryReleaseIsRead) {
  for (const LogCase& each : log_cases) {
    SCOPED_TRACE(each.name);
    const PowerRecord record = parse_power_log(each.text, "run.log");
    EXPECT_EQ(record.channels.size(), each.rails);
    ASSERT_EQ(record.samples.size(), 1u);
    const PowerSummary summary = summarize(record);
    ASSERT_TRUE(summary.total);
    EXPECT_NEAR(summary.total->mean_w, each.total_w, 1e-9);
  }
}

TEST(PowerLog, LinesWithinASecondAreSpreadOverIt) {
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += "03-14-2024 09:26:5" + std::to_string(i / 10) +
            " RAM 1/2MB (lfb 1x4MB) CPU [1%@1] VDD_IN 5000mW/5000mW\n";
  const PowerRecord record = parse_power_log(text, "run.log");
  EXPECT_NEAR(record.samples.back().time_s, 1, 1e-9);
  EXPECT_NEAR(record.samples[10].time_s, 10 / 19., 1e-9);
}

TEST(PowerLog, WithoutAClockTheIntervalIsSaidOrGiven) {
  std::string text;
  for (int i = 0; i < 3; ++i) text += "RAM 1/2MB (lfb 1x4MB) CPU [1%@1] VDD_IN 5000/5000\n";
  PowerRecord record = parse_power_log(text, "run.log");
  EXPECT_NEAR(summarize(record).total->energy_j, 10, 1e-9);
  EXPECT_THAT(notes_of(summarize(record)), HasSubstr("a second between its lines is assumed"));
  record = parse_power_log(text, "run.log", 0.1);
  EXPECT_NEAR(summarize(record).total->energy_j, 1, 1e-9);
  EXPECT_THAT(notes_of(summarize(record)), Not(HasSubstr("assumed")));
}

TEST(PowerLog, ACutLineAndAnotherToolsLineAreNoHarm) {
  const std::string whole = log_cases[1].text;
  const std::string text =
      whole + whole.substr(0, whole.find("VIN_SYS") + 12) + "\nhello\n" + whole;
  const PowerRecord record = parse_power_log(text, "run.log");
  EXPECT_EQ(record.samples.size(), 3u);
  EXPECT_TRUE(std::isnan(record.samples[1].power_w[3]));
  EXPECT_THAT(record.notes, ::testing::Contains(HasSubstr("1 line that is not of tegrastats")));
}

TEST(PowerLog, UnknownRailsHaveNoTotal) {
  const PowerSummary summary = summarize(
      parse_power_log("RAM 1/2MB (lfb 1x4MB) CPU [1%@1] VDD_MINE 5000mW/5000mW\n", "run.log"));
  EXPECT_FALSE(summary.total);
  EXPECT_THAT(notes_of(summary), HasSubstr("no total is shown"));
}

TEST(PowerLog, ALogOfAnotherToolIsAnError) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_power_log(text, "run.log");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(""), HasSubstr("run.log: is neither a log of tegrastats nor"));
  EXPECT_THAT(message("timestamp, power.draw [W]\n2024/01/01, 70.1 W\n"), HasSubstr("neither"));
  EXPECT_THAT(message(std::string(2000, '\0')), HasSubstr("neither"));
  EXPECT_THAT(message("RAM 1/2MB (lfb 1x4MB) CPU [1%@1] APE 150\n"),
              HasSubstr("no line of it has power rails"));
}

RC_GTEST_PROP(PowerLogProperty, AnyTextGivesARecordOrAnError, (const std::string& noise)) {
  const std::string text = log_cases[*rc::gen::inRange(0, 6)].text;
  const auto at = static_cast<std::size_t>(*rc::gen::inRange(0, int(text.size())));
  try {
    const PowerRecord record =
        parse_power_log(text.substr(0, at) + noise + text.substr(at), "run.log");
    for (const PowerSample& sample : record.samples)
      RC_ASSERT(sample.power_w.size() == record.channels.size());
    summarize(record);
  } catch (const Error&) {
  }
}

TEST(PowerChannels, EveryBoardHasItsTotal) {
  const std::map<std::string, double> totals = {
      {"agx_orin_jp5", 19.9 * 0.18 + 19.9 * 0.04 + 5 * 0.8},
      {"agx_orin_jp6", 19.9 * 0.18 + 19.9 * 0.04 + 5 * 0.8},
      {"agx_orin_jp7", 19.9 * 0.18 + 19.9 * 0.04 + 5 * 0.8},
      {"orin_nano_super_jp6", 4.968 * 0.904},
      {"xavier_nx_jp4", 4.5},
      {"xavier_nx_jp5", 4.5},
      {"tx2_jp4", 3.99},
      {"nano_jp4", 2},
      {"agx_thor_jp7", 36},
  };
  ASSERT_EQ(totals.size(), board_trees().size());
  for (const auto& [name, watt] : totals) {
    SCOPED_TRACE(name);
    FakeSystem system;
    make_board(system, board_tree(name));
    const OpenedChannels opened = open_power_channels({.root = system.root()});
    ASSERT_TRUE(opened.channels) << opened.why_not;
    std::vector<double> power;
    opened.channels->read_w(0, power);
    PowerRecord record{"test", opened.channels->channels(), {{0, power}}, {}};
    ASSERT_TRUE(summarize(record).total);
    EXPECT_NEAR(summarize(record).total->mean_w, watt, 0.01);
  }
}

TEST(PowerChannels, ARenumberedChipIsFoundAgain) {
  FakeSystem system;
  make_board(system, board_tree("orin_nano_super_jp6"));
  const OpenedChannels opened = open_power_channels({.root = system.root()});
  std::vector<double> power;
  opened.channels->read_w(0, power);
  const double before = power[0];
  // What was hwmon1 is hwmon7 after its driver was loaded anew; the open files are dead.
  const std::string root = system.root().path;
  for (const char* file : {"in1_input", "in2_input", "in3_input"})
    system.write(std::string("sys/class/hwmon/hwmon1/") + file, "");
  std::filesystem::copy(root + "sys/class/hwmon/hwmon1", root + "sys/class/hwmon/hwmon7");
  std::filesystem::remove_all(root + "sys/class/hwmon/hwmon1");
  for (const char* file : {"in1_input", "in2_input", "in3_input"})
    system.write(std::string("sys/class/hwmon/hwmon7/") + file, "4968\n");
  opened.channels->read_w(1, power);
  EXPECT_DOUBLE_EQ(power[0], before);
}

TEST(PowerChannels, ASensorThatVanishesIsMissingAndNeverZeroWatt) {
  FakeSystem system;
  make_board(system, board_tree("orin_nano_super_jp6"));
  const OpenedChannels opened = open_power_channels({.root = system.root()});
  std::vector<double> power;
  PowerRecord record{"test", opened.channels->channels(), {}, {}};
  opened.channels->read_w(0, power);
  record.samples.push_back({0, power});
  // The driver is gone: files that are open read nothing, and no chip has the labels.
  const std::string folder = "sys/class/hwmon/hwmon1/";
  for (const char* file : {"in1_input", "in2_input", "in3_input"}) system.write(folder + file, "");
  std::filesystem::remove_all(system.root().at(folder));
  for (int i = 1; i <= 3; ++i) {
    opened.channels->read_w(i, power);
    for (const double watt : power) EXPECT_TRUE(std::isnan(watt));
    record.samples.push_back({double(i), power});
  }
  EXPECT_THAT(notes_of(summarize(record)), HasSubstr("VDD_IN could not be read 3 times"));
}

// What EAGAIN of a busy bus leaves after three tries: no reading.
TEST(PowerChannels, AReadingThatFailsIsMissingAndTheNextOneCounts) {
  FakeSystem system;
  make_board(system, board_tree("orin_nano_super_jp6"));
  const OpenedChannels opened = open_power_channels({.root = system.root()});
  std::vector<double> power;
  const std::string file = "sys/class/hwmon/hwmon1/curr1_input";
  system.write(file, "");
  opened.channels->read_w(0, power);
  EXPECT_TRUE(std::isnan(power[0]));
  EXPECT_FALSE(std::isnan(power[1])) << "other rails go on";
  system.write(file, "904\n");
  opened.channels->read_w(1, power);
  EXPECT_NEAR(power[0], 4.968 * 0.904, 1e-9);
}

TEST(PowerChannels, CountersOfAPcWrapAndAdd) {
  FakeSystem system;
  make_pc_rapl(system);
  const OpenedChannels opened = open_power_channels({.root = system.root(), .no_nvml = "no card"});
  ASSERT_TRUE(opened.channels) << opened.why_not;
  std::vector<double> power;
  opened.channels->read_w(0, power);
  EXPECT_TRUE(std::isnan(power[0])) << "one reading of a counter is no power";
  for (const char* package : {"intel-rapl:0", "intel-rapl:2"})  // wrapped
    system.write(std::string("sys/class/powercap/") + package + "/energy_uj", "9671150\n");
  opened.channels->read_w(1, power);
  EXPECT_NEAR(power[0], 20, 1e-3);
  EXPECT_NEAR(*opened.channels->counted_j()[0], 20, 1e-3);
}

TEST(PowerChannels, AnEmptyRootSaysWhatWasLookedFor) {
  FakeSystem system;
  make_empty(system);
  const OpenedChannels opened = open_power_channels({.root = system.root(), .no_nvml = "no card"});
  EXPECT_FALSE(opened.channels);
  EXPECT_THAT(opened.why_not, HasSubstr("NVML: no card"));
  EXPECT_THAT(opened.why_not, HasSubstr("rails: not a Jetson"));
  EXPECT_THAT(opened.why_not, HasSubstr("RAPL: no RAPL energy counters here"));
}

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// All of the time of a reading, the kernel's own included, is below what one rail may take.
TEST(PowerChannels, ReadingARailIsCheap) {
  FakeSystem system;
  make_board(system, board_tree("agx_orin_jp6"));
  const OpenedChannels opened = open_power_channels({.root = system.root()});
  std::vector<double> power;
  const double begin = thread_cpu_s();
  constexpr int readings = 200;
  for (int i = 0; i < readings; ++i) opened.channels->read_w(i, power);
  EXPECT_LT((thread_cpu_s() - begin) / readings / double(power.size()), 50e-6);
}

TEST(PowerRecorder, SamplesAtItsRateAndCountsItsCost) {
  FakeSystem system;
  make_board(system, board_tree("orin_nano_super_jp6"));
  const OpenedChannels opened = open_power_channels({.root = system.root()});
  PowerRecorder recorder(*opened.channels, 0.01);
  const ProgramRun run = run_recorded(recorder, {"/bin/sleep", "0.3"});
  const PowerRecord record = recorder.stop();
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_GE(run.end_s - run.begin_s, 0.3);
  EXPECT_GT(record.samples.size(), 5u);
  EXPECT_LT(record.sampler_cpu_s, 0.01 * (run.end_s - run.begin_s) + 0.005) << "1 % of a core";
  const PowerSummary summary = summarize(record, run.begin_s, run.end_s);
  EXPECT_NEAR(summary.total->energy_j, 4.491 * (run.end_s - run.begin_s), 0.02);
}

TEST(PowerRecorder, AProgramThatCannotStartIsAnError) {
  FakeSystem system;
  make_board(system, board_tree("orin_nano_super_jp6"));
  const OpenedChannels opened = open_power_channels({.root = system.root()});
  PowerRecorder recorder(*opened.channels, 0.1);
  EXPECT_THROW(run_recorded(recorder, {"/no/such/program"}), Error);
  EXPECT_EQ(run_recorded(recorder, {"/bin/sh", "-c", "exit 7"}).exit_code, 7);
}

}  // namespace
}  // namespace ridgeline::testing
