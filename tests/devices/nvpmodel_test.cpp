// nvpmodel files as found in the field: every oddity is read, or reported with its line.
// The texts are our own; modes are tested in mode_space_test.cpp and nvpmodel_write_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "devices/nvpmodel/check.h"
#include "devices/nvpmodel/configuration.h"
#include "devices/nvpmodel/knob.h"
#include "tests/base/error_line.h"
#include "tests/devices/sample_configuration.h"

namespace ridgeline::testing {
namespace {

using nvpmodel::Configuration;
using nvpmodel::Finding;
using nvpmodel::KnobKind;
using nvpmodel::Reading;
using nvpmodel::Severity;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> findings_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const Finding& finding : nvpmodel::read_configuration(text).findings)
    lines.push_back((finding.severity == Severity::error ? "error " : "warning ") +
                    std::to_string(finding.line) + ": " + finding.what);
  return lines;
}

Configuration parsed(const std::string& text) {
  return nvpmodel::parse_configuration(text, "my.conf");
}

std::string parse_error(const std::string& text) {
  return error_line([&] { parsed(text); });
}

TEST(Nvpmodel, ReadsKnobsModesAndDefault) {
  const Configuration file = parsed(sample_configuration());
  EXPECT_THAT(findings_of(sample_configuration()), IsEmpty());
  ASSERT_EQ(file.parameters.size(), 6U);
  EXPECT_EQ(file.parameters[0].type, "FILE");
  EXPECT_EQ(file.parameters[0].name, "CPU_ONLINE");
  EXPECT_EQ(file.find("GPU")->find("MAX_FREQ")->path,
            "/sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq");
  ASSERT_EQ(file.models.size(), 2U);
  EXPECT_EQ(file.model(4)->name, "MODE_9W");
  EXPECT_EQ(file.model(4)->line, 38);
  EXPECT_EQ(file.model(4)->last_line(), 47);
  EXPECT_EQ(file.model(4)->statements.front().argument, "CORE_0");
  EXPECT_EQ(file.model(3), nullptr);
  EXPECT_EQ(file.default_id, 4);
}

TEST(Nvpmodel, LabelsDropThePrefix) {
  EXPECT_EQ(nvpmodel::label_of("MODE_30W"), "30W");
  EXPECT_EQ(nvpmodel::label_of("MAXN_SUPER"), "MAXN_SUPER");
  EXPECT_EQ(nvpmodel::label_of("MODE_"), "MODE_");
}

// Accepted without a warning.

TEST(NvpmodelTraps, NoSpaceAfterTheBracket) {
  EXPECT_THAT(findings_of(sample_with("< POWER_MODEL ID=4 NAME=MODE_9W >",
                                      "<POWER_MODEL ID=4 NAME=MODE_9W>")),
              IsEmpty());
}

TEST(NvpmodelTraps, DoubleSpacesTabsTrailingSpacesAndBlankLines) {
  const std::string text =
      sample_with("GPU MAX_FREQ 408000000", "\n  GPU   MAX_FREQ\t 408000000   \n\n");
  EXPECT_THAT(findings_of(text), IsEmpty());
  EXPECT_EQ(parsed(text).model(4)->statements[7].value, "408000000");
}

TEST(NvpmodelTraps, CarriageReturnsAndByteOrderMark) {
  std::string text = "\xef\xbb\xbf";
  for (const char c : sample_configuration()) text += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_THAT(findings_of(text), IsEmpty());
  EXPECT_EQ(parsed(text).model(4)->statements[7].value, "408000000");
}

TEST(NvpmodelTraps, CommentsOfAnyBytesAndBehindAStatement) {
  const std::string text = sample_with("GPU MAX_FREQ 408000000",
                                       "# \xff\xfe caf\xc3\xa9\nGPU MAX_FREQ 408000000 # 408 MHz");
  EXPECT_THAT(findings_of(text), IsEmpty());
}

TEST(NvpmodelTraps, GapsInIdsAndTheFanSection) {
  EXPECT_THAT(findings_of(sample_configuration() + "< FAN_CONFIG DEFAULT=quiet >\n"), IsEmpty());
}

