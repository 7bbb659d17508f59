// Finds the command by the first word, parses its options, runs it, and turns what it throws into
// one line and an exit code. Options may stand before or after the command's name.
#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <ostream>
#include <string>

#include "base/error.h"
#include "base/text_table.h"
#include "cli/command.h"
#include "cli/help.h"

namespace ridgeline::cli {
namespace {

// One line always: messages of libraries may hold line breaks, names of files anything.
void print_error(std::ostream& err, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  err << "ridgeline: " << printable(line) << '\n';
}

// A full disk shows up only when the last buffer is written.
void flush(std::ostream& out) {
  errno = 0;
  out.flush();
  if (out) return;
  const std::string reason = errno != 0 ? std::strerror(errno) : "write failed";
  throw Error("standard output", reason);
}

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

Color color_choice(const Options& options) {
  const auto& word = options.text("color");
  if (word == "auto") return Color::automatic;
  if (word == "always") return Color::always;
  if (word == "never") return Color::never;
  throw usage_error("--color", "'" + word + "' is not one of auto, always, never");
}

ExitCode dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const std::size_t index = command_index(arguments);
  const bool bare = index == arguments.size();
  std::vector<std::string> words = arguments;
  if (!bare) words.erase(words.begin() + static_cast<std::ptrdiff_t>(index));
  const Command& command = bare ? commands().front() : find_command(arguments[index]);

  // Help is given before the other options are checked: they may be wrong.
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

}  // namespace

int run_program(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  ExitCode code = ExitCode::error;
  try {
    code = dispatch(arguments, out, err);
    flush(out);
  } catch (const Error& error) {
    print_error(err, error.what());
    code = error.code();
  } catch (const std::bad_alloc&) {
    print_error(err, "out of memory");
    code = ExitCode::error;
  } catch (const std::exception& error) {
    print_error(err, std::string("internal error: ") + error.what());
    code = ExitCode::error;
  }
  return static_cast<int>(code);
}

}  // namespace ridgeline::cli
