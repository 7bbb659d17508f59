// Looks at the terminal and the environment once, so that no other code has to.
// Nothing is printed here but what talk() is given and the progress line.
#include "cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_table.h"

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

// The handler sets a flag and restores the default action.
volatile std::sig_atomic_t seen = 0;

extern "C" void note_interrupt(int signal) {
  seen = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void Console::talk(std::string_view line) const {
  if (!quiet) err << printable(line) << '\n';
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

void ProgressLine::show(double done, double left_s) {
  if (!console_.err_is_terminal || console_.quiet) return;
  const double share = std::clamp(done, 0.0, 1.0);
  std::string line = fmt::format("{} {:3.0f} %, {:.0f} s left", what_, 100 * share, left_s);
  const int room = console_.width - static_cast<int>(line.size()) - 4;
  if (room >= 10) {
    const int cells = std::min(room, 30);
    const int full = static_cast<int>(std::lround(share * cells));
    line += " [" + std::string(static_cast<std::size_t>(full), '#') +
            std::string(static_cast<std::size_t>(cells - full), '.') + "]";
  }
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(1, console_.width - 1))));
  console_.err << "\r\x1b[K" << line << std::flush;
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) console_.err << "\r\x1b[K" << std::flush;
  shown_ = false;
}

InterruptGuard::InterruptGuard() {
  seen = 0;
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::interrupted() { return seen != 0; }

}  // namespace ridgeline::cli
