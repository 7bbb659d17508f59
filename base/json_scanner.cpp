// One pass over the text. Unwanted values are skipped without recursion, so that
// hostile nesting ends in a message, not on the stack.
#include "base/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::size_t deepest = 64;

bool is_json_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

void add_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

}  // namespace

char JsonScanner::peek() {
  while (at_ < text_.size() && is_json_blank(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::accept(char c) {
  if (peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

void JsonScanner::expect(char c) {
  if (accept(c)) return;
  if (at_ == text_.size()) fail("the text is cut off here", "export it again");
  fail(fmt::format("malformed JSON: '{}' is missing here", c));
}

std::string_view JsonScanner::text() {
  expect('"');
  const std::size_t begin = at_;
  const std::size_t end = text_.find_first_of("\"\\", begin);
  if (end != std::string_view::npos && text_[end] == '"') {  // mostly
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }
  buffer_.clear();
  for (;;) {
    const std::size_t stop = std::min(text_.find_first_of("\"\\", at_), text_.size());
    buffer_.append(text_.substr(at_, stop - at_));
    at_ = stop;
    if (at_ == text_.size()) fail("the text is cut off in a string", "export it again");
    if (text_[at_] == '"') break;
    add_escape();
  }
  ++at_;
  return buffer_;
}

void JsonScanner::add_escape() {
  constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  const char letter = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  at_ += 2;
  if (const auto place = letters.find(letter); place != std::string_view::npos) {
    buffer_ += meanings[place];
    return;
  }
  if (letter != 'u') fail("malformed JSON: unknown escape in a string");
  std::uint32_t code = four_hex_digits();
  const bool is_first_half = code >= 0xD800 && code < 0xDC00;
  if (is_first_half && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    const std::uint32_t second = four_hex_digits();
    code = 0x10000 + ((code - 0xD800) << 10) + (second & 0x3FF);
  }
  constexpr std::uint32_t replacement = 0xFFFD;
  add_utf8(buffer_, code >= 0xD800 && code < 0xE000 ? replacement : code);
}

std::uint32_t JsonScanner::four_hex_digits() {
  std::uint32_t code = 0;
  const char* first = text_.data() + std::min(at_, text_.size());
  const char* last = text_.data() + std::min(at_ + 4, text_.size());
  const auto [end, fault] = std::from_chars(first, last, code, 16);
  if (fault != std::errc() || end != first + 4) fail("malformed JSON: \\u needs four digits");
  at_ += 4;
  return code;
}

std::string_view JsonScanner::word() {
  peek();
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  if (at_ == begin && at_ == text_.size()) fail("the text is cut off here", "export it again");
  if (at_ == begin) fail("malformed JSON: a value is missing here");
  return text_.substr(begin, at_ - begin);
}

double JsonScanner::number() {
  const std::size_t begin = at_;
  const std::string_view digits = word();
  double value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault == std::errc() && end == digits.data() + digits.size() && std::isfinite(value))
    return value;
  at_ = begin;
  fail(quote(digits) + " is not a number");
}

std::int64_t JsonScanner::integer() {
  const std::size_t begin = at_;
  const std::string_view digits = word();
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault == std::errc() && end == digits.data() + digits.size()) return value;
  at_ = begin;
  fail(quote(digits) + " is not a whole number");
}

void JsonScanner::skip() {
  std::string closing;  // of the containers that are open
  do {
    const char c = peek();
    if (c == '{' || c == '[') {
      if (closing.size() == deepest) fail(fmt::format("nested deeper than {} levels", deepest));
      closing += c == '{' ? '}' : ']';
      ++at_;
      if (!accept(closing.back())) {
        if (closing.back() == '}') {
          text();
          expect(':');
        }
        continue;
      }
      closing.pop_back();
    } else if (c == '"') {
      text();
    } else {
      word();
    }
    // After a value: the next one, or the end of its container.
    while (!closing.empty()) {
      if (accept(',')) {
        if (closing.back() == '}') {
          text();
          expect(':');
        }
        break;
      }
      expect(closing.back());
      closing.pop_back();
    }
  } while (!closing.empty());
}

void JsonScanner::fail(const std::string& what, const std::string& fix) const {
  const std::size_t byte = std::min(at_, text_.size());
  const auto lines = std::count(text_.begin(), text_.begin() + static_cast<long>(byte), '\n');
  throw Error(*name_, fmt::format("byte {}, line {}: {}", byte, lines + 1, what), fix);
}

}  // namespace ridgeline
