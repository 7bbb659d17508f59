// Output and errors on the streams: closed pipes, full disks.
// The binary is really started; see tests/support/process.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/support/process.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Streams, ReaderThatLeavesIsNoError) {
  const ProcessResult result = run_shell("ridgeline --help | head -1; exit ${PIPESTATUS[1]}");
  EXPECT_EQ(result.out, "usage: ridgeline [COMMAND] [OPTION]...\n");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(Streams, BrokenPipeIsSilentEvenWhereTheParentIgnoresIt) {
  const ProcessResult result = run_shell(
      "trap '' PIPE; mkfifo \"$HOME/pipe\"; (exec <\"$HOME/pipe\") & "
      "exec 3>\"$HOME/pipe\"; wait; ridgeline --help >&3; echo \"code $?\"");
  EXPECT_EQ(result.out, "code " + std::to_string(128 + SIGPIPE) + "\n");
  EXPECT_THAT(result.err, Not(HasSubstr("ridgeline:")));
}

TEST(Streams, FullDiskIsAnError) {
  const ProcessResult result = run_ridgeline({"--help"}, {.stdout_path = "/dev/full"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "ridgeline: standard output: No space left on device\n");
}

TEST(Streams, ClosedOutputIsAnError) {
  const ProcessResult result = run_shell("ridgeline --help >&-");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("ridgeline: standard output: "));
}

}  // namespace
}  // namespace ridgeline::testing
