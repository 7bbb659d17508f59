// Greedy line filling at blanks.
// A word longer than the line stands alone on one that is too long: cutting names hides them.
#include "cli/wrap.h"

#include <algorithm>

namespace ridgeline::cli {

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string wrap(std::string_view text, int width, int indent, int column) {
  const auto limit = static_cast<std::size_t>(std::max(width, 1));
  const auto margin = static_cast<std::size_t>(std::max(indent, 0));
  auto at = static_cast<std::size_t>(std::max(column, 0));
  std::string folded;
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t length = display_width(word);
    if (!line_is_empty && at + 1 + length > limit) {
      folded += '\n' + std::string(margin, ' ');
      at = margin;
      line_is_empty = true;
    }
    if (!line_is_empty) {
      folded += ' ';
      ++at;
    }
    folded += word;
    at += length;
    line_is_empty = false;
  }
  return folded;
}

}  // namespace ridgeline::cli
