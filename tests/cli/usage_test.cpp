// Wrong usage: one line on stderr, nothing on stdout, exit code 2.
// The binary is really started; see tests/support/process.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/process.h"

namespace ridgeline::testing {
namespace {

struct BadUsage {
  const char* name;
  std::vector<std::string> arguments;
  std::string line;
};

class Usage : public ::testing::TestWithParam<BadUsage> {};

TEST_P(Usage, IsOneLineAndExitCodeTwo) {
  const ProcessResult result = run_ridgeline(GetParam().arguments);
  EXPECT_EQ(result.err, "ridgeline: " + GetParam().line + "\n");
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.exit_code, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Cli, Usage,
    ::testing::Values(
        BadUsage{"UnknownCommand", {"hlep"}, "unknown command 'hlep' (did you mean 'help'?)"},
        BadUsage{"UnknownCommandNothingNear",
                 {"xyzzyplugh"},
                 "unknown command 'xyzzyplugh' (see 'ridgeline --help')"},
        BadUsage{"EmptyCommand", {""}, "unknown command '' (see 'ridgeline --help')"},
        BadUsage{"HelpOnUnknownCommand",
                 {"help", "versoin"},
                 "unknown command 'versoin' (did you mean 'version'?)"},
        BadUsage{"UnknownOption",
                 {"version", "--jsno"},
                 "unknown option '--jsno' (did you mean '--json'?)"},
        BadUsage{"UnknownOptionOfTheProgram",
                 {"--quite"},
                 "unknown option '--quite' (did you mean '--quiet'?)"},
        BadUsage{"UnknownShortOption",
                 {"version", "-x"},
                 "unknown option '-x' (see 'ridgeline version --help')"},
        BadUsage{"AbbreviatedOption",
                 {"version", "--js"},
                 "unknown option '--js' (did you mean '--json'?)"},
        BadUsage{"ExtraArgument",
                 {"version", "now"},
                 "unexpected argument 'now' (see 'ridgeline version --help')"},
        BadUsage{"TwoFormats",
                 {"version", "--json", "--csv"},
                 "--csv: cannot be combined with --json (choose one)"},
        BadUsage{"NotANumber",
                 {"measure", "--threads", "abc"},
                 "--threads abc: \"abc\" is not a count (write for example 64 or 64k)"},
        BadUsage{"NoJsonForm", {"help", "--json"}, "--json: 'help' has no JSON form"},
        BadUsage{"NoCsvForm", {"version", "--csv"}, "--csv: 'version' has no CSV form"},
        BadUsage{"BadColor",
                 {"--color", "pink", "version"},
                 "--color: 'pink' is not one of auto, always, never"},
        BadUsage{"MissingValue",
                 {"version", "--color"},
                 "the required argument for option '--color' is missing (see 'ridgeline version "
                 "--help')"},
        BadUsage{"ValueForASwitch",
                 {"version", "--json=3"},
                 "option '--json' does not take any arguments (see 'ridgeline version --help')"},
        BadUsage{"Twice",
                 {"version", "--json", "--json"},
                 "option '--json' cannot be specified more than once (see 'ridgeline version "
                 "--help')"}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace ridgeline::testing
