// `modes set`, `modes restore` and `power` by the real binary on made-up boards: what it shows,
// what it changes, and every documented refusal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/support/board_trees.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ModesSet : public ::testing::Test {
 protected:
  void make(const std::string& name) {
    make_board(system_, board_tree(name));
    before_ = tree_content(system_);
  }
  ProcessResult run(const std::vector<std::string>& words) {
    return run_ridgeline(words, {.environment = {{"RIDGELINE_ROOT", system_.root().path}}});
  }
  void expect_untouched() { EXPECT_EQ(tree_content(system_), before_); }

  FakeSystem system_;
  std::map<std::string, std::string> before_;
};

const char* const example_mode = "gpu=612MHz,emc=2133MHz,cpu=1.2GHz,cores=4";

TEST_F(ModesSet, ShowsWhatItWouldChangeAndChangesNothing) {
  make("agx_orin_jp6");
  const ProcessResult result = run({"modes", "set", example_mode});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("GPU clock, upper limit"));
  EXPECT_THAT(result.out, HasSubstr("1300.5 MHz"));
  EXPECT_THAT(result.out, HasSubstr("8 CPUs"));
  EXPECT_THAT(result.out, HasSubstr("1200 MHz is not lockable, the nearest step is 1190.4 MHz"));
  EXPECT_THAT(result.out, HasSubstr("nothing was changed; add --apply to do it"));
  expect_untouched();
  EXPECT_FALSE(exists(system_.root(), "var/lib/ridgeline"));
}

TEST_F(ModesSet, AppliesReadsBackAndRestores) {
  make("agx_orin_jp6");
  const ProcessResult set = run({"modes", "set", example_mode, "--lock", "--apply"});
  EXPECT_EQ(set.exit_code, 0) << set.err;
  EXPECT_THAT(set.out, HasSubstr("read back"));
  EXPECT_THAT(set.out, HasSubstr("undo with: sudo ridgeline modes restore"));
  EXPECT_EQ(first_line(system_.root(), "sys/class/devfreq/17000000.gpu/min_freq"), "612000000");
  EXPECT_EQ(first_line(system_.root(), "sys/devices/system/cpu/cpu11/online"), "0");
  const ProcessResult again = run({"modes", "set", example_mode, "--lock"});
  EXPECT_THAT(again.out, HasSubstr("nothing to change"));
  const ProcessResult restored = run({"modes", "restore"});
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.out, HasSubstr("restored"));
  expect_untouched();
  EXPECT_THAT(run({"modes", "restore"}).out, HasSubstr("nothing to restore"));
}

TEST_F(ModesSet, OtherSMsGetTheCommandsAndAnOffer) {
  make("agx_orin_jp6");
  const ProcessResult shown = run({"modes", "set", "30W"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, HasSubstr("sudo nvpmodel -m 2\n  sudo reboot\n"));
  EXPECT_THAT(shown.out, HasSubstr("sudo ridgeline modes set gpu=612MHz,emc=3199MHz,cpu=1728MHz,"
                                   "cores=8 --apply"));
  EXPECT_EQ(run({"modes", "set", "30W", "--apply"}).exit_code, 3);
  expect_untouched();
}

TEST_F(ModesSet, AStockModeGoesThroughNvpmodel) {
  make("orin_nano_super_jp6");
  // nvpmodel as a script that does what it is told.
  const std::string root = system_.root().path;
  system_.write("usr/sbin/nvpmodel", "#!/bin/sh\nprintf 'pmode:%04d\\n' \"$2\" > " + root +
                                         "var/lib/nvpmodel/status\necho 612000000 > " + root +
                                         "sys/class/devfreq/17000000.gpu/max_freq\n");
  ::chmod((root + "usr/sbin/nvpmodel").c_str(), 0755);
  before_ = tree_content(system_);
  if (::geteuid() != 0) GTEST_SKIP() << "nvpmodel needs root";
  const ProcessResult set = run({"modes", "set", "15W", "--apply"});
  EXPECT_EQ(set.exit_code, 0) << set.err;
  EXPECT_EQ(first_line(system_.root(), "var/lib/nvpmodel/status"), "pmode:0000");
  EXPECT_THAT(set.out, HasSubstr("mode 15W"));
  EXPECT_EQ(run({"modes", "restore"}).exit_code, 0);
  expect_untouched();
}

TEST_F(ModesSet, JsonAndCsvHaveEverything) {
  make("agx_orin_jp6");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"modes", "set", example_mode, "--json"},
        {"modes", "set", "30W", "--json"},
        {"modes", "set", "gpu=612MHz", "--apply", "--json"},
        {"modes", "restore", "--json"}}) {
    const ProcessResult result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(schema_violations(Json::parse(result.out), "mode_change.schema.json"), IsEmpty());
  }
  EXPECT_THAT(run({"modes", "set", example_mode, "--csv"}).out,
              HasSubstr("knob,node,from,to,read_back,rounded\n"));
}

