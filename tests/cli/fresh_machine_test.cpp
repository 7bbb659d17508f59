// tools/prove-fresh-machine on made-up systems: machines are folders, and commands run in them with
// a CMake that fails like the real one. The script must find the fault it was written for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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

class FreshMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"run", "packages.txt", "tools/prove-fresh-machine"}) {
      checkout_.write(file, "");
      std::filesystem::copy(source_file(file), checkout_.file(file),
                            std::filesystem::copy_options::overwrite_existing);
    }
    // A system has GoogleTest if its packages include it, and never has RapidCheck.
    tool("git", R"(cd "$(dirname "$0")/.." && printf '%s\0' run packages.txt)");
    tool("mmdebstrap",
         R"(mkdir -p "$4"/{etc/sudoers.d,root,home} && [[ $3 == bookworm || $3 == trixie ]])");
    tool("unshare", R"sh(machine=$8 user=$9 command=${10}
[[ $command == *libgtest-dev* ]] && touch "$machine/gtest"
[[ $command == *./run* ]] || exit 0
export HOME=$machine/root MACHINE=$machine
[[ $user == root ]] || HOME=$machine/home/$user
cd "$HOME" && bash -c "$command")sh");
    tool("dpkg-query", "printf 'install ok installed'");
    tool("cmake", R"sh(if [[ $1 != --build && $* != *TESTS=O* && -e $MACHINE/gtest ]]; then
  echo "Could not find RIDGELINE_RAPIDCHECK" && exit 1
fi
mkdir -p build/release
printf '#!/bin/sh\n[ $1 = roofline ] && echo picture > roofline.svg; exit 0\n' > build/release/ridgeline
chmod +x build/release/ridgeline)sh");
    tool("ctest", "true");
  }

  void tool(const std::string& name, const std::string& body) {
    checkout_.write_program("stubs/" + name, body);
  }

  ProcessResult prove(const std::string& variants) {
    return run_shell("export PATH='" + checkout_.file("stubs") + "':\"$PATH\" TMPDIR='" +
                     checkout_.path() + "'; bash '" + checkout_.file("tools/prove-fresh-machine") +
                     "' " + variants);
  }

  TemporaryDirectory checkout_;
};

TEST_F(FreshMachine, FindsThatQuickstartConfiguredTheTests) {
  if (geteuid() != 0) GTEST_SKIP() << "the script needs root";
  // An earlier ./run left it to CMake whether to build the tests.
  const std::string run = run_process({"cat", checkout_.file("run")}).out;
  std::string before = run;
  for (std::size_t at; (at = before.find(" -DRIDGELINE_TESTS=OFF")) != std::string::npos;)
    before.erase(at, std::string(" -DRIDGELINE_TESTS=OFF").size());
  checkout_.write("run", before);
  const ProcessResult result = prove("debian-12 debian-12-gtest");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("debian-12-gtest: FAIL in ./run quickstart"));
  EXPECT_THAT(result.err, HasSubstr("Could not find RIDGELINE_RAPIDCHECK"));
  EXPECT_THAT(result.err, HasSubstr("debian-12: pass"));
}

TEST_F(FreshMachine, PassesAsItIsAndLeavesNothingBehind) {
  if (geteuid() != 0) GTEST_SKIP() << "the script needs root";
  const ProcessResult result = prove("");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* name : {"debian-12", "debian-12-gtest", "debian-12-user", "debian-13"})
    EXPECT_THAT(result.err, HasSubstr(std::string(name) + ": pass"));
  EXPECT_THAT(result.err, HasSubstr("ubuntu-22.04: not tried, its archive cannot be reached"));
  EXPECT_THAT(result.err, Not(HasSubstr("FAIL")));
  EXPECT_THAT(run_shell("ls -d '" + checkout_.path() + "'/tmp.*").out, IsEmpty());
}

TEST_F(FreshMachine, NamesItsVariants) {
  if (geteuid() != 0) GTEST_SKIP() << "the script needs root";
  const ProcessResult result = prove("debian-11");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("known variants: debian-12 debian-12-gtest"));
}

}  // namespace
}  // namespace ridgeline::testing
