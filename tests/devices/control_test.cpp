// Setting and restoring power modes on trees of every generation, and in a world that fails:
// refused, rounded and ignored writes, death before and after every single one, a full disk, other
// processes, other users.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "devices/control/session.h"
#include "devices/machine/identification.h"
#include "devices/sensors/nvml.h"
#include "tests/support/board_trees.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

using control::Change;
using control::JournalState;
using control::Session;
using control::Wanted;
using control::Written;
using ::testing::HasSubstr;

// The kernel of a fake tree: keeps minimum below maximum, and does what a test tells it to.
class TestWorld final : public control::World {
 public:
  explicit TestWorld(const FakeSystem& system) : World(system.root()) {}

  std::map<std::string, int> faults = {};  // errno, by the end of a node's name
  std::map<std::string, int> fault_once = {};
  std::vector<std::string> ignored = {};            // nodes that take a value and do nothing
  std::map<std::string, std::string> rounded = {};  // what a node makes of every value
  bool disk_full = false;
  int die_before = 0, die_after = 0;  // the n-th step; 0 = never
  ChildResult nvpmodel;
  std::function<void(int mode)> on_nvpmodel = {};
  int steps = 0;
  std::vector<std::string> written = {};

  void save_journal(const std::string& name, const std::string& text) override {
    const Step step(*this);
    if (disk_full) throw Error(name, "the disk is full");
    World::save_journal(name, text);
  }
  void remove_journal(const std::string& name) override {
    const Step step(*this);
    World::remove_journal(name);
  }
  void wait(double) override {}

 protected:
  int write_file(const std::string& node, const std::string& value) override {
    const Step step(*this);
    for (auto& [end, code] : fault_once)
      if (node.ends_with(end) && code != 0) return std::exchange(code, 0);
    for (const auto& [end, code] : faults)
      if (node.ends_with(end)) return code;
    for (const std::string& end : ignored)
      if (node.ends_with(end)) return 0;
    std::string kept = value;
    const std::string folder = node.substr(0, node.rfind('/') + 1);
    const std::string file = node.substr(folder.size());
    if (file.ends_with("min_freq") || file.ends_with("max_freq")) {
      const bool is_min = file.ends_with("min_freq");
      const std::string other = folder + (file.starts_with("scaling") ? "scaling_" : "") +
                                (is_min ? "max_freq" : "min_freq");
      const double bound = number(root(), other).value_or(is_min ? 1e18 : 0);
      const double asked = std::stod(value);
      if (is_min ? asked > bound : asked < bound) return EINVAL;
    }
    for (const auto& [end, made] : rounded)
      if (node.ends_with(end)) kept = made;
    written.push_back(node);
    return World::write_file(node, kept);
  }
  ChildResult set_nvpmodel(int mode) override {
    const Step step(*this);
    if (nvpmodel.exit_code == 0 && on_nvpmodel) on_nvpmodel(mode);
    return nvpmodel;
  }

 private:
  // One change of the machine or of the journal, which may be the last.
  struct Step {
    explicit Step(TestWorld& world) : world_(world) {
      if (++world.steps == world.die_before) ::kill(::getpid(), SIGKILL);
    }
    ~Step() {
      if (world_.steps == world_.die_after) ::kill(::getpid(), SIGKILL);
    }
    TestWorld& world_;
  };
};

class Control : public ::testing::Test {
 protected:
  void make(const std::string& name) {
    make_board(system_, board_tree(name));
    before_ = tree_content(system_);
  }
  Wanted wanted(const std::string& text, bool locked = false) {
    const TestWorld world(system_);
    const Identity identity = identify(system_.root());
    const catalog::Device device = this_device(identity, system_.root());
    return wanted_mode(control::find_knobs(world), device, present_configuration(identity, device),
                       parse_mode_request(text, "mode"), locked, "mode");
  }
  std::string value(const std::string& node) const {
    return first_line(system_.root(), node).value_or("none");
  }
  bool has_journal() const { return exists(system_.root(), "var/lib/ridgeline/set.json"); }
  void expect_untouched() const { EXPECT_EQ(tree_content(system_), before_); }