TEST(NvpmodelTraps, WordsOfParamSectionsAreNoValues) {
  const Configuration file = parsed(sample_configuration());
  EXPECT_EQ(file.model(0)->statements.size(), 11U);
}

TEST(NvpmodelTraps, HwmonKnobsHaveAFolderAndAFile) {
  const std::string text = sample_configuration() +
                           "< PARAM TYPE=HWMON NAME=OC_LIMIT >\n"
                           "WARN /sys/bus/i2c/devices/1-0040/hwmon curr1_max\n";
  EXPECT_THAT(findings_of(text), IsEmpty());
  const Configuration file = parsed(text);
  EXPECT_EQ(file.find("OC_LIMIT")->find("WARN")->attribute, "curr1_max");
}

TEST(NvpmodelTraps, EmcMayBeDeclaredAsAFile) {
  const std::string text =
      sample_with("<PARAM TYPE=CLOCK NAME=EMC >", "< PARAM TYPE=FILE NAME=EMC >");
  EXPECT_THAT(findings_of(text), IsEmpty());
  EXPECT_EQ(nvpmodel::knob_of(parsed(text), "EMC", "MAX_FREQ").kind, KnobKind::memory_clock);
}

// Reported as a warning; the rest is read.

TEST(NvpmodelTraps, APathBrokenByBlanksMakesTheKnobUnusable) {
  const std::string text =
      sample_with("MIN_FREQ /sys/devices/17000000.ga10b/devfreq/",
                  "MIN_FREQ /sys/devices/17000000.ga10b" + std::string(100, ' ') + "/devfreq/");
  EXPECT_THAT(findings_of(text),
              ElementsAre("warning 20: \"MIN_FREQ\" of GPU is damaged: 3 words where a name and "
                          "one path belong"));
  EXPECT_EQ(parsed(text).find("GPU")->find("MIN_FREQ")->path, "");
  EXPECT_EQ(nvpmodel::knob_of(parsed(text), "GPU", "MIN_FREQ").kind, KnobKind::gpu_clock);
}

TEST(NvpmodelTraps, APathWrappedToTheNextLine) {
  const std::string text = sample_with("MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap",
                                       "MAX_FREQ\n/sys/kernel/nvpmodel_emc_cap/emc_iso_cap");
  EXPECT_THAT(findings_of(text),
              ElementsAre(HasSubstr("warning 23: \"MAX_FREQ\" of EMC is damaged: 1 words"),
                          HasSubstr("warning 24: \"/sys/kernel/nvpmodel_emc_cap/emc_iso_cap\"")));
}

TEST(NvpmodelTraps, AnotherChipsGpuNode) {
  const std::string text = sample_with(
      "MIN_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/min_freq",
      "MIN_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/min_freq\n"
      "FREQ_TABLE_KNEXT /sys/devices/57000000.gpu/devfreq/57000000.gpu/available_frequencies");
  EXPECT_THAT(findings_of(text),
              ElementsAre("warning 21: FREQ_TABLE_KNEXT of GPU belongs to another chip's GPU: "
                          "57000000 where the other files have 17000000"));
}

TEST(NvpmodelTraps, SameNameOfTwoModes) {
  EXPECT_THAT(findings_of(sample_with("NAME=MODE_9W", "NAME=ALL")),
              ElementsAre("warning 38: NAME=\"ALL\" is also the name of the mode of line 25"));
}

TEST(NvpmodelTraps, AKnobSetTwice) {
  const std::string text =
      sample_with("GPU MAX_FREQ 408000000", "GPU MAX_FREQ 1\nGPU MAX_FREQ 408000000");
  EXPECT_THAT(findings_of(text),
              ElementsAre("warning 47: GPU MAX_FREQ was set in line 46 already, this one counts"));
}

TEST(NvpmodelTraps, UndeclaredKnobs) {
  EXPECT_THAT(findings_of(sample_with("EMC MAX_FREQ 0", "NAFLL_PVA_VPS MAX_FREQ 5")),
              ElementsAre("warning 36: \"NAFLL_PVA_VPS\" is declared by no PARAM section, nvpmodel "
                          "has no file to write to"));
  EXPECT_THAT(findings_of(sample_with("EMC MAX_FREQ 0", "EMC MIN_FREQ 0")),
              ElementsAre("warning 36: EMC has no argument \"MIN_FREQ\""));
}

