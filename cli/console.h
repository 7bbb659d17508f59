// The console: where data and talk go, how wide it is, whether it may show colour; the progress
// line and Ctrl-C. Data goes to `out`, talk to `err`; tests replace both.
#pragma once

#include <iosfwd>
#include <string_view>

namespace ridgeline::cli {

enum class Color { automatic, always, never };

struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool color = false;  // never with NO_COLOR, TERM=dumb or a pipe; --color overrides
  bool quiet = false;
  int width = 80;  // columns

  void talk(std::string_view line) const;  // to err with a newline, unless quiet
};

// The console of this process, for the given streams: looks at the terminal and the environment.
Console make_console(std::ostream& out, std::ostream& err, Color color, bool quiet);

// A line with the time left, on a terminal only: pipes, files and --quiet never see it.
class ProgressLine {
 public:
  ProgressLine(const Console& console, const char* what) : console_(console), what_(what) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(double done, double left_s);  // fraction done, seconds left
  void clear();

 private:
  const Console& console_;
  const char* what_;
  bool shown_ = false;
};

// Ctrl-C as a request to stop: work in progress is finished and kept. A second Ctrl-C ends the
// program at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();
};

}  // namespace ridgeline::cli
