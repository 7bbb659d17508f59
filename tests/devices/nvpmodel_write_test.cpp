// Written blocks fit the target file and read back as the mode they were written for.
// Diffs are applied with the program patch if it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text_file.h"
#include "devices/modes/mode_grid.h"
#include "devices/nvpmodel/check.h"
#include "devices/nvpmodel/generation.h"
#include "devices/nvpmodel/stated_mode.h"
#include "devices/nvpmodel/write.h"
#include "tests/base/error_line.h"
#include "tests/devices/sample_configuration.h"
#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using nvpmodel::BlockOptions;
using nvpmodel::Configuration;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Loaded {
  catalog::Device device;
  const catalog::Configuration& configuration;
  explicit Loaded(const char* name, const char* jetpack = "")
      : device(catalog::load(name)), configuration(catalog::configuration(device, jetpack)) {}
  Loaded(const Loaded&) = delete;

  DeviceMode mode(const char* request) const {
    return resolve(device, configuration, parse_mode_request(request));
  }
  Configuration file() const { return nvpmodel::generation_file(device, configuration); }
  std::string block(const Configuration& file, const char* request,
                    const BlockOptions& options = {}) const {
    return to_text(nvpmodel::compose(
        file, device, nvpmodel::block_values(file, mode(request), options), "my.conf"));
  }
};

std::vector<const char*> jetsons_with_known_names() {
  return {"jetson-agx-orin-64gb", "jetson-agx-orin-32gb", "jetson-orin-nx-16gb",
          "jetson-orin-nx-8gb",   "jetson-orin-nano-8gb", "jetson-orin-nano-4gb",
          "jetson-agx-xavier",    "jetson-xavier-nx",     "jetson-tx2",
          "jetson-tx2-nx",        "jetson-nano"};
}

TEST(NvpmodelWrite, OrinInTheOrderOfItsFiles) {
  const Loaded orin("jetson-agx-orin-64gb");
  EXPECT_EQ(orin.block(orin.file(), "gpu=612MHz,emc=2133MHz,cpu=1113.6MHz,cores=5,sm=8"),
            "< POWER_MODEL ID=4 NAME=CUSTOM_4 >\n"
            "CPU_ONLINE CORE_0 1\n"
            "CPU_ONLINE CORE_1 1\n"
            "CPU_ONLINE CORE_2 1\n"
            "CPU_ONLINE CORE_3 1\n"
            "CPU_ONLINE CORE_4 1\n"
            "CPU_ONLINE CORE_5 0\n"
            "CPU_ONLINE CORE_6 0\n"
            "CPU_ONLINE CORE_7 0\n"
            "CPU_ONLINE CORE_8 0\n"
            "CPU_ONLINE CORE_9 0\n"
            "CPU_ONLINE CORE_10 0\n"
            "CPU_ONLINE CORE_11 0\n"
            "TPC_POWER_GATING TPC_PG_MASK 240\n"
            "GPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on\n"
            "CPU_A78_0 MIN_FREQ 729600\n"
            "CPU_A78_0 MAX_FREQ 1113600\n"
            "CPU_A78_1 MIN_FREQ 729600\n"
            "CPU_A78_1 MAX_FREQ 1113600\n"
            "GPU MIN_FREQ 0\n"
            "GPU MAX_FREQ 612000000\n"
            "GPU_POWER_CONTROL_DISABLE GPU_PWR_CNTL_DIS auto\n"
            "EMC MAX_FREQ 2133000000\n");
}

TEST(NvpmodelWrite, CeilingsAreNotClamped) {
  const Loaded old("jetson-agx-orin-64gb");
  EXPECT_THAT(old.block(old.file(), "cores=12"),
              AllOf(HasSubstr("GPU MAX_FREQ -1\n"), HasSubstr("EMC MAX_FREQ 0\n"),
                    HasSubstr("CPU_A78_2 MAX_FREQ -1\n")));
  const Loaded super("jetson-orin-nano-8gb");
  EXPECT_THAT(
      super.block(super.file(), "gpu=612MHz"),
      AllOf(HasSubstr("GPU MAX_FREQ 612000000\n"), HasSubstr("EMC MAX_FREQ -1\n"),
            HasSubstr("FBP_POWER_GATING FBP_PG_MASK 2\n"), HasSubstr("CPU_A78_5 MAX_FREQ -1\n")));
}