TEST(NvpmodelTraps, UnknownSections) {
  EXPECT_THAT(findings_of(sample_with("< PM_CONFIG", "< /POWER_MODEL >\nany words\n< PM_CONFIG")),
              ElementsAre("warning 49: unknown section \"/POWER_MODEL\", its lines are not read"));
}

// Errors: one line each, with file and line.

TEST(NvpmodelErrors, NameFileAndLine) {
  EXPECT_EQ(parse_error(sample_with("ID=4", "ID=0")),
            "my.conf:38: ID=0 is taken by the mode of line 25");
  EXPECT_EQ(parse_error(sample_with("DEFAULT=4", "DEFAULT=7")),
            "my.conf:49: DEFAULT=7 is none of the modes");
  EXPECT_EQ(parse_error(sample_with("< PM_CONFIG DEFAULT=4 >\n", "")),
            "my.conf:48: no PM_CONFIG section names the default mode");
  EXPECT_EQ(parse_error(sample_configuration() + "< PM_CONFIG DEFAULT=0 >\n"),
            "my.conf:50: a second PM_CONFIG, the first is in line 49");
  EXPECT_EQ(parse_error(sample_with("DEFAULT=4", "DEFAULT=")),
            "my.conf:49: \"DEFAULT=\" in a section header is not KEY=VALUE");
  EXPECT_EQ(parse_error(sample_with("ID=4", "ID=four")),
            "my.conf:38: \"four\" is not the number of a mode");
  EXPECT_EQ(parse_error(sample_with("ID=4", "ID=99999999999")),
            "my.conf:38: \"99999999999\" is not the number of a mode");
  EXPECT_EQ(parse_error(sample_with(" NAME=MODE_9W >", " >")),
            "my.conf:38: POWER_MODEL has no NAME=");
  EXPECT_EQ(parse_error(sample_with(" NAME=MODE_9W >", " NAME=A NAME=B >")),
            "my.conf:38: the section header has NAME twice");
  EXPECT_EQ(parse_error(sample_with("NAME=MODE_9W >", "NAME=MODE_9W")),
            "my.conf:38: the section header has no '>'");
  EXPECT_EQ(parse_error(sample_with("GPU MAX_FREQ 408000000", "GPU MAX_FREQ fast")),
            "my.conf:46: \"fast\" of GPU MAX_FREQ is not a whole number");
  EXPECT_EQ(parse_error(sample_with("GPU MAX_FREQ 408000000", "GPU MAX_FREQ")),
            "my.conf:46: \"GPU MAX_FREQ\" is not a statement: write PARAM ARGUMENT value");
  EXPECT_EQ(parse_error(sample_with("CORE_4 0", "CORE_4 2")),
            "my.conf:41: \"2\" is neither 0 nor 1");
  EXPECT_EQ(parse_error(sample_with("TPC_PG_MASK 240", "TPC_PG_MASK full")),
            "my.conf:42: \"full\" of TPC_POWER_GATING TPC_PG_MASK is not a whole number");
  EXPECT_EQ(parse_error(sample_with("# knobs", "knobs")),
            "my.conf:1: \"knobs\" stands before any section");
  EXPECT_EQ(parse_error(""), "my.conf:1: no POWER_MODEL section");
  EXPECT_EQ(parse_error("# nothing\n\n"), "my.conf:2: no POWER_MODEL section");
  EXPECT_EQ(parse_error(std::string("\x7f"
                                    "ELF\0\1\2",
                                    7)),
            "my.conf:1: the line holds bytes that are not plain text");
}

