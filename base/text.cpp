// Escapes are those of JSON, by the library that knows them.
#include "base/text.h"

#include <algorithm>

#include "base/json.h"

namespace ridgeline {
namespace {

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string quote(std::string_view text) {
  constexpr std::size_t max_quoted_bytes = 60;
  const bool cut = text.size() > max_quoted_bytes;
  std::string line = Json(std::string(text.substr(0, max_quoted_bytes)))
                         .dump(-1, ' ', false, Json::error_handler_t::replace);
  // DEL is the one control character that JSON does not escape.
  std::replace(line.begin(), line.end(), '\x7f', '?');
  return cut ? line + "…" : line;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower_letter(c);
  return result;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower_letter, lower_letter);
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) + 1 - begin));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (const std::string_view piece : split(text, separator))
    if (!piece.empty()) words.emplace_back(piece);
  return words;
}

}  // namespace ridgeline
