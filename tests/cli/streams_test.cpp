// Output and errors on the streams: closed pipes, full disks, names that steer terminals.
// The binary is really started; see tests/support/process.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/support/onnx_builder.h"
#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

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

// What a file is called is the choice of whoever made it, and may be an order to the terminal.
TEST(Streams, NamesOfFilesDoNotSteerTheTerminal) {
  const TemporaryDirectory folder;
  const std::string name = "evil\x1b[2J\r.onnx";
  const ProcessResult missing = run_ridgeline({"analyze", name});
  EXPECT_EQ(missing.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(missing.err.find('\r'), std::string::npos);
  EXPECT_THAT(missing.err, HasSubstr("evil?[2J?.onnx"));

  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {1, 4}).output("y");
  model.node("Relu", {"x"}, {"y"});
  folder.write(name, model.bytes());
  for (const std::vector<std::string>& form :
       std::vector<std::vector<std::string>>{{"analyze", name},
                                             {"analyze", name, "--md"},
                                             {"explain", name, "--on", "a100-80gb-sxm"}}) {
    const ProcessResult result = run_ridgeline(form, {.working_directory = folder.path()});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ((result.out + result.err).find('\x1b'), std::string::npos) << form[0];
    EXPECT_EQ(result.out.find('\r'), std::string::npos) << form[0];
    EXPECT_THAT(result.out, HasSubstr("evil?[2J")) << form[0];
  }
}

// A batch of 0 in the file itself: no time per sample exists.
TEST(Streams, AModelWithoutSamplesIsRefused) {
  const TemporaryDirectory folder;
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {0, 4}).output("y");
  model.node("Relu", {"x"}, {"y"});
  folder.write("none.onnx", model.bytes());
  for (const char* command : {"explain", "plan"}) {
    const std::vector<std::string> line{command, "none.onnx", "--on", "jetson-orin-nano-8gb"};
    const ProcessResult result = run_ridgeline(line, {.working_directory = folder.path()});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err,
              "ridgeline: none.onnx: its batch is 0: there is nothing to run (give --batch 1)\n");
  }
  const ProcessResult given =
      run_ridgeline({"explain", "none.onnx", "--on", "jetson-orin-nano-8gb", "--batch", "2"},
                    {.working_directory = folder.path()});
  EXPECT_EQ(given.exit_code, 0) << given.err;
  EXPECT_THAT(given.out, Not(HasSubstr(" inf ")));
}

}  // namespace
}  // namespace ridgeline::testing
