// Small texts by simple rules.
// Widths are columns of a terminal, not bytes.
#include "base/text_pieces.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text_table.h"
#include "base/units.h"

namespace ridgeline {

std::string interval_text(const Estimate& estimate, std::string_view unit) {
  if (estimate.low == estimate.high) return "-";
  std::string low = format_si(estimate.low, unit);
  const std::string high = format_si(estimate.high, unit);
  const auto low_unit = low.find(' '), high_unit = high.find(' ');
  if (low_unit != std::string::npos && high_unit != std::string::npos &&
      low.substr(low_unit) == high.substr(high_unit))
    low.resize(low_unit);
  return low + " … " + high;
}

std::string printable(std::string text) {
  for (char& c : text)
    if ((c >= 0 && c < 32 && c != '\n') || c == 127) c = '?';
  return text;
}

std::string wrapped(const std::string& text, int width, std::string_view indent) {
  std::string out, line;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word =
        elide_middle(text.substr(begin, end - begin), width - static_cast<int>(indent.size()));
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      out += line + "\n";
      line = std::string(indent) + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return out + line + "\n";
}

void drop_columns(TextTable& table, int width, std::initializer_list<const char*> least_first) {
  const auto too_wide = [&] {
    constexpr int any_width = 1000;
    const std::string drawn = render_text(table, any_width);
    return display_width(drawn.substr(0, drawn.find('\n'))) > width;
  };
  for (const char* title : least_first) {
    if (!too_wide()) return;
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const Column& each) { return each.title == title; });
    if (column == table.columns.end()) continue;
    const auto index = column - table.columns.begin();
    table.columns.erase(column);
    for (auto& row : table.rows) row.erase(row.begin() + index);
  }
}

std::string clocks_text(const OperatingPoint& point) {
  std::string note;
  const auto add = [&](const std::string& part) { note += (note.empty() ? "" : ", ") + part; };
  if (point.gpu_units) add(fmt::format("{} SM", *point.gpu_units));
  if (point.gpu_hz) add(format_hz(*point.gpu_hz));
  if (point.memory_hz) add("memory " + format_hz(*point.memory_hz));
  return note;
}

}  // namespace ridgeline
