// Dispatch on the first word; a bare call is the first row of the table.
// Options may stand before or after the command's name.
#include "cli/dispatch.h"

#include <algorithm>
#include <cstddef>
#include <ostream>

#include "cli/global_options.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/suggestion.h"

namespace ridgeline::cli {
namespace {

// Index of the command's name: the first word that is neither an option nor --color's value.
std::size_t command_index(const std::vector<std::string>& arguments) {
  std::size_t index = 0;
  while (index < arguments.size() && arguments[index].starts_with('-'))
    index += arguments[index] == "--color" ? 2 : 1;
  return std::min(index, arguments.size());
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end,
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

void check_formats(const Command& command, const Options& options) {
  const std::string name(command.name);
  if (flag(options, "json") && flag(options, "csv"))
    throw usage_error("--csv", "cannot be combined with --json", "choose one");
  if (flag(options, "json") && !command.has_json)
    throw usage_error("--json", "'" + name + "' has no JSON form");
  if (flag(options, "csv") && !command.has_csv)
    throw usage_error("--csv", "'" + name + "' has no CSV form");
}

}  // namespace

const Command& find_command(std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  const std::string near = suggestion(name, names);
  throw usage_error({}, "unknown command '" + std::string(name) + "'",
                    near.empty() ? "see 'ridgeline --help'" : near);
}

ExitCode dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const std::size_t index = command_index(arguments);
  const bool bare = index == arguments.size();
  std::vector<std::string> words = arguments;
  if (!bare) words.erase(words.begin() + static_cast<std::ptrdiff_t>(index));
  const Command& command = bare ? commands().front() : find_command(arguments[index]);

  // Help is given before the other options are checked: whoever asks for it may have erred there.
  if (asks_for_help(words)) {
    const Console console = make_console(out, err, Color::automatic, false);
    out << (bare ? overview_help(console.width) : command_help(command, console.width));
    return ExitCode::ok;
  }
  const Options options = parse_options(command, words);
  Console console = make_console(out, err, color_choice(options), flag(options, "quiet"));
  const Command& asked = flag(options, "version") ? find_command("version") : command;
  check_formats(asked, options);
  return asked.run(options, console);
}

}  // namespace ridgeline::cli