  template <class Action>
  Error error_of(Action action) {
    try {
      action();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {"", ""};
  }

  FakeSystem system_;
  std::map<std::string, std::string> before_;
};

const char* const orin_gpu = "sys/class/devfreq/17000000.gpu/";
const char* const policy0 = "sys/devices/system/cpu/cpufreq/policy0/";
const char* const orin_emc_clock = "sys/kernel/debug/bpmp/debug/clk/emc/";

TEST_F(Control, EveryGenerationIsSetReadBackAndRestored) {
  struct Case {
    const char *tree, *mode;
    std::map<std::string, std::string> nodes;  // then
  };
  const std::string cpu = "sys/devices/system/cpu/";
  const Case cases[] = {
      {"agx_orin_jp5",
       "gpu=612MHz,emc=2133MHz,cpu=1190.4MHz,cores=4",
       {{"sys/class/devfreq/17000000.ga10b/max_freq", "612000000"},
        {"sys/class/devfreq/17000000.ga10b/min_freq", "612000000"},
        {std::string(orin_emc_clock) + "rate", "2133000000"},
        {std::string(orin_emc_clock) + "mrq_rate_locked", "1"},
        {std::string(policy0) + "scaling_max_freq", "1190400"},
        {cpu + "cpu3/online", "1"},
        {cpu + "cpu4/online", "0"},
        {cpu + "cpu11/online", "0"}}},
      {"agx_orin_jp6",
       "gpu=306MHz,cores=12",
       {{std::string(orin_gpu) + "max_freq", "306000000"}, {cpu + "cpu11/online", "1"}}},
      {"agx_orin_jp7", "cpu=729.6MHz", {{std::string(policy0) + "scaling_max_freq", "729600"}}},
      {"orin_nano_super_jp6",
       "gpu=510MHz,emc=2133MHz,cores=5",
       {{std::string(orin_gpu) + "max_freq", "510000000"}, {cpu + "cpu5/online", "0"}}},
      {"xavier_nx_jp4",
       "gpu=510MHz,emc=1331.2MHz,cores=2",
       {{"sys/class/devfreq/17000000.gv11b/max_freq", "510000000"}, {cpu + "cpu2/online", "0"}}},
      {"xavier_nx_jp5",
       "gpu=803.25MHz",
       {{"sys/class/devfreq/17000000.gv11b/min_freq", "803250000"}}},
      // The Denver cores, CPUs 1 and 2, go first.
      {"tx2_jp4",
       "gpu=854.25MHz,cores=4",
       {{"sys/class/devfreq/17000000.gp10b/max_freq", "854250000"},
        {cpu + "cpu1/online", "0"},
        {cpu + "cpu2/online", "0"},
        {cpu + "cpu3/online", "1"},
        {cpu + "cpu5/online", "1"}}},
      {"nano_jp4",
       "gpu=460.8MHz,emc=1065.6MHz,cpu=921.6MHz,cores=2",
       {{"sys/devices/gpu.0/devfreq/57000000.gpu/max_freq", "460800000"},
        {"sys/kernel/debug/clk/override.emc/clk_state", "1"},
        {"sys/kernel/debug/clk/override.emc/clk_update_rate", "1065600000"}}},
      {"agx_thor_jp7",
       "gpu=1386MHz,emc=3200MHz",
       {{"sys/class/devfreq/gpu-gpc-0/max_freq", "1386000000"},
        {"sys/class/devfreq/bwmgr/min_freq", "3200000000"}}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.tree);
    FakeSystem system;
    make_board(system, board_tree(each.tree));
    const auto before = tree_content(system);
    TestWorld world(system);
    const Identity identity = identify(system.root());
    ASSERT_FALSE(identity.catalog_id.empty());
    const catalog::Device device = this_device(identity, system.root());
    const Wanted wanted =
        wanted_mode(control::find_knobs(world), device, present_configuration(identity, device),
                    parse_mode_request(each.mode), true, "mode");
    {
      Session session(world, control::user_journal);
      const auto written = session.set(wanted, each.mode);
      EXPECT_FALSE(written.empty());
      for (const Written& one : written) EXPECT_FALSE(one.rounded) << one.change.node;
      session.keep();
    }
    for (const auto& [node, text] : each.nodes)
      EXPECT_EQ(first_line(system.root(), node).value_or(""), text) << node;
    for (const auto& [path, text] : before) {
      if (path.find("pg_mask") == std::string::npos && !path.ends_with("cpu0/online")) continue;
      EXPECT_EQ(tree_content(system).at(path), text);
    }
    Session session(world, control::user_journal);
    session.restore();
    EXPECT_EQ(tree_content(system), before);
    EXPECT_FALSE(exists(system.root(), "var/lib/ridgeline/set.json"));
  }
}

TEST_F(Control, ASessionThatIsNotKeptRestoresAtItsEnd) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  {
    Session session(world, control::sweep_journal);
    session.set(wanted("gpu=306MHz,cores=2", true), "gpu=306MHz");
    EXPECT_EQ(value(std::string(orin_gpu) + "max_freq"), "306000000");
    session.set(wanted("gpu=1224MHz,cores=8", true), "gpu=1224MHz");
    EXPECT_EQ(value(std::string(orin_gpu) + "min_freq"), "1224000000");
  }
  expect_untouched();
}