TEST(NvpmodelErrors, AllAreFoundInOneReading) {
  std::string text = sample_with("ID=4", "ID=x");
  text += "< PM_CONFIG DEFAULT=0 >\n";
  const Reading reading = nvpmodel::read_configuration(text);
  ASSERT_EQ(reading.findings.size(), 3U);
  EXPECT_EQ(reading.findings[0].line, 38);
  EXPECT_EQ(reading.findings[1].line, 49);  // the default mode was the one that failed
  EXPECT_EQ(reading.findings[2].line, 50);
  EXPECT_EQ(reading.configuration.models.size(), 1U);
}

TEST(Nvpmodel, ACheckNamesWhatItIsHeldAgainst) {
  const catalog::Device device = catalog::load("jetson-agx-orin-64gb");
  const Reading reading = nvpmodel::read_configuration(sample_configuration());
  ASSERT_GT(device.configurations.size(), 1U);
  for (const catalog::Configuration& configuration : device.configurations)
    EXPECT_EQ(nvpmodel::check(reading, device, configuration).configuration, configuration.id);
}

TEST(Nvpmodel, AMegabyteIsReadInTime) {
  std::string text = sample_configuration();
  for (int id = 5; text.size() < 1'000'000; ++id)
    text += "< POWER_MODEL ID=" + std::to_string(id) + " NAME=M" + std::to_string(id) +
            " >\nGPU MAX_FREQ 306000000\n";
  EXPECT_GT(parsed(text).models.size(), 10000U);
}

TEST(Nvpmodel, FingerprintsTellFilesApart) {
  EXPECT_EQ(parsed(sample_configuration()).fingerprint, parsed(sample_configuration()).fingerprint);
  EXPECT_NE(parsed(sample_configuration()).fingerprint,
            parsed(sample_with("408000000", "510000000")).fingerprint);
}