TEST_F(ModesSet, RefusalsAreOneLineWithTheirExitCode) {
  make("xavier_nx_jp5");
  struct Refusal {
    std::vector<std::string> words;
    int code;
    const char* text;
  };
  const Refusal refusals[] = {
      {{"modes", "set"}, 2, "modes set: needs a mode"},
      {{"modes", "set", "42W"}, 2, "has no mode"},
      {{"modes", "set", "gpu=9GHz"}, 2, "above the highest clock"},
      {{"modes", "set", "cores=99"}, 2, "this machine has 6 CPUs"},
      {{"modes", "set", "cores=0"}, 2, "zero"},
      {{"modes", "set", "emc=1866MHz", "--lock"}, 3, "above the 1600 MHz"},
      {{"modes", "set", "cap=10W"}, 2, "no power cap to set"},
      {{"modes", "set", "gpu=510MHz", "--block"}, 2, "--block: is not an option of 'modes set'"},
      {{"modes", "--apply"}, 2, "--apply: goes with 'modes set'"},
      {{"modes", "restore", "--lock"}, 2, "--lock: goes with 'modes set'"},
  };
  for (const Refusal& each : refusals) {
    const ProcessResult result = run(each.words);
    EXPECT_EQ(result.exit_code, each.code) << each.text << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(each.text));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  expect_untouched();
}

TEST_F(ModesSet, AnOrdinaryUserMayLookAndIsToldToUseSudo) {
  make("agx_orin_jp6");
  ::chmod(system_.root().path.c_str(), 0755);
  ::chmod(system_.root().at("sys/class/devfreq/17000000.gpu/max_freq").c_str(), 0444);
  const OrdinaryUser user;
  if (::access(tested_program().c_str(), X_OK) != 0)
    GTEST_SKIP() << "an ordinary user cannot reach the program, perhaps in root's home";
  EXPECT_EQ(run({"modes", "set", "gpu=612MHz"}).exit_code, 0);
  const ProcessResult result = run({"modes", "set", "gpu=612MHz", "--apply"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("run ridgeline with sudo"));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  expect_untouched();
}

TEST_F(ModesSet, AContainerWithoutSysIsOneClearLine) {
  make_empty(system_);
  const ProcessResult result = run({"modes", "set", "gpu=612MHz"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no GPU clock to set"));
}

using PowerCommand = ModesSet;

TEST_F(PowerCommand, ShowsRailsWithTheirEnergy) {
  make("agx_orin_jp6");
  const ProcessResult result = run({"power", "--seconds", "0.2", "--rate", "100"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("VDD_GPU_SOC"));
  EXPECT_THAT(result.out, HasSubstr("VDDQ_VDD2_1V8AO  part"));
  EXPECT_THAT(result.out, HasSubstr("8.378 W"));
  EXPECT_THAT(result.out, HasSubstr("shorter than the 430 ms over which the sensor averages"));
}

TEST_F(PowerCommand, RunsAProgram) {
  make("orin_nano_super_jp6");
  const ProcessResult result =
      run({"power", "--rate", "100", "--json", "--", "/bin/sh", "-c", "echo hello; exit 3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("hello"));
  const Json json = Json::parse(result.out);
  EXPECT_THAT(schema_violations(json, "power.schema.json"), IsEmpty());
  EXPECT_THAT(result.out, HasSubstr("ended with exit code 3"));
}

TEST_F(PowerCommand, ReadsALog) {
  make_empty(system_);
  system_.write("run.log",
                "RAM 1/2MB (lfb 1x4MB) CPU [1%@1] VDD_IN 5000/1\n"
                "RAM 1/2MB (lfb 1x4MB) CPU [1%@1] VDD_IN 7000/1\n");
  const std::string log = system_.root().at("run.log");
  const ProcessResult result = run({"power", "--log", log, "--interval", "500ms"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("3.000 J"));
  const ProcessResult json = run({"power", "--log", log, "--json"});
  EXPECT_THAT(schema_violations(Json::parse(json.out), "power.schema.json"), IsEmpty());
  EXPECT_EQ(run({"power", "--log", log, "--csv"}).out,
            "time_s,VDD_IN_w,total_w\n0.000000,5,5\n1.000000,7,7\n");
}

TEST_F(PowerCommand, RefusalsAreOneLineWithTheirExitCode) {
  make_empty(system_);
  system_.write("other.log", "something else\n");
  const std::string log = system_.root().at("other.log");
  const ProcessResult none = run({"power"});
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_THAT(none.err, HasSubstr("no power sensor: "));
  EXPECT_THAT(none.err, HasSubstr("rails: not a Jetson"));
  EXPECT_THAT(none.out, Not(HasSubstr("0 W")));
  EXPECT_EQ(run({"power", "--log", log}).exit_code, 1);
  EXPECT_EQ(run({"power", "--log", "/no/such.log"}).exit_code, 1);
  EXPECT_EQ(run({"power", "--log", log, "--seconds", "3"}).exit_code, 2);
  EXPECT_EQ(run({"power", "--seconds", "0"}).exit_code, 2);
  EXPECT_EQ(run({"power", "--rate", "5000"}).exit_code, 2);
  EXPECT_EQ(run({"power", "--interval", "1s"}).exit_code, 2);
}

}  // namespace
}  // namespace ridgeline::testing
