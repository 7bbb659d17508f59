// Draws the line over itself; the last call clears it.
#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

namespace ridgeline::cli {

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

}  // namespace ridgeline::cli
