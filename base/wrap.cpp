// Greedy line filling, word by word.
#include "base/wrap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text_table.h"

namespace ridgeline {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  std::vector<std::string> words;
  for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return words;
}

bool ends_in_digit(const std::string& word) {
  return !word.empty() && word.back() >= '0' && word.back() <= '9';
}

// "0.7" and "%" stay on one line.
std::vector<std::string> with_units(std::vector<std::string> words) {
  constexpr std::string_view units[] = {"%",  "s",  "ms", "µs", "min", "h",   "W",
                                        "mW", "kW", "J",  "mJ", "µJ",  "kJ",  "B",
                                        "kB", "MB", "GB", "TB", "MHz", "GHz", "/s"};
  std::vector<std::string> joined;
  for (std::string& word : words) {
    const std::string_view unit =
        std::string_view(word).substr(0, word.find_last_not_of(",;:.)") + 1);
    if (!joined.empty() && ends_in_digit(joined.back()) &&
        std::find(std::begin(units), std::end(units), unit) != std::end(units))
      joined.back().append(" ").append(word);
    else
      joined.push_back(std::move(word));
  }
  return joined;
}

std::vector<std::string> broken(const std::vector<std::string>& words, int width) {
  std::vector<std::string> pieces;
  for (std::string_view word : words) {
    while (display_width(word) > width) {
      std::string_view piece = text_head(word, width);
      if (piece.empty()) piece = text_head(word, 2);  // a character of two columns
      pieces.emplace_back(piece);
      word.remove_prefix(piece.size());
    }
    if (!word.empty()) pieces.emplace_back(word);
  }
  return pieces;
}

// The first line may be shorter or longer than the others.
template <class Measure>
std::vector<std::string> fill(const std::vector<std::string>& words, double first_width,
                              double width, const Measure& measure) {
  std::vector<std::string> lines;
  const double blank = measure(" ");
  double used = 0;
  for (const std::string& word : words) {
    const double length = measure(word);
    const double room = lines.size() == 1 ? first_width : width;
    if (!lines.empty() && used + blank + length <= room) {
      lines.back().append(" ").append(word);
      used += blank + length;
    } else {
      lines.push_back(word);
      used = length;
    }
  }
  return lines;
}

}  // namespace

std::string wrap(std::string_view text, int width, int indent, int column, LongWord long_word) {
  std::vector<std::string> words = with_units(words_of(text));
  if (long_word == LongWord::elided)
    for (std::string& word : words) word = elide_middle(word, width - indent);
  if (long_word == LongWord::broken) words = broken(words, std::max(1, width - indent));
  return fmt::format("{}", fmt::join(fill(words, width - column, width - indent, display_width),
                                     "\n" + std::string(static_cast<std::size_t>(indent), ' ')));
}

std::string paragraph(std::string_view text, int width) {
  return wrap(text, width, 2, 0, LongWord::elided) + "\n";
}

std::vector<std::string> wrapped_lines(std::string_view text, double width,
                                       const std::function<double(std::string_view)>& measure) {
  return fill(words_of(text), width, width, measure);
}

}  // namespace ridgeline
