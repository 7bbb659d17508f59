// Other programs: their output and exit code, a limit on their time, and where they are found.
#include "base/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::EndsWith;
using ::testing::Optional;

ChildResult run_captured(std::vector<std::string> command, std::optional<double> limit_s = {}) {
  return run_child({.command = std::move(command), .is_captured = true, .limit_s = limit_s});
}

TEST(ChildProcess, BothStreamsAndTheExitCodeComeBack) {
  const ChildResult result = run_captured({"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_FALSE(result.timed_out);
}

TEST(ChildProcess, WordsAreNotForAShell) {
  EXPECT_EQ(run_captured({"printf", "%s", "a b $(x) 'y"}).output, "a b $(x) 'y");
}

TEST(ChildProcess, VariablesAreAddedAndReplaced) {
  const ChildResult result = run_child({.command = {"sh", "-c", "echo $RIDGELINE_A $HOME"},
                                        .environment = {{"RIDGELINE_A", "b"}, {"HOME", "/c"}},
                                        .is_captured = true});
  EXPECT_EQ(result.output, "b /c\n");
}

TEST(ChildProcess, ACapturedProgramReadsItsInputAndThenTheEnd) {
  const ChildResult given =
      run_child({.command = {"cat"}, .is_captured = true, .input = "no\n", .limit_s = 30});
  EXPECT_EQ(given.output, "no\n");
  EXPECT_EQ(run_captured({"cat"}, 30).output, "");
}

TEST(ChildProcess, ASignalIsCountedAsShellsDo) {
  EXPECT_EQ(run_captured({"sh", "-c", "kill -TERM $$"}).exit_code, 128 + 15);
}

TEST(ChildProcess, TheTimeOfAProgramIsLimited) {
  const ChildResult slow = run_captured({"sleep", "30"}, 0.02);
  EXPECT_TRUE(slow.timed_out);
  EXPECT_EQ(slow.exit_code, 128 + 9);
  EXPECT_FALSE(run_captured({"true"}, 30).timed_out);
}

TEST(ChildProcess, OfALongOutputTheEndIsKept) {
  const ChildResult result = run_captured({"sh", "-c", "head -c 3000000 /dev/zero; echo end"});
  EXPECT_EQ(result.output.size(), 1U << 20);
  EXPECT_THAT(result.output, EndsWith("end\n"));
}

TEST(ChildProcess, AMissingProgramIsAnError) {
  EXPECT_THROW(run_captured({"ridgeline-no-such-program"}), Error);
}

TEST(ChildProcess, ProgramsAreFoundInPath) {
  EXPECT_THAT(find_in_path("sh"), Optional(EndsWith("/sh")));
  EXPECT_EQ(find_in_path("ridgeline-no-such-program"), std::nullopt);
}

}  // namespace
}  // namespace ridgeline::testing