TEST(NvpmodelWrite, LockedClocksHaveTheirCapAsMinimum) {
  const Loaded orin("jetson-agx-orin-64gb");
  EXPECT_THAT(orin.block(orin.file(), "gpu=612MHz,cores=4", {"FIXED", true}),
              AllOf(HasSubstr("NAME=FIXED >"), HasSubstr("GPU MIN_FREQ 612000000\n"),
                    HasSubstr("CPU_A78_0 MIN_FREQ 2201600\nCPU_A78_0 MAX_FREQ 2201600\n")));
}

TEST(NvpmodelWrite, LockedClocksReadBack) {
  const Loaded orin("jetson-agx-orin-64gb");
  const Configuration file = orin.file();
  const catalog::StockMode values =
      nvpmodel::block_values(file, orin.mode("gpu=612MHz,cores=4"), {"FIXED", true});
  const auto model = nvpmodel::compose(file, orin.device, values, "my.conf");
  const catalog::StockMode read = nvpmodel::stated_mode(file, model, orin.device);
  EXPECT_EQ(read.gpu_min_hz, 612e6);
  EXPECT_EQ(read.gpu_max_hz, 612e6);
}

TEST(NvpmodelWrite, AMinimumNeverExceedsTheCap) {
  const Loaded orin("jetson-agx-orin-64gb");
  EXPECT_THAT(orin.block(orin.file(), "cpu=422.4MHz,cores=4"),
              HasSubstr("CPU_A78_0 MIN_FREQ 422400\nCPU_A78_0 MAX_FREQ 422400\n"));
}

// The files of its clock vanish with its last core, whatever clock the mode states for it.
TEST(NvpmodelWrite, AClusterThatIsOfflineHasNoClock) {
  const Loaded orin("jetson-agx-orin-64gb");
  const Configuration file = orin.file();
  const DeviceMode mode = orin.mode("cpu=1113.6MHz,cores=4");
  catalog::StockMode values = nvpmodel::block_values(file, mode, {});
  values.cpu_max_hz.assign(3, 1113.6e6);
  values.cpu_min_hz.assign(3, 729.6e6);
  const std::string text = to_text(nvpmodel::compose(file, orin.device, values, "my.conf"));
  EXPECT_THAT(text, AllOf(HasSubstr("CPU_A78_0 MIN_FREQ 729600\nCPU_A78_0 MAX_FREQ 1113600\n"),
                          Not(HasSubstr("CPU_A78_1 M")), Not(HasSubstr("CPU_A78_2 M"))));
}

TEST(NvpmodelWrite, Tx2NeverListsItsFirstCoreAndDropsDenverFirst) {
  const Loaded tx2("jetson-tx2");
  const std::string block = tx2.block(tx2.file(), "cores=4");
  EXPECT_THAT(block,
              AllOf(Not(HasSubstr("CORE_0")), HasSubstr("CORE_1 0\n"), HasSubstr("CORE_2 0\n"),
                    HasSubstr("CORE_3 1\n"), HasSubstr("CORE_5 1\n"), HasSubstr("CPU_A57 MAX_FREQ"),
                    Not(HasSubstr("CPU_DENVER"))));
}

