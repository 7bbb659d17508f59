// Help, version, manual page and completion of the real binary.
// All are generated from the command table, so these tests walk that table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/text_table.h"
#include "cli/command.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

void expect_quiet_success(const ProcessResult& result) {
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(Help, OverviewNamesEveryCommandWithAnExample) {
  const ProcessResult result = run_ridgeline({"--help"});
  expect_quiet_success(result);
  EXPECT_THAT(result.out, StartsWith("usage: ridgeline [COMMAND] [OPTION]..."));
  for (const cli::Command& command : cli::commands()) {
    EXPECT_THAT(result.out, HasSubstr("\n  " + std::string(command.name) + " "));
    ASSERT_FALSE(command.examples.empty()) << command.name;
    EXPECT_THAT(result.out, HasSubstr("  ridgeline " + std::string(command.examples[0].line)));
  }
  EXPECT_EQ(run_ridgeline({"help"}).out, result.out);
  EXPECT_EQ(run_ridgeline({"-h"}).out, result.out);
}

TEST(Help, EveryCommandHasItsOwnName) {
  std::set<std::string_view> names;
  for (const cli::Command& command : cli::commands())
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
}

TEST(Help, OfACommandShowsEveryOption) {
  for (const cli::Command& command : cli::commands()) {
    const std::string name(command.name);
    const ProcessResult result = run_ridgeline({name, "--help"});
    expect_quiet_success(result);
    EXPECT_THAT(result.out, StartsWith("usage: ridgeline " + name));
    const cli::OptionsDescription own = cli::own_options(command);
    for (const cli::Option& option : own.options()) {
      EXPECT_THAT(result.out, HasSubstr("  " + option.spelling())) << name;
      EXPECT_THAT(option.description, Not(IsEmpty())) << name << " --" << option.long_name;
    }
    EXPECT_EQ(run_ridgeline({"help", name}).out, result.out);
    EXPECT_EQ(run_ridgeline({name, "-h"}).out, result.out);
  }
}

// A second word is one that the command itself knows.
TEST(Help, OfAWordOfACommandIsThatOfTheCommand) {
  const ProcessResult modes = run_ridgeline({"help", "modes"});
  for (const char* word : {"check", "set", "restore"})
    EXPECT_EQ(run_ridgeline({"help", "modes", word}).out, modes.out) << word;
  EXPECT_THAT(run_ridgeline({"help", "measure", "nonsense"}).err,
              HasSubstr("unexpected argument 'nonsense' (see 'ridgeline help measure')"));
  for (const char* word : {"nonsense", "DEVICE", "MODE", "", "|", "se"}) {
    const ProcessResult result = run_ridgeline({"help", "modes", word});
    EXPECT_EQ(result.exit_code, 2) << word;
    EXPECT_EQ(result.out, "") << word;
  }
  EXPECT_EQ(run_ridgeline({"help", "measure", "nonsense"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"help", "analyze", "model"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"help", "modes", "set", "15W"}).exit_code, 2);
}

TEST(Help, IsGivenEvenWhereOtherOptionsAreWrong) {
  EXPECT_EQ(run_ridgeline({"version", "--nonsense", "--help"}).exit_code, 0);
}

TEST(Help, FitsTheTerminal) {
  for (const int width : {40, 60, 80, 132}) {
    const ProcessResult result =
        run_ridgeline({"help", "version"}, {.environment = {{"COLUMNS", std::to_string(width)}}});
    expect_quiet_success(result);
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(Help, ReadsInTwentyColumns) {
  const ProcessResult result = run_ridgeline({"--help"}, {.environment = {{"COLUMNS", "20"}}});
  expect_quiet_success(result);
  EXPECT_THAT(result.out, HasSubstr("version and\n      build options"));
}

TEST(Version, NamesVersionAndBuildOptions) {
  const ProcessResult result = run_ridgeline({"--version"});
  expect_quiet_success(result);
  EXPECT_THAT(result.out, StartsWith("ridgeline " RIDGELINE_VERSION "\ncompiler: "));
  EXPECT_THAT(result.out, HasSubstr("\nbuild type: "));
  EXPECT_THAT(result.out, HasSubstr("\nsanitizers: "));
  EXPECT_THAT(result.out, Not(HasSubstr(source_file(""))));
  EXPECT_EQ(run_ridgeline({"version"}).out, result.out);
  EXPECT_EQ(run_ridgeline({"version", "--version"}).out, result.out);
}

TEST(Version, HasAJsonForm) {
  const ProcessResult result = run_ridgeline({"--version", "--json"});
  expect_quiet_success(result);
  const Json json = parse_json(result.out, "version");
  EXPECT_THAT(schema_violations(json, "version.schema.json"), IsEmpty());
  EXPECT_EQ(json["version"], RIDGELINE_VERSION);
}

TEST(ManPage, RendersWithoutWarnings) {
  if (run_shell("command -v man").exit_code != 0) GTEST_SKIP() << "man is not installed";
  const ProcessResult result = run_shell(
      "set -o pipefail; d=$(mktemp -d); ridgeline help --man > $d/r.1 && "
      "MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 $d/r.1 | sed 's/.\\x08//g'; rm -r $d");
  expect_quiet_success(result);
  EXPECT_THAT(result.out, HasSubstr("EXIT STATUS"));
  for (const cli::Command& command : cli::commands())
    EXPECT_THAT(result.out, HasSubstr("ridgeline " + std::string(command.name) + " [OPTION]"));
}

// bash's suggestions for the word at `index`.
std::string completions(const std::string& words, int index, const std::string& folder = "/") {
  const ProcessResult result =
      run_shell("cd '" + folder + "'; source <(ridgeline help --bash-completion); COMP_WORDS=(" +
                words + "); COMP_CWORD=" + std::to_string(index) +
                "; _ridgeline; printf '%s\\n' \"${COMPREPLY[@]}\"");
  EXPECT_THAT(result.err, IsEmpty());
  return result.out;
}

TEST(Completion, IsAValidScript) {
  expect_quiet_success(run_shell("bash -n <(ridgeline help --bash-completion)"));
}

TEST(Completion, CompletesCommands) {
  EXPECT_EQ(completions("ridgeline ver", 1), "version\n");
  EXPECT_EQ(completions("ridgeline --quiet ver", 2), "version\n");
  EXPECT_EQ(completions("ridgeline help ver", 2), "version\n");
}

TEST(Completion, CompletesOptions) {
  EXPECT_EQ(completions("ridgeline --vers", 1), "--version\n");
  EXPECT_EQ(completions("ridgeline help --bash", 2), "--bash-completion\n");
  EXPECT_EQ(completions("ridgeline version --cs", 2), "\n");
}

TEST(Completion, CompletesFileNames) {
  const TemporaryDirectory folder;
  folder.write("mine.json", "");
  EXPECT_EQ(completions("ridgeline measure --output m", 3, folder.path()), "mine.json\n");
  EXPECT_EQ(completions("ridgeline measure -o m", 3, folder.path()), "mine.json\n");
  EXPECT_EQ(completions("ridgeline measure m", 2, folder.path()), "\n");
}

TEST(Completion, CompletesWordsOfAValue) {
  EXPECT_EQ(completions("ridgeline version --color ", 3), "auto\nalways\nnever\n");
  EXPECT_EQ(completions("ridgeline version --color = al", 4), "always\n");
}

}  // namespace
}  // namespace ridgeline::testing
