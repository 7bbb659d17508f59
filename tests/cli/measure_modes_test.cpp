// `measure --modes` by the real binary: core counts for real on this machine, a sweep that goes on
// where it stopped, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/profile.h"
#include "tests/support/board_trees.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MeasureModes : public ::testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> words) {
    words.insert(words.begin(), "measure");
    return run_ridgeline(words, {.environment = {{"XDG_DATA_HOME", store_.path()}}});
  }
  TemporaryDirectory store_;
};

TEST_F(MeasureModes, CoreCountsAreMeasuredHereAndASweepGoesOn) {
  const std::string file = store_.file("board.json");
  const std::vector<std::string> words{"--modes",  "grid:cores=1", "--only", "compute",
                                       "--budget", "1s",           "-o",     file};
  const ProcessResult result = run(words);
  // A busy machine is said to be one: the exit code is 4 then.
  EXPECT_THAT(result.exit_code, ::testing::AnyOf(0, 4)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 mode measured"));
  const Profile profile = load_profile(file);
  ASSERT_EQ(profile.modes.size(), 1u);
  EXPECT_EQ(profile.modes[0].mode.label, "cores=1");
  EXPECT_EQ(profile.modes[0].mode.cpu_cores, 1);
  EXPECT_THAT(schema_violations(to_json(profile), "profile.schema.json"), IsEmpty());
  std::vector<std::string> again = words;
  again.push_back("--resume");
  const ProcessResult resumed = run(again);
  EXPECT_THAT(resumed.err, ::testing::Not(HasSubstr("1 of 1"))) << "it was measured already";
  EXPECT_EQ(load_profile(file).modes.size(), 1u);
}

TEST_F(MeasureModes, TheModesAreListed) {
  const ProcessResult result = run({"--modes", "grid:cores=all", "--list"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("cores=1"));
  const ProcessResult json = run({"--modes", "grid:cores=all", "--list", "--json"});
  EXPECT_THAT(schema_violations(Json::parse(json.out), "measure_plan.schema.json"), IsEmpty());
}

TEST_F(MeasureModes, RefusalsAreOneLineWithTheirExitCode) {
  const std::pair<std::vector<std::string>, const char*> refusals[] = {
      {{"--resume"}, "--resume: goes with --modes"},
      {{"--modes", ""}, "--modes: is empty"},
      {{"--modes", "grid:sm=all"}, "is not a knob of a grid"},
      {{"--modes", "grid:cores=99999"}, "is not a step of this machine"},
      {{"--modes", "grid:cores=all", "--check-targets"}, "cannot be combined with --modes"},
      {{"--modes", "grid:cores=all", "--threads", "1"}, "cannot be combined with --modes"},
  };
  for (const auto& [words, text] : refusals) {
    const ProcessResult result = run(words);
    EXPECT_EQ(result.exit_code, 2) << text << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(MeasureModes, AProfileOfAnotherMachineIsNotGoneOnWith) {
  Profile other;
  other.machine.name = "another machine";
  other.modes.emplace_back();
  save_profile(other, store_.file("board.json"));
  const ProcessResult result =
      run({"--modes", "grid:cores=1", "--resume", "-o", store_.file("board.json")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("is the profile of another machine"));
}

}  // namespace
}  // namespace ridgeline::testing
