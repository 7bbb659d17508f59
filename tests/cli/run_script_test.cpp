// The script ./run in a made-up checkout with stub tools: what it installs, builds and prints.
// The stubs log their arguments; nothing is really installed or built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RunScript : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"run", "packages.txt"})
      std::filesystem::copy(source_file(file), checkout_.file(file));
    checkout_.write("base/a.cpp", "");
    tool("dpkg-query", R"([[ " $MISSING " == *" ${@: -1} "* ]] || printf 'install ok installed')");
    tool("apt-get", R"(echo "apt-get $*" >> "$LOG")");
    tool("apt-cache", R"([[ " $UNAVAILABLE " == *" $2 "* ]] || echo "Package: $2")");
    tool("sudo", R"("$@")");
    tool("cmake", R"sh(echo "cmake $*" >> "$LOG"
[[ $BREAK_BUILD ]] && { echo "error: no such header"; exit 1; }
mkdir -p build/release
if [[ $1 != --build ]]; then
  grep -qs "older version" build/release/CMakeCache.txt && exit 1
  echo "-- CUDA: not built (nvcc is not installed)"
  [[ $* == *_TESTS=* ]] && echo "RIDGELINE_TESTS:STRING=${*##*=}" > build/release/CMakeCache.txt
  exit 0
fi
printf '#!/bin/sh\necho "ridgeline $*"\n%s\n' "${PROGRAM-}" > build/release/ridgeline
chmod +x build/release/ridgeline)sh");
  }

  ProcessResult run(const std::string& arguments, ProcessSettings settings = {}) {
    settings.environment["LOG"] = checkout_.file("log");
    std::filesystem::remove(checkout_.file("log"));
    return run_shell("export PATH='" + checkout_.file("tools") + "':\"$PATH\"; cd / && '" +
                         checkout_.file("run") + "' " + arguments,
                     settings);
  }

  std::string log() { return run_process({"cat", checkout_.file("log")}).out; }

  void tool(const std::string& name, const std::string& body) {
    checkout_.write_program("tools/" + name, body);
  }

  TemporaryDirectory checkout_;
};

TEST_F(RunScript, BareCallShowsUsage) {
  const ProcessResult result = run("");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("usage: ./run quickstart"));
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(RunScript, BuildsOnceAndThenIsQuiet) {
  const ProcessResult first = run("help --man");
  EXPECT_EQ(first.out, "ridgeline help --man\n");
  EXPECT_THAT(first.err, StartsWith("== building ridgeline: about "));
  EXPECT_THAT(first.err, HasSubstr("CUDA: not built (nvcc is not installed)\n"));
  EXPECT_EQ(log(),
            "cmake --preset release -DRIDGELINE_TESTS=OFF\n"
            "cmake --build --preset release --target ridgeline\n");

  const ProcessResult second = run("version");
  EXPECT_EQ(second.out, "ridgeline version\n");
  EXPECT_THAT(second.err, IsEmpty());
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(RunScript, BuildsAgainAfterAChange) {
  run("version");
  for (const char* file : {"base/a.cpp", "kernels/cuda/device/a.cu", "kernels/cuda/device/a.cuh",
                           "kernels/cuda/a.inc", "report/page.html", "report/page.js"}) {
    checkout_.write(file, "");
    const auto later = std::filesystem::file_time_type::clock::now() + std::chrono::seconds(2);
    std::filesystem::last_write_time(checkout_.file(file), later);
    EXPECT_THAT(run("version").err, HasSubstr("building")) << file;
    std::filesystem::last_write_time(checkout_.file(file), later - std::chrono::hours(1));
    run_process({"touch", checkout_.file("build/release/.built")});
    EXPECT_THAT(run("version").err, IsEmpty()) << file;
  }
}

// Switching tests off would make CMake delete the compiled test targets.
TEST_F(RunScript, LeavesTheTestsOfABuildFolderIn) {
  checkout_.write("build/release/CMakeCache.txt", "RIDGELINE_TESTS:STRING=ON\n");
  EXPECT_EQ(run("version").exit_code, 0);
  EXPECT_EQ(log(), "cmake --preset release\ncmake --build --preset release --target ridgeline\n");
}

TEST_F(RunScript, ConfiguresAFolderOfAnOlderVersionAnew) {
  checkout_.write("build/release/CMakeCache.txt", "older version\nRIDGELINE_TESTS:STRING=AUTO\n");
  const ProcessResult result = run("version");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("configuring it anew"));
}

TEST_F(RunScript, InstallsOnlyWhatIsMissing) {
  const ProcessResult result =
      run("version", {.environment = {{"MISSING", "libfmt-dev libgtest-dev"}}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("== installing packages: libfmt-dev\n"));
  EXPECT_THAT(log(), StartsWith("apt-get update -qq\n"
                                "apt-get install -y -qq --no-install-recommends libfmt-dev\n"));
}

TEST_F(RunScript, SkipsOptionalPackagesThatDoNotExistAndAsksOnce) {
  const ProcessSettings settings{.environment = {{"MISSING", "ccache"}, {"UNAVAILABLE", "ccache"}}};
  const ProcessResult result = run("version", settings);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("ccache is not available here: skipped, it is optional"));
  EXPECT_THAT(log(), Not(HasSubstr("apt-get install")));
  std::filesystem::remove(checkout_.file("build/release/.built"));
  run("version", settings);
  EXPECT_THAT(log(), Not(HasSubstr("apt-get")));
}

TEST_F(RunScript, ShowsTheBuildThatFailed) {
  const ProcessResult result = run("version", {.environment = {{"BREAK_BUILD", "1"}}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("error: no such header\nrun: the build failed"));
  EXPECT_EQ(run("version").exit_code, 0);
}

TEST_F(RunScript, QuickstartMeasuresAndDraws) {
  const std::string profile = checkout_.file("build/quickstart.json");
  EXPECT_EQ(run("quickstart").out, "ridgeline measure --quick --output " + profile +
                                       "\nridgeline roofline " + profile + " --svg roofline.svg\n");
  EXPECT_EQ(run("quickstart now").exit_code, 1);
}

TEST_F(RunScript, QuickstartDrawsABusyMachineTooButNoFailure) {
  const ProcessResult busy =
      run("quickstart", {.environment = {{"PROGRAM", "[ $1 = measure ] && exit 4"}}});
  EXPECT_THAT(busy.out, HasSubstr("ridgeline roofline"));
  std::filesystem::remove_all(checkout_.file("build"));
  const ProcessResult failed =
      run("quickstart", {.environment = {{"PROGRAM", "[ $1 = measure ] && exit 1"}}});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, Not(HasSubstr("ridgeline roofline")));
}

}  // namespace
}  // namespace ridgeline::testing