TEST(NvpmodelWrite, TheUsersFileDecidesNamesOrderAndEngines) {
  // The sample names only some of the cores: names and order come from the file.
  std::string text = sample_with("EMC MAX_FREQ 0\n", "EMC MAX_FREQ 0\nOTHER MAX_FREQ 7\n");
  const std::string from = "< POWER_MODEL ID=0";
  text.insert(text.find(from), "< PARAM TYPE=CLOCK NAME=OTHER >\nMAX_FREQ /sys/other/cap\n\n");
  const Configuration file = nvpmodel::parse_configuration(text, "my.conf");
  const Loaded orin("jetson-agx-orin-64gb");
  EXPECT_EQ(orin.block(file, "gpu=510MHz,cores=5", {"MINE", false}),
            "< POWER_MODEL ID=5 NAME=MINE >\n"
            "CPU_ONLINE CORE_0 1\n"
            "CPU_ONLINE CORE_1 1\n"
            "CPU_ONLINE CORE_4 1\n"
            "TPC_POWER_GATING TPC_PG_MASK 0\n"
            "CPU_A78_0 MIN_FREQ 729600\n"
            "CPU_A78_0 MAX_FREQ -1\n"
            "CPU_A78_1 MIN_FREQ 729600\n"
            "CPU_A78_1 MAX_FREQ -1\n"
            "GPU MIN_FREQ 0\n"
            "GPU MAX_FREQ 510000000\n"
            "EMC MAX_FREQ 0\n"
            "OTHER MAX_FREQ 7\n");
}

TEST(NvpmodelWrite, WhatTheFileLacksIsToldOf) {
  const Loaded orin("jetson-agx-orin-64gb");
  const Configuration file = nvpmodel::parse_configuration(
      "< PARAM TYPE=CLOCK NAME=EMC >\nMAX_FREQ /sys/kernel/nvpmodel_clk_cap/emc\n"
      "< POWER_MODEL ID=7 NAME=DEMO_9W >\nEMC MAX_FREQ 2133000000\n< PM_CONFIG DEFAULT=7 >\n",
      "my.conf");
  EXPECT_EQ(error_line([&] { orin.block(file, "gpu=612MHz"); }),
            "my.conf: no PARAM section declares a file for cores (use the configuration file of "
            "the device)");
}

TEST(NvpmodelWrite, ThorsNamesAreNotKnown) {
  const Loaded thor("jetson-agx-thor-t5000");
  EXPECT_EQ(error_line([&] { thor.file(); }),
            "jetson-agx-thor-t5000: no source states the names of knobs in its nvpmodel file (give "
            "the device's own with --conf /etc/nvpmodel.conf)");
}

// Stock modes of the catalog, written as a whole file, read back unchanged.
TEST(NvpmodelWrite, FilesOfAllGenerationsReadBack) {
  for (const char* name : jetsons_with_known_names()) {
    const catalog::Device device = catalog::load(name);
    for (const catalog::Configuration& configuration : device.configurations) {
      const std::string text = to_text(nvpmodel::generation_file(device, configuration));
      std::vector<nvpmodel::Finding> warnings;
      const Configuration file = nvpmodel::parse_configuration(text, name, &warnings);
      EXPECT_TRUE(warnings.empty()) << name << ": " << warnings.front().what;
      EXPECT_EQ(file.default_id, configuration.default_mode.value_or(0));
      ASSERT_EQ(file.models.size(), configuration.modes.size());
      for (std::size_t i = 0; i < file.models.size(); ++i) {
        const catalog::StockMode& was = configuration.modes[i];
        const catalog::StockMode is = nvpmodel::stated_mode(file, file.models[i], device);
        EXPECT_EQ(is.id, was.id);
        EXPECT_EQ(is.name, was.name);
        EXPECT_EQ(is.cores, was.cores) << name << " " << was.name;
        EXPECT_EQ(is.cpu_max_hz, was.cpu_max_hz) << name << " " << was.name;
        EXPECT_EQ(is.gpu_max_hz, was.gpu_max_hz) << name << " " << was.name;
        EXPECT_EQ(is.memory_max_hz, was.memory_max_hz) << name << " " << was.name;
        EXPECT_EQ(is.tpc_pg_mask, was.tpc_pg_mask) << name << " " << was.name;
        EXPECT_EQ(is.fbp_pg_mask, was.fbp_pg_mask) << name << " " << was.name;
      }
    }
  }
}

