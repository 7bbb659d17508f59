// `ridgeline help [COMMAND]`: help, the manual page and the completion script.
// All three are generated from the command table.
#include "cli/help.h"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/answer.h"

namespace ridgeline::cli {
namespace {

void declare_help(OptionsDescription& options) {
  options.add_flag("man", "print the manual page in troff");
  options.add_flag("bash-completion", "print the bash completion script");
}

// "set" of "[DEVICE | check FILE | set MODE | restore]": words in lower case are typed as they are.
bool has_word(const Command& command, const std::string& word) {
  const auto is_lower = [](unsigned char c) { return std::islower(c) != 0; };
  if (word.empty() || !std::ranges::all_of(word, is_lower)) return false;
  std::string known;
  for (const char c : std::string(command.positional) + ' ') {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      known += c;
      continue;
    }
    if (known == word) return true;
    known.clear();
  }
  return false;
}

void check_words(const std::vector<std::string>& words) {
  if (words.size() < 2) return;
  const Command& command = find_command(words[0]);
  if (!has_word(command, words[1]))
    throw usage_error({}, "unexpected argument '" + words[1] + "'",
                      "see 'ridgeline help " + words[0] + "'");
}

ExitCode run_help(const Options& options, Console& console) {
  const std::vector<std::string> words = positional(options);
  check_words(words);
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << (flag(options, "man")               ? man_page()
            : flag(options, "bash-completion") ? bash_completion()
            : words.empty()                    ? overview_help(console.width)
                            : command_help(find_command(words.front()), console.width));
  };
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace

Command help_command() {
  return {.name = "help",
          .summary = "help on the program or on one command",
          .positional = "[COMMAND]",
          .max_positional = 2,  // a word of a command, as in "modes set", is on its page
          .description =
              "Shows help on a command: what it does, its options and examples. It also "
              "prints the manual page and the completion script that an installation "
              "holds.",
          .examples = {{"help measure", "what measure does and which options it has"},
                       {"help --man | man -l -", "the manual page"}},
          .add_options = declare_help,
          .run = run_help,
          .has_json = false,
          .has_csv = false};
}

}  // namespace ridgeline::cli
