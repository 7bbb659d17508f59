// `ridgeline help [COMMAND]`: help, the manual page and the completion script.
// All three are generated from the command table.
#include "cli/help.h"

#include <ostream>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/dispatch.h"
#include "cli/man_page.h"

namespace ridgeline::cli {
namespace {

void declare_help(OptionsDescription& options) {
  options.add_flag("man", "print the manual page in troff");
  options.add_flag("bash-completion", "print the bash completion script");
}

ExitCode run_help(const Options& options, Console& console) {
  const std::vector<std::string> words = positional(options);
  if (flag(options, "man"))
    console.out << man_page();
  else if (flag(options, "bash-completion"))
    console.out << bash_completion();
  else if (words.empty())
    console.out << overview_help(console.width);
  else
    console.out << command_help(find_command(words.front()), console.width);
  return ExitCode::ok;
}

}  // namespace

Command help_command() {
  return {.name = "help",
          .summary = "help on the program or on one command",
          .positional = "[COMMAND]",
          .max_positional = 1,
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
