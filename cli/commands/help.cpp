// `ridgeline help [COMMAND]`: help, the manual page and the completion script.
// All three are generated from the command table.
#include "cli/help.h"

#include <ostream>

#include "cli/answer.h"

namespace ridgeline::cli {
namespace {

void declare_help(OptionsDescription& options) {
  options.add_flag("man", "print the manual page in troff");
  options.add_flag("bash-completion", "print the bash completion script");
}

ExitCode run_help(const Options& options, Console& console) {
  const std::vector<std::string> words = positional(options);
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