// The heart of it: whatever moment the process dies at, the next start finds everything back.
TEST_F(Control, DeathBeforeAndAfterEveryWriteIsRepaired) {
  make("orin_nano_super_jp6");
  const std::vector<std::string> modes{"gpu=306MHz,emc=2133MHz,cpu=729.6MHz,cores=2",
                                       "gpu=918MHz,emc=665.6MHz,cores=6",
                                       "gpu=510MHz,cpu=1344MHz,cores=5"};
  std::vector<Wanted> wanteds;
  for (const std::string& mode : modes) wanteds.push_back(wanted(mode, true));
  const Wanted capped = wanted(modes.front(), false);
  // As `measure --modes` does it: held for the kernels, then only capped for the power at rest.
  const auto sweep = [&](TestWorld& world) {
    Session session(world, control::sweep_journal);
    for (std::size_t i = 0; i < modes.size(); ++i) {
      session.set(wanteds[i], modes[i]);
      if (i > 0) continue;
      session.restore();
      session.set(capped, modes[i]);
    }
    session.restore();
  };
  int steps = 0;
  {
    TestWorld world(system_);
    sweep(world);
    steps = world.steps;
    expect_untouched();
  }
  ASSERT_GT(steps, 30);
  for (int step = 1; step <= steps; ++step)
    for (const bool before : {true, false}) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        TestWorld world(system_);
        (before ? world.die_before : world.die_after) = step;
        sweep(world);
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFSIGNALED(status)) << "it should have died at step " << step;
      TestWorld world(system_);
      const Session session(world, control::user_journal);
      ASSERT_EQ(tree_content(system_), before_)
          << "after death " << (before ? "before" : "after") << " step " << step;
      ASSERT_FALSE(exists(system_.root(), "var/lib/ridgeline/sweep.json"));
    }
}

