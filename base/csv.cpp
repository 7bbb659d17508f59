// Quoting of comma-separated values.
// Rows end in a newline without carriage return: cut, awk and every CSV reader take that.
#include "base/csv.h"

#include <array>
#include <charconv>
#include <cmath>

namespace ridgeline {

std::string csv_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     !text.starts_with(' ') && !text.ends_with(' ');
  if (plain) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + "\"";
}

std::string csv_number(double value) {
  if (!std::isfinite(value)) return "";
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value + 0.0);
  return {buffer.data(), result.ptr};
}

std::string csv_row(const std::vector<std::string>& fields) {
  // A single empty field would read as a blank line, which readers skip.
  if (fields.size() == 1 && fields.front().empty()) return "\"\"\n";
  std::string row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) row += ',';
    row += csv_field(fields[i]);
  }
  return row + "\n";
}

}  // namespace ridgeline
