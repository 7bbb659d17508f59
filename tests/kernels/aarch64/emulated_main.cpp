// The aarch64 kernels, cross-compiled and run under an emulator: their results, and their loops
// against their rows. On an aarch64 host the ordinary tests cover them instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/kernels/declaration.h"
#include "tests/kernels/loop_proof.h"
#include "tests/support/process.h"

namespace ridgeline::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string program = RIDGELINE_AARCH64_CHECK;  // "" without a cross compiler
const std::string emulator = RIDGELINE_AARCH64_EMULATOR;
const std::string objdump = RIDGELINE_AARCH64_OBJDUMP;

class Aarch64Kernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (program.empty()) GTEST_SKIP() << "no cross compiler: install g++-aarch64-linux-gnu";
    if (emulator.empty()) GTEST_SKIP() << "no emulator: install qemu-user-static";
  }
  ProcessResult run(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {emulator, "-cpu", "max", program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_process(command);
  }
};

TEST_F(Aarch64Kernels, LeaveWhatTheyMustCompute) {
  const auto result = run({});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("correct: fma_neon_fp16\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("does not run"))) << "the emulator has all of it";
}

TEST_F(Aarch64Kernels, LoopsHoldWhatTheirRowsDeclareAndMutantsAreRejected) {
  const auto result = run({"--declare"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::vector<Declaration> declarations;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) declarations.push_back(from_line(line));
  ASSERT_FALSE(declarations.empty());

  const auto [first, last] = std::minmax_element(
      declarations.begin(), declarations.end(),
      [](const Declaration& a, const Declaration& b) { return a.address < b.address; });
  constexpr std::uint64_t longest_body = 1 << 16;
  const auto functions =
      disassemble(objdump, program, first->address, last->address + longest_body);

  int rejected = 0;
  for (const Declaration& declaration : declarations) {
    const auto problems = check_function(declaration.row(), functions, declaration.address);
    if (declaration.reason.empty()) {
      EXPECT_THAT(problems, IsEmpty()) << declaration.name;
    } else {
      EXPECT_THAT(problems, Contains(HasSubstr(declaration.reason))) << declaration.name;
      ++rejected;
    }
  }
  EXPECT_GE(rejected, 10);
}

}  // namespace
}  // namespace ridgeline::testing
