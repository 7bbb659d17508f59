// What `cmake --install` installs, and that it works from there.
// Installs into a temporary prefix; the build must be complete, as it is under ctest.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

TEST(Install, HasBinaryManPageAndCompletion) {
  const TemporaryDirectory prefix;
  const ProcessResult install =
      run_process({cmake_program(), "--install", build_file(""), "--prefix", prefix.path()});
  ASSERT_EQ(install.exit_code, 0) << install.err;

  const ProcessResult installed = run_process({prefix.file("bin/ridgeline"), "--version"});
  EXPECT_EQ(installed.out, run_ridgeline({"--version"}).out);

  EXPECT_EQ(run_process({"cat", prefix.file("share/man/man1/ridgeline.1")}).out,
            run_ridgeline({"help", "--man"}).out);
  EXPECT_EQ(run_process({"cat", prefix.file("share/bash-completion/completions/ridgeline")}).out,
            run_ridgeline({"help", "--bash-completion"}).out);

  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(prefix.path()))
    files += entry.is_regular_file() ? 1 : 0;
  // With CUPTI or LibTorch in the build, their libraries are installed too.
  int expected = 3;
  for (const char* library : {"libridgeline_injection.so", "libridgeline_torch.so"})
    expected += std::filesystem::exists(build_file(library)) ? 1 : 0;
  EXPECT_EQ(files, expected);
}

}  // namespace
}  // namespace ridgeline::testing
