// The console: where data and talk go, how wide it is, whether it may show colour.
// Data on `out`, talk on `err`; tests replace both.
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

}  // namespace ridgeline::cli
