// Looks at the terminal and the environment once, so that no other code has to.
// Nothing is printed here but what `talk` is given.
#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

namespace ridgeline::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

bool is_terminal(const std::ostream& stream, const std::ostream& standard, int descriptor) {
  return &stream == &standard && isatty(descriptor) == 1;
}

std::optional<int> columns_variable() {
  const std::string_view text = environment("COLUMNS");
  int columns = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (fault != std::errc{} || end != text.data() + text.size() || columns < 1) return std::nullopt;
  return columns;
}

int terminal_width(bool out_is_terminal) {
  if (const auto columns = columns_variable()) return *columns;
  winsize size{};
  if (out_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

}  // namespace

void Console::talk(std::string_view line) const {
  if (!quiet) err << line << '\n';
}

Console make_console(std::ostream& out, std::ostream& err, Color color, bool quiet) {
  Console console{out, err};
  console.out_is_terminal = is_terminal(out, std::cout, STDOUT_FILENO);
  console.err_is_terminal = is_terminal(err, std::cerr, STDERR_FILENO);
  const bool welcome = console.out_is_terminal && environment("NO_COLOR").empty() &&
                       environment("TERM") != "dumb" && !environment("TERM").empty();
  console.color = color == Color::always || (color == Color::automatic && welcome);
  console.quiet = quiet;
  console.width = terminal_width(console.out_is_terminal);
  return console;
}

}  // namespace ridgeline::cli