// write → parse gives the requested vector, for any mode of any device.
RC_GTEST_PROP(NvpmodelProperties, BlocksReadBackAsTheirMode, ()) {
  const char* name = *rc::gen::elementOf(jetsons_with_known_names());
  const catalog::Device device = catalog::load(name);
  const catalog::Configuration& configuration =
      device.configurations[*rc::gen::inRange<std::size_t>(0, device.configurations.size())];
  const ModeGrid grid = full_grid(device, configuration);
  const auto pick = [](std::size_t size) {
    return size == 0 ? 0 : *rc::gen::inRange<std::size_t>(0, size);
  };
  GridIndex index;
  index.mask = pick(grid.masks.size());
  const MaskGrid& mask = grid.masks[index.mask];
  index.cores = pick(mask.cpu_cores.size());
  index.cpu = pick(mask.cpu_hz.size());
  index.gpu = pick(mask.gpu_hz.size());
  index.memory = pick(mask.memory_hz.size());
  const OperatingPoint wanted = point_at(grid, index);
  const DeviceMode mode = resolve(device, configuration, parse_mode_request(request_text(wanted)));
  const BlockOptions options{"TRIAL", *rc::gen::arbitrary<bool>()};

  Configuration file = nvpmodel::generation_file(device, configuration);
  file.models.push_back(
      nvpmodel::compose(file, device, nvpmodel::block_values(file, mode, options), "generated"));
  const Configuration again = nvpmodel::parse_configuration(to_text(file), "again");
  const nvpmodel::PowerModel* model = again.model(file.models.back().id);
  RC_ASSERT(model != nullptr);
  OperatingPoint read =
      device_mode(device, configuration, nvpmodel::stated_mode(again, *model, device)).point;
  RC_ASSERT(read.label == "TRIAL");
  read.label = wanted.label;
  RC_ASSERT(read == wanted);
}

std::string patched(const std::string& text, const std::string& patch) {
  const TemporaryDirectory folder;
  folder.write("my.conf", text);
  folder.write("my.patch", patch);
  const ProcessResult result =
      run_process({"patch", "--quiet", folder.file("my.conf"), folder.file("my.patch")});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err << patch;
  return read_text_file(folder.file("my.conf"));
}

bool has_patch() { return run_process({"sh", "-c", "command -v patch"}).exit_code == 0; }

TEST(NvpmodelDiff, PutsANewModeBehindTheLast) {
  const Configuration file = nvpmodel::parse_configuration(sample_configuration(), "my.conf");
  const nvpmodel::PowerModel model{9, "MINE", {{"GPU", "MAX_FREQ", "510000000"}}};
  EXPECT_EQ(nvpmodel::unified_diff(sample_configuration(), file, model, "my.conf"),
            "--- my.conf\n"
            "+++ my.conf\n"
            "@@ -45,5 +45,8 @@\n"
            " GPU MIN_FREQ 0\n"
            " GPU MAX_FREQ 408000000\n"
            " EMC MAX_FREQ 2133000000\n"
            "+\n"
            "+< POWER_MODEL ID=9 NAME=MINE >\n"
            "+GPU MAX_FREQ 510000000\n"
            " \n"
            " < PM_CONFIG DEFAULT=4 >\n");
}

