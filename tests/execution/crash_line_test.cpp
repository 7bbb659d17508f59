// The one line of a crash: whom it blames, and which file it names. The test program is "ridgeline
// itself" here; torchscript_test.cpp has a crash of LibTorch.
#include "execution/torch/crash_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>

namespace ridgeline::testing {
namespace {

using torch_module::CrashLine;

int* volatile nowhere = nullptr;

template <typename Crash>
void expect_line(Crash crash, const char* line) {
  EXPECT_EXIT(
      {
        const CrashLine outer("a.pt");
        { const CrashLine inner("b\n.pt"); }
        crash();
      },
      ::testing::ExitedWithCode(1), line);
}

constexpr const char* neutral = "ridgeline: a.pt: the program crashed on it .save it again; if";

TEST(CrashLine, AFaultInRidgelineIsItsOwn) {
  expect_line([] { *nowhere = 1; }, "^ridgeline: a.pt: ridgeline itself crashed on it");
}

// The address of an abort lies in libc, whoever called it.
TEST(CrashLine, AnAbortBlamesNeither) {
  expect_line([] { std::abort(); }, neutral);
  expect_line([] { std::terminate(); }, neutral);
  expect_line([] { std::raise(SIGSEGV); }, neutral);
}

TEST(CrashLine, TheInnermostNamesItsFile) {
  EXPECT_EXIT(
      {
        const CrashLine outer("a.pt");
        const CrashLine inner("b\n.pt");
        std::abort();
      },
      ::testing::ExitedWithCode(1), "^ridgeline: b\\?.pt: the program crashed");
}

TEST(CrashLine, AfterItCrashesAreAsBefore) {
  EXPECT_EXIT(
      {
        std::signal(SIGABRT, [](int) { _exit(3); });
        { const CrashLine line("a.pt"); }
        std::abort();
      },
      ::testing::ExitedWithCode(3), "^$");
}

}  // namespace
}  // namespace ridgeline::testing
