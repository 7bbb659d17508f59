// Layout as the JSON library has it with two spaces of indent: one value per line, brackets of what
// is empty on one line. Numbers and unusual text are spelled by the library itself.
#include "base/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ostream>
#include <string>

#include "base/json.h"

namespace ridgeline {
namespace {

constexpr std::size_t indent = 2;

// Neither escaped nor looked at closer by the library.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

}  // namespace

void JsonWriter::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(used_));
  used_ = 0;
}

char* JsonWriter::room(std::size_t bytes) {
  if (bytes > buffer_.size() - used_) flush();
  return buffer_.data() + used_;
}

void JsonWriter::put(std::string_view bytes) {
  if (bytes.size() > buffer_.size()) {
    flush();
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return;
  }
  std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
  used_ += bytes.size();
}

void JsonWriter::put(char byte) {
  *room(1) = byte;
  ++used_;
}

void JsonWriter::start_line() {
  const std::size_t spaces = indent * depth_;
  char* at = room(spaces + 2);
  if (!is_first_) {
    *at++ = ',';
    ++used_;
  }
  if (in_row_) {
    *at = ' ';
    used_ += is_first_ ? 0 : 1;
  } else {
    *at = '\n';
    std::memset(at + 1, ' ', spaces);
    used_ += spaces + 1;
  }
  is_first_ = false;
}

void JsonWriter::start_value() {
  if (!after_key_) start_line();
  after_key_ = false;
}

void JsonWriter::open(char bracket) {
  start_value();
  put(bracket);
  ++depth_;
  is_first_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!is_first_) {
    is_first_ = true;  // no comma before a bracket
    start_line();
  }
  is_first_ = false;
  put(bracket);
}

void JsonWriter::open_row() {
  open('{');
  in_row_ = true;
}

void JsonWriter::close_row() {
  close('}');
  in_row_ = false;
}

void JsonWriter::key(std::string_view name) {
  start_line();
  char* at = room(name.size() + 4);
  *at++ = '"';
  std::memcpy(at, name.data(), name.size());
  std::memcpy(at + name.size(), "\": ", 3);
  used_ += name.size() + 4;
  after_key_ = true;
}

void JsonWriter::written(std::string_view value) {
  start_value();
  put(value);
}

void JsonWriter::text(std::string_view value) {
  start_value();
  if (!is_plain(value)) {
    put(Json(value).dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  put('"');
  put(value);
  put('"');
}

void JsonWriter::integer(std::int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  written({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  // Not std::to_chars: it may find another of several shortest spellings.
  std::array<char, 64> digits;
  const char* end = nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value);
  written({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void JsonWriter::tree(const Json& value) {
  std::string lines = value.dump(indent, ' ', false, Json::error_handler_t::replace);
  start_value();
  // Text in JSON has no line breaks, so all of them are of the layout.
  const std::string spaces(indent * depth_, ' ');
  std::string_view rest = lines;
  for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;) {
    put(rest.substr(0, end + 1));
    put(spaces);
    rest.remove_prefix(end + 1);
  }
  put(rest);
}

void JsonWriter::finish() {
  put('\n');
  flush();
}

}  // namespace ridgeline
