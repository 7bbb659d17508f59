// Figure → text for a terminal: braille dots and box lines, or plain ASCII; panels stand one below
// the other. Fits the width it is given; colour is an extra, never the only cue.
#pragma once

#include <string>
#include <string_view>

#include "plots/figure.h"

namespace ridgeline {

struct TerminalStyle {
  int width = 80;      // columns
  bool utf8 = true;    // false: only ASCII characters
  bool color = false;  // with ANSI escape sequences
};

// Narrower than this a picture says nothing; the tables do.
inline constexpr int least_plot_columns = 36;

// Empty where the terminal is too narrow.
std::string terminal_plot(const Figure& figure, const TerminalStyle& style);

// The nearest ASCII spelling: "±" becomes "+-", what has none becomes "?".
std::string to_ascii(std::string_view text);

}  // namespace ridgeline