TEST_F(Control, DeathDuringARestoreIsRepairedToo) {
  make("agx_orin_jp5");
  const Wanted mode = wanted("gpu=612MHz,emc=2133MHz,cores=3", true);
  for (int step = 1; step <= 12; ++step) {
    {
      TestWorld world(system_);
      Session session(world, control::user_journal);
      session.set(mode, "x");
      session.keep();
    }
    const pid_t child = ::fork();
    if (child == 0) {
      TestWorld world(system_);
      world.die_after = step;
      Session session(world, control::user_journal);
      session.restore();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    TestWorld world(system_);
    Session session(world, control::user_journal);
    session.restore();
    ASSERT_EQ(tree_content(system_), before_) << step;
  }
}

TEST_F(Control, TheNextStartSaysWhatItRestored) {
  make("agx_orin_jp6");
  const pid_t child = ::fork();
  if (child == 0) {
    TestWorld world(system_);
    Session session(world, control::sweep_journal);
    session.set(wanted("gpu=306MHz"), "gpu=306MHz");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  TestWorld world(system_);
  const Session session(world, control::sweep_journal);
  ASSERT_EQ(session.notes().size(), 1u);
  EXPECT_EQ(session.notes()[0],
            "an earlier ridgeline ended while it had changed the mode (gpu=306MHz): 1 knob "
            "restored first");
  ASSERT_EQ(session.restored_first().size(), 1u);
  EXPECT_EQ(session.restored_first()[0].to, "1300500000");
}

TEST_F(Control, AUsersModeSurvivesAndASweepReturnsToIt) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  {
    Session session(world, control::user_journal);
    session.set(wanted("gpu=612MHz"), "gpu=612MHz");
    session.keep();
  }
  {
    Session session(world, control::sweep_journal);
    EXPECT_TRUE(session.notes().empty());
    // The cap is what was there before any of it.
    session.set(wanted("gpu=1224MHz", true), "gpu=1224MHz");
  }
  EXPECT_EQ(value(std::string(orin_gpu) + "max_freq"), "612000000");
  Session session(world, control::user_journal);
  session.restore();
  expect_untouched();
}

TEST_F(Control, FromAnotherBootOnlyNvpmodelsModeIsPutBack) {
  if (::geteuid() != 0) GTEST_SKIP() << "nvpmodel needs root";
  make("orin_nano_super_jp6");
  system_.write("usr/sbin/nvpmodel", "");
  const auto set_status = [&](int mode) {
    system_.write("var/lib/nvpmodel/status", "pmode:000" + std::to_string(mode) + "\n");
  };
  {
    TestWorld world(system_);
    world.on_nvpmodel = set_status;
    Session session(world, control::user_journal);
    session.set(wanted("15W", true), "15W");
    session.keep();
  }
  EXPECT_EQ(value("var/lib/nvpmodel/status"), "pmode:0000");
  const std::string gpu_limit = value(std::string(orin_gpu) + "max_freq");
  system_.write("proc/sys/kernel/random/boot_id", "99999999-2222-3333-4444-555555555555\n");
  TestWorld world(system_);
  world.on_nvpmodel = set_status;
  const Session session(world, control::user_journal);
  EXPECT_EQ(value("var/lib/nvpmodel/status"), "pmode:0001");
  EXPECT_EQ(value(std::string(orin_gpu) + "max_freq"), gpu_limit) << "not ours any more";
  EXPECT_TRUE(world.written.empty());
  EXPECT_THAT(session.notes().at(0), HasSubstr("only nvpmodel's mode is put back"));
}

TEST_F(Control, ARefusedWriteLeavesNothingHalfSet) {
  make("agx_orin_jp6");
  for (const int code : {EACCES, EPERM, EROFS, EINVAL, ENODEV, EIO}) {
    TestWorld world(system_);
    world.faults["policy8/scaling_max_freq"] = code;
    Session session(world, control::user_journal);
    const Error error =
        error_of([&] { session.set(wanted("gpu=612MHz,cpu=1190.4MHz,cores=9", true), "x"); });
    EXPECT_THAT(error.what(), HasSubstr("policy8/scaling_max_freq"));
    EXPECT_THAT(error.what(), HasSubstr("everything was put back"));
    expect_untouched();
    EXPECT_FALSE(has_journal());
  }
}

TEST_F(Control, ABusyNodeIsTriedAgain) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  world.fault_once["gpu/max_freq"] = EAGAIN;
  Session session(world, control::user_journal);
  session.set(wanted("gpu=612MHz"), "x");
  EXPECT_EQ(value(std::string(orin_gpu) + "max_freq"), "612000000");
}

TEST_F(Control, AWriteThatIsIgnoredIsAnError) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  world.ignored = {"cpu9/online"};
  Session session(world, control::user_journal);
  const Error error = error_of([&] { session.set(wanted("gpu=612MHz,cores=9"), "x"); });
  EXPECT_THAT(error.what(), HasSubstr("cpu9/online: the kernel took 0 and did nothing"));
  expect_untouched();
}

TEST_F(Control, AValueThatTheKernelRoundsIsReadBackAndRestored) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  world.rounded["gpu/max_freq"] = "510000000";  // a table without 612 MHz
  Session session(world, control::user_journal);
  const auto written = session.set(wanted("gpu=612MHz"), "x");
  ASSERT_EQ(written.size(), 1u);
  EXPECT_TRUE(written[0].rounded);
  EXPECT_EQ(written[0].change.to, "612000000");
  EXPECT_EQ(written[0].got, "510000000");
  world.rounded.clear();
  session.restore();
  expect_untouched();
}