TEST(NvpmodelDiff, IsAppliedByPatch) {
  if (!has_patch()) GTEST_SKIP() << "the program patch is not installed";
  const nvpmodel::PowerModel fresh{9, "MINE", {{"GPU", "MAX_FREQ", "510000000"}}};
  const nvpmodel::PowerModel known{9, "ALL", {{"GPU", "MAX_FREQ", "510000000"}}};
  std::string crlf;
  for (const char c : sample_configuration()) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  std::string last = sample_configuration();  // modes last, without a final newline
  last = "< PM_CONFIG DEFAULT=4 >\n" + last.substr(0, last.find("\n\n< PM_CONFIG"));
  for (const std::string& text : {sample_configuration(), crlf, last}) {
    const Configuration file = nvpmodel::parse_configuration(text, "my.conf");
    const Configuration added = nvpmodel::parse_configuration(
        patched(text, nvpmodel::unified_diff(text, file, fresh, "my.conf")), "added");
    ASSERT_EQ(added.models.size(), 3U);
    EXPECT_EQ(added.model(9)->statements.size(), 1U);
    EXPECT_EQ(added.model(4)->statements.size(), file.model(4)->statements.size());
    const Configuration changed = nvpmodel::parse_configuration(
        patched(text, nvpmodel::unified_diff(text, file, known, "my.conf")), "changed");
    ASSERT_EQ(changed.models.size(), 2U);
    EXPECT_EQ(changed.model(0)->statements.size(), 1U);  // keeps its ID
  }
}

TEST(NvpmodelDiff, IsEmptyWhereTheModeIsThere) {
  const Configuration file = nvpmodel::parse_configuration(sample_configuration(), "my.conf");
  EXPECT_EQ(nvpmodel::unified_diff(sample_configuration(), file, *file.model(4), "my.conf"), "");
}

// A file of the catalog's own modes is as it was shipped; what a user changed is named.
TEST(NvpmodelCheck, NamesWhatWasChanged) {
  const Loaded orin("jetson-agx-orin-64gb");
  nvpmodel::Reading reading;
  reading.configuration = orin.file();
  const auto checked = [&] { return nvpmodel::check(reading, orin.device, orin.configuration); };
  const nvpmodel::CheckReport shipped = checked();
  ASSERT_EQ(shipped.modes.size(), reading.configuration.models.size());
  for (std::size_t i = 0; i < shipped.modes.size(); ++i) {
    EXPECT_EQ(shipped.modes[i].name, reading.configuration.models[i].name);
    EXPECT_EQ(shipped.modes[i].origin, nvpmodel::ModeOrigin::stock) << shipped.modes[i].name;
    EXPECT_THAT(shipped.modes[i].differences, ::testing::IsEmpty()) << shipped.modes[i].name;
  }
  EXPECT_THAT(shipped.missing, ::testing::IsEmpty());
  EXPECT_THAT(shipped.findings, ::testing::IsEmpty());

  auto& models = reading.configuration.models;
  const auto thirty = std::find_if(models.begin(), models.end(), [](const auto& model) {
    return nvpmodel::label_of(model.name) == "30W";
  });
  ASSERT_NE(thirty, models.end());
  for (nvpmodel::Statement& statement : thirty->statements) {
    if (statement.parameter == "GPU" && statement.argument == "MAX_FREQ")
      statement.value = "510000000";
    if (statement.parameter == "CPU_A78_0" && statement.argument == "MIN_FREQ")
      statement.value = "806400";
  }
  const nvpmodel::CheckReport changed = checked();
  const auto& mode = changed.modes[static_cast<std::size_t>(thirty - models.begin())];
  EXPECT_EQ(mode.origin, nvpmodel::ModeOrigin::changed);
  EXPECT_EQ(mode.mode.point.gpu_hz, 510e6);
  EXPECT_THAT(mode.differences, ElementsAre(HasSubstr("gpu 612 MHz → 510 MHz"),
                                            HasSubstr("cpu minimum 729.6 MHz → 806.4 MHz")));
  // Another name is another mode, and the stock one is missing.
  thirty->name = "MODE_MINE";
  const nvpmodel::CheckReport renamed = checked();
  EXPECT_EQ(renamed.modes[static_cast<std::size_t>(thirty - models.begin())].origin,
            nvpmodel::ModeOrigin::added);
  EXPECT_THAT(renamed.missing, ElementsAre("30W"));
}

}  // namespace
}  // namespace ridgeline::testing