TEST(Nvpmodel, IntegersAreDecimalOrHexadecimal) {
  EXPECT_EQ(nvpmodel::parse_integer("-1"), -1);
  EXPECT_EQ(nvpmodel::parse_integer("0xf0"), 240);
  EXPECT_EQ(nvpmodel::parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", "-", "0x", "1.5", "+3", "--1", "9223372036854775808", "1k", " 1"})
    EXPECT_EQ(nvpmodel::parse_integer(text), std::nullopt) << text;
}

// Knobs are identified by path, since names change between releases.
TEST(NvpmodelKnobs, AreToldByPath) {
  struct Row {
    const char* argument;
    const char* path;
    KnobKind kind;
    int index;
  };
  const Row rows[] = {
      {"CORE_3", "/sys/devices/system/cpu/cpu3/online", KnobKind::core, 3},
      {"MAX_FREQ", "/sys/devices/system/cpu/cpu10/cpufreq/scaling_max_freq", KnobKind::cpu_clock,
       10},
      {"MAX_FREQ", "/sys/devices/system/cpu/cpufreq/policy4/scaling_max_freq", KnobKind::cpu_clock,
       4},
      {"MAX_FREQ", "/sys/devices/57000000.gpu/devfreq/57000000.gpu/max_freq", KnobKind::gpu_clock,
       -1},
      {"MAX_FREQ", "/sys/devices/platform/17000000.gpu/devfreq_dev/max_freq", KnobKind::gpu_clock,
       -1},
      {"MAX_FREQ", "/sys/class/devfreq/gpu-gpc-0/max_freq", KnobKind::gpu_clock, -1},
      {"MAX_FREQ", "/sys/class/devfreq/gpu-nvd-0/max_freq", KnobKind::other, -1},
      {"MAX_FREQ", "/sys/kernel/nvpmodel_emc_cap/emc_iso_cap", KnobKind::memory_clock, -1},
      {"MAX_FREQ", "/sys/kernel/nvpmodel_clk_cap/emc", KnobKind::memory_clock, -1},
      {"MAX_FREQ", "/sys/class/devfreq/bwmgr/max_freq", KnobKind::memory_clock, -1},
      {"MAX_FREQ", "/sys/kernel/nvpmodel_emc_cap/nafll_dla", KnobKind::dla_clock, 0},
      {"MAX_FREQ", "/sys/kernel/nvpmodel_emc_cap/nafll_dla_falcon", KnobKind::other, -1},
      {"MAX_FREQ", "/sys/devices/platform/x/158c0000.nvdla1/clk_cap/dla1_core", KnobKind::dla_clock,
       1},
      {"TPC_PG_MASK", "/sys/devices/platform/gpu.0/tpc_pg_mask", KnobKind::tpc_mask, -1},
      {"FBP_PG_MASK", "/sys/devices/platform/gpu.0/fbp_pg_mask", KnobKind::fbp_mask, -1},
      {"GPU_PWR_CNTL_EN", "/sys/devices/gpu.0/power/control", KnobKind::other, -1},
  };
  for (const Row& row : rows) {
    Configuration file;
    file.parameters.push_back({"CLOCK", "ANY", {{row.argument, row.path, {}}}});
    const nvpmodel::Knob knob = nvpmodel::knob_of(file, "ANY", row.argument);
    EXPECT_EQ(knob.kind, row.kind) << row.path;
    EXPECT_EQ(knob.index, row.index) << row.path;
    EXPECT_EQ(knob.is_maximum, std::string(row.argument) == "MAX_FREQ");
  }
}

TEST(NvpmodelKnobs, TheNewerKernelsPathIsAsGood) {
  Configuration file;
  file.parameters.push_back(
      {"CLOCK",
       "CLUSTER",
       {{"MAX_FREQ", "", {}}, {"MAX_FREQ_KNEXT", "/x/cpu/cpu8/cpufreq/m", {}}}});
  EXPECT_EQ(nvpmodel::knob_of(file, "CLUSTER", "MAX_FREQ").index, 8);
}

TEST(NvpmodelKnobs, NamesCountWhereThereIsNoPath) {
  const Configuration none;
  EXPECT_EQ(nvpmodel::knob_of(none, "CPU_ONLINE", "CORE_5").index, 5);
  EXPECT_EQ(nvpmodel::knob_of(none, "GPU", "MAX_FREQ").kind, KnobKind::gpu_clock);
  EXPECT_EQ(nvpmodel::knob_of(none, "EMC", "MAX_FREQ").kind, KnobKind::memory_clock);
  EXPECT_EQ(nvpmodel::knob_of(none, "CPU_DENVER_1", "MAX_FREQ").kind, KnobKind::cpu_clock);
  EXPECT_EQ(nvpmodel::knob_of(none, "DLA_CORE", "MAX_FREQ").kind, KnobKind::dla_clock);
  EXPECT_EQ(nvpmodel::knob_of(none, "NALL_PVA_VPS", "MAX_FREQ").kind, KnobKind::other);
}

// Any mutation of a good file is read, or is an Error with file and line.
RC_GTEST_PROP(NvpmodelProperties, MutationsParseOrNameALine, ()) {
  std::string text = sample_configuration();
  const int edits = *rc::gen::inRange(1, 8);
  for (int edit = 0; edit < edits && !text.empty(); ++edit) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto length = *rc::gen::inRange<std::size_t>(0, 40);
    const auto source = *rc::gen::inRange<std::size_t>(0, text.size());
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(source, length));
        break;
      default:
        text.insert(at, *rc::gen::element<std::string>("<", ">", "\n", " ", "=", "#", "-1", "ID=4",
                                                       "< PM_CONFIG DEFAULT=0 >\n"));
    }
  }
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  try {
    const Configuration file = nvpmodel::parse_configuration(text, "f");
    RC_ASSERT(file.model(file.default_id) != nullptr);
    for (const nvpmodel::PowerModel& model : file.models)
      for (const nvpmodel::Statement& statement : model.statements)
        nvpmodel::knob_of(file, statement.parameter, statement.argument);
  } catch (const Error& error) {
    int line = 0;
    RC_ASSERT(std::sscanf(error.where().c_str(), "f:%d", &line) == 1);
    RC_ASSERT(line >= 1 && line <= lines);
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

RC_GTEST_PROP(NvpmodelProperties, AnyBytesParseOrNameALine, (const std::string& text)) {
  for (const Finding& finding : nvpmodel::read_configuration(text).findings)
    RC_ASSERT(finding.line >= 1);
}

}  // namespace
}  // namespace ridgeline::testing