TEST_F(Control, ANodeThatVanishesIsAnErrorAndTheRestIsPutBack) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  world.faults["policy4/scaling_min_freq"] = ENOENT;
  Session session(world, control::user_journal);
  const Error error = error_of([&] { session.set(wanted("cpu=1190.4MHz", true), "x"); });
  EXPECT_THAT(error.what(), HasSubstr("no such node on this system"));
  expect_untouched();
}

TEST_F(Control, AFullDiskStopsBeforeTheFirstWrite) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  Session session(world, control::user_journal);
  world.disk_full = true;
  EXPECT_THAT(error_of([&] { session.set(wanted("gpu=612MHz"), "x"); }).what(),
              HasSubstr("the disk is full"));
  EXPECT_TRUE(world.written.empty());
  expect_untouched();
}

// A journal that cannot be written for real: the child may not make any file longer.
TEST_F(Control, ADiskWithoutRoomLeavesNoHalfWrittenJournal) {
  make("agx_orin_jp6");
  const Wanted mode = wanted("gpu=612MHz", true);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    try {
      control::World world(system_.root());
      Session session(world, control::user_journal);
      session.set(mode, "x");
    } catch (const Error&) {
      ::_exit(7);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  expect_untouched();
  EXPECT_FALSE(has_journal());
}

TEST_F(Control, AnotherProcessFindsTheLockToo) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  const Session session(world, control::sweep_journal);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    TestWorld second(system_);
    try {
      const Session other(second, control::user_journal);
    } catch (const Error&) {
      ::_exit(second.written.empty() ? 7 : 8);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(Control, ASecondProcessFindsTheLock) {
  make("agx_orin_jp6");
  TestWorld first(system_);
  const Session session(first, control::user_journal);
  TestWorld second(system_);
  const Error error = error_of([&] { const Session other(second, control::sweep_journal); });
  EXPECT_THAT(error.what(), HasSubstr("another ridgeline is changing them (process " +
                                      std::to_string(::getpid()) + ")"));
}

TEST_F(Control, RefusalsComeBeforeAnythingIsWritten) {
  make("xavier_nx_jp5");
  TestWorld world(system_);
  Session session(world, control::user_journal);
  const auto refusal = [&](const std::string& mode, bool locked = true) {
    return error_of([&] { session.set(wanted(mode, locked), mode); });
  };
  // The mode's cap on the memory is 1600 MHz, on the CPU 1420.8.
  const Error cap = refusal("emc=1866MHz");
  EXPECT_THAT(cap.what(), HasSubstr("emc=1866 MHz is above the 1600 MHz that the present mode "
                                    "allows"));
  EXPECT_EQ(cap.code(), ExitCode::infeasible);
  EXPECT_EQ(refusal("cpu=1907.2MHz").code(), ExitCode::infeasible);
  EXPECT_EQ(refusal("gpu=2GHz").code(), ExitCode::usage);
  EXPECT_EQ(refusal("gpu=1MHz").code(), ExitCode::usage);
  EXPECT_EQ(refusal("cores=7").code(), ExitCode::usage);
  EXPECT_EQ(refusal("42W").code(), ExitCode::usage);
  EXPECT_TRUE(world.written.empty());
  EXPECT_FALSE(has_journal());
  expect_untouched();
}

TEST_F(Control, OtherSMsNeedARebootWhichIsNeverStarted) {
  make("agx_orin_jp6");
  system_.write("usr/sbin/nvpmodel", "");
  const Error error = error_of([&] { wanted("30W"); });
  EXPECT_EQ(error.code(), ExitCode::infeasible);
  EXPECT_EQ(error.fix(), "sudo nvpmodel -m 2 && sudo reboot");
  EXPECT_EQ(error_of([&] { wanted("gpu=612MHz,sm=8"); }).code(), ExitCode::infeasible);
  EXPECT_FALSE(wanted("50W").cpus_on.size() > 12);
}

TEST_F(Control, NvpmodelThatAsksForARebootIsAnError) {
  if (::geteuid() != 0) GTEST_SKIP() << "nvpmodel needs root";
  make("agx_orin_jp6");
  system_.write("usr/sbin/nvpmodel", "");
  before_ = tree_content(system_);
  TestWorld world(system_);
  world.nvpmodel = {234, false,
                    "NVPM WARN: Reboot required for changing to this power mode: 3\n"
                    "NVPM WARN: DO YOU WANT TO REBOOT NOW? enter YES/yes to confirm:\n"
                    "NVPM ERROR: bad input!\n"};
  Session session(world, control::user_journal);
  const Error error = error_of([&] { session.set(wanted("50W"), "50W"); });
  EXPECT_EQ(error.code(), ExitCode::infeasible);
  EXPECT_THAT(error.what(), HasSubstr("needs a reboot, which ridgeline never starts"));
  expect_untouched();
  world.nvpmodel = {1, false, "NVPM ERROR: something\n"};
  EXPECT_THAT(error_of([&] { session.set(wanted("50W"), "50W"); }).what(),
              HasSubstr("failed with exit code 1: NVPM ERROR: something"));
  world.nvpmodel = {137, true, ""};
  EXPECT_THAT(error_of([&] { session.set(wanted("50W"), "50W"); }).what(),
              HasSubstr("did not end within a minute"));
}

TEST_F(Control, TheAnswerToNvpmodelsQuestionIsNo) {
  // A script in nvpmodel's place that asks, and reboots on yes.
  make("agx_orin_jp6");
  const std::string answer = system_.root().at("answer");
  system_.write("usr/sbin/nvpmodel", "#!/bin/sh\necho 'REBOOT NOW?'\nread word\necho \"$word\" > " +
                                         answer + "\nexit 234\n");
  ::chmod(system_.root().at("usr/sbin/nvpmodel").c_str(), 0755);
  control::World world(system_.root());
  EXPECT_THROW(world.write(control::nvpmodel_mode, "3"), Error);
  EXPECT_EQ(value("answer"), "no");
}

TEST_F(Control, AMissingNvpmodelIsNamedWithItsPackage) {
  make("agx_orin_jp6");
  control::World world(system_.root());
  try {
    world.write(control::nvpmodel_mode, "3");
    FAIL() << "there is no nvpmodel";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "nvpmodel -m 3");
    EXPECT_THAT(error.cause(), HasSubstr("cannot be started"));
    EXPECT_EQ(error.fix(), "install nvidia-l4t-nvpmodel");
  }
}

TEST_F(Control, SomeNodesAreNeverWritten) {
  using control::why_never_written;
  for (const char* node :
       {"sys/devices/platform/gpu.0/tpc_pg_mask", "sys/devices/platform/gpu.0/fbp_pg_mask",
        "sys/devices/gpu.0/tpc_pg_mask", "sys/devices/system/cpu/cpu0/online", "etc/shadow",
        "sys/class/devfreq/../../../etc/online", "sys/class/hwmon/hwmon1/curr1_max",
        "sys/devices/platform/gpu.0/power/control"}) {
    EXPECT_NE(why_never_written(node), "") << node;
    make("agx_orin_jp6");
    TestWorld world(system_);
    EXPECT_THROW(world.write(node, "1"), Error) << node;
  }
  EXPECT_EQ(why_never_written("sys/devices/system/cpu/cpu10/online"), "");
}

class PreparedJournal : public Control {
 protected:
  void prepare(const std::string& node, const std::string& text) {
    make("agx_orin_jp6");
    control::Journal journal{
        "11111111-2222-3333-4444-555555555555", "x", JournalState::changing, {{node, text}}};
    const std::string folder = system_.root().at("var/lib/ridgeline");
    std::filesystem::create_directories(folder);
    ::chmod(folder.c_str(), 0700);
    std::ofstream(folder + "/sweep.json") << control::journal_text(journal);
    ::chmod((folder + "/sweep.json").c_str(), 0600);
    before_ = tree_content(system_);
  }
  std::string file() const { return system_.root().at("var/lib/ridgeline/sweep.json"); }
  void expect_not_obeyed(const char* reason) {
    TestWorld world(system_);
    const Error error = error_of([&] { const Session session(world, control::user_journal); });
    EXPECT_THAT(error.what(), HasSubstr(reason));
    EXPECT_TRUE(world.written.empty());
    expect_untouched();
  }
  const std::string limit_ = std::string(orin_gpu) + "max_freq";
};

TEST_F(PreparedJournal, OfOurOwnIsObeyed) {
  prepare(limit_, "1224000000");
  TestWorld world(system_);
  const Session session(world, control::user_journal);
  EXPECT_EQ(value(limit_), "1224000000");
}

TEST_F(PreparedJournal, OfAnotherUserIsNotObeyed) {
  prepare(limit_, "306000000");
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
  ASSERT_EQ(::chown(file().c_str(), 65534, 65534), 0);
  expect_not_obeyed("another user");
}

TEST_F(PreparedJournal, ThatOthersCanWriteIsNotObeyed) {
  prepare(limit_, "306000000");
  ::chmod(file().c_str(), 0666);
  expect_not_obeyed("another user");
  ::chmod(file().c_str(), 0600);
  ::chmod(system_.root().at("var/lib/ridgeline").c_str(), 0777);
  expect_not_obeyed("other users can write there");
}

TEST_F(PreparedJournal, ASymbolicLinkInItsPlaceIsNotObeyed) {
  prepare(limit_, "306000000");
  const std::string elsewhere = system_.root().at("elsewhere.json");
  std::filesystem::rename(file(), elsewhere);
  std::filesystem::create_symlink(elsewhere, file());
  before_ = tree_content(system_);
  expect_not_obeyed("is a symbolic link");
  // Saving does not follow it either.
  std::filesystem::remove(file());
  std::filesystem::create_symlink(system_.root().at("victim"), file());
  TestWorld world(system_);
  world.save_journal("sweep.json", "text");
  EXPECT_FALSE(exists(system_.root(), "victim"));
}

TEST_F(PreparedJournal, DamagedOrForbiddenContentIsNotObeyed) {
  prepare(limit_, "306000000");
  std::ofstream(file(), std::ios::trunc) << "{\"schema\": \"ridgeline.con";
  expect_not_obeyed("sweep.json");
  prepare("etc/passwd", "root::0:0");
  expect_not_obeyed("is not a knob");
  prepare("sys/devices/platform/gpu.0/tpc_pg_mask", "255");
  expect_not_obeyed("masks of the GPU are never written");
  prepare("sys/devices/system/cpu/cpu0/online", "0");
  expect_not_obeyed("CPU 0 is never taken offline");
}

TEST_F(Control, ACapWithoutALockLeavesTheGovernor) {
  make("agx_orin_jp6");
  TestWorld world(system_);
  Session session(world, control::user_journal);
  session.set(wanted("gpu=612MHz,emc=2133MHz"), "x");
  EXPECT_EQ(value(std::string(orin_gpu) + "max_freq"), "612000000");
  EXPECT_EQ(value(std::string(orin_gpu) + "min_freq"), "306000000");
  EXPECT_EQ(value("sys/kernel/nvpmodel_clk_cap/emc"), "2133000000");
  EXPECT_EQ(value(std::string(orin_emc_clock) + "mrq_rate_locked"), "0");
}

TEST_F(Control, ClocksBetweenStepsAreRoundedWithANote) {
  make("agx_orin_jp6");
  const Wanted mode = wanted("cpu=1.2GHz");
  EXPECT_DOUBLE_EQ(*mode.cpu_hz, 1190.4e6);
  ASSERT_EQ(mode.notes.size(), 1u);
  EXPECT_THAT(mode.notes[0], HasSubstr("1200 MHz is not lockable, the nearest step is 1190.4 MHz"));
}

TEST_F(Control, APcSetsClocksAndCores) {
  make_pc_rapl(system_);
  before_ = tree_content(system_);
  TestWorld world(system_);
  {
    Session session(world, control::sweep_journal);
    session.set(wanted("cpu=1.6GHz,cores=2", true), "x");
    EXPECT_EQ(value("sys/devices/system/cpu/cpufreq/policy1/scaling_max_freq"), "1600000");
    EXPECT_EQ(value("sys/devices/system/cpu/cpu3/online"), "0");
    EXPECT_THAT(error_of([&] { wanted("gpu=1GHz"); }).what(), HasSubstr("no GPU clock to set"));
  }
  expect_untouched();
}

TEST_F(Control, AnEmptyRootHasNothingToSet) {
  make_empty(system_);
  EXPECT_EQ(error_of([&] { wanted("gpu=612MHz"); }).code(), ExitCode::usage);
  EXPECT_EQ(error_of([&] { wanted("cores=1"); }).code(), ExitCode::usage);
  EXPECT_EQ(error_of([&] { wanted("cpu=1GHz"); }).code(), ExitCode::usage);
}

// A card with a driver that takes limits.
class TestCard final : public Nvml {
 public:
  double limit_w = 70;
  std::string clock = "free", refusal = {};
  NvmlAnswer<double> power_w() override { return {30.0, {}}; }
  NvmlAnswer<double> energy_j() override { return {1.0, {}}; }
  NvmlAnswer<double> sm_clock_hz() override { return {1.4e9, {}}; }
  NvmlAnswer<double> memory_clock_hz() override { return {5e9, {}}; }
  NvmlAnswer<std::uint64_t> throttle_reasons() override { return {std::uint64_t{0}, {}}; }
  NvmlAnswer<double> power_limit_w() override { return {limit_w, {}}; }
  NvmlAnswer<Limits> power_limits() override { return {Limits{60, 75}, {}}; }
  std::string set_power_limit_w(double watt) override {
    if (refusal.empty()) limit_w = watt;
    return refusal;
  }
  std::string lock_gpu_clock_hz(double hz) override {
    if (refusal.empty()) clock = std::to_string(std::lround(hz * 1e-6));
    return refusal;
  }
  std::string free_gpu_clock() override {
    clock = "free";
    return {};
  }
};

TEST_F(Control, ACardsLimitsGoThroughItsDriver) {
  make_pc_card(system_);
  const auto card = std::make_shared<TestCard>();
  control::World world(system_.root(), card);
  Wanted mode;
  mode.gpu_hz = 1.2e9;
  mode.cap_w = 62;
  {
    Session session(world, control::sweep_journal);
    session.set(mode, "gpu=1.2GHz,cap=62W");
    EXPECT_EQ(card->clock, "1200");
    EXPECT_DOUBLE_EQ(card->limit_w, 62);
  }
  EXPECT_EQ(card->clock, "free");
  EXPECT_DOUBLE_EQ(card->limit_w, 70);
  card->refusal = "no permission";
  Session session(world, control::sweep_journal);
  EXPECT_THAT(error_of([&] { session.set(mode, "x"); }).what(), HasSubstr("no permission"));
}

// The same through a library in place of the driver's.
TEST_F(Control, ACardsLimitsGoThroughTheLibrary) {
  make_pc_card(system_);
  const std::string library = build_file("tests/libridgeline_test_nvml.so");
  std::string why;
  const std::shared_ptr<Nvml> card = Nvml::open("0000:01:00.0", why, library);
  ASSERT_TRUE(card) << why;
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr);
  const auto locked_mhz =
      reinterpret_cast<unsigned (*)()>(::dlsym(handle, "ridgeline_test_nvml_locked_mhz"));
  ASSERT_NE(locked_mhz, nullptr);
  control::World world(system_.root(), card);
  Wanted mode;
  mode.gpu_hz = 1.2e9;
  mode.cap_w = 62;
  {
    Session session(world, control::sweep_journal);
    session.set(mode, "gpu=1.2GHz,cap=62W");
    EXPECT_EQ(locked_mhz(), 1200u);
    EXPECT_DOUBLE_EQ(card->power_limit_w().value.value_or(0), 62);
  }
  EXPECT_EQ(locked_mhz(), 0u);
  EXPECT_DOUBLE_EQ(card->power_limit_w().value.value_or(0), 70);
  // No permission: nothing stays half set.
  ::setenv("RIDGELINE_TEST_NVML", "nvmlDeviceSetGpuLockedClocks=4", 1);
  Session session(world, control::sweep_journal);
  EXPECT_THROW(session.set(mode, "x"), Error);
  ::unsetenv("RIDGELINE_TEST_NVML");
  EXPECT_EQ(locked_mhz(), 0u);
  EXPECT_DOUBLE_EQ(card->power_limit_w().value.value_or(0), 70);
  ::dlclose(handle);
}

}  // namespace
}  // namespace ridgeline::testing
