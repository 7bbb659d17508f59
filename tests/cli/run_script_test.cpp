// The script ./run in a made-up checkout with made-up tools: what it installs, builds and says.
// The tools write down how they were called; nothing is really installed or built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

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
      std::filesystem::copy(std::string(RIDGELINE_SOURCE_DIR "/") + file, checkout_.file(file));
    checkout_.write("base/a.cpp", "");
    tool("dpkg-query", R"([[ " $MISSING " == *" ${@: -1} "* ]] || printf 'install ok installed')");
    tool("apt-get", R"(echo "apt-get $*" >> "$LOG")");
    tool("apt-cache", R"([[ " $UNAVAILABLE " == *" $2 "* ]] || echo "Package: $2")");
    tool("sudo", R"("$@")");
    tool("cmake", R"(echo "cmake $*" >> "$LOG"
[[ $BREAK_BUILD ]] && { echo "error: no such header"; exit 1; }
[[ $1 == --build ]] || exit 0
mkdir -p build/release
printf '#!/bin/sh\necho "ridgeline $*"\n' > build/release/ridgeline
chmod +x build/release/ridgeline)");
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
    checkout_.write("tools/" + name, "#!/usr/bin/env bash\n" + body + "\n");
    std::filesystem::permissions(checkout_.file("tools/" + name),
                                 std::filesystem::perms::owner_all);
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
  EXPECT_THAT(first.err, StartsWith("== building ridgeline"));
  EXPECT_EQ(log(), "cmake --preset release\ncmake --build --preset release --target ridgeline\n");

  const ProcessResult second = run("version");
  EXPECT_EQ(second.out, "ridgeline version\n");
  EXPECT_THAT(second.err, IsEmpty());
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(RunScript, BuildsAgainAfterAChange) {
  run("version");
  const auto later = std::filesystem::file_time_type::clock::now() + std::chrono::seconds(2);
  std::filesystem::last_write_time(checkout_.file("base/a.cpp"), later);
  EXPECT_THAT(run("version").err, HasSubstr("building"));
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
  EXPECT_EQ(run("quickstart").out,
            "ridgeline measure --quick\nridgeline roofline --svg roofline.svg\n");
  EXPECT_EQ(run("quickstart now").exit_code, 1);
}

}  // namespace
}  // namespace ridgeline::testing
