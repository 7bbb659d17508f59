// Greedy line filling at blanks.
// A word longer than the line stands alone on one that is too long: cutting names hides them.
#include "base/wrap.h"

#include <algorithm>

#include "base/text_table.h"

namespace ridgeline {

std::string wrap(std::string_view text, int width, int indent, int column) {
  std::string folded;
  int at = column;
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    const int length = display_width(word);
    if (!line_is_empty && at + 1 + length > width) {
      folded += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      at = indent;
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

}  // namespace ridgeline
