// Layout of text tables by display width.
// No colour and no box drawing: the same bytes serve terminals, pipes and golden files.
#include "base/text_table.h"

#include <algorithm>
#include <cstdint>

#include "base/csv.h"

namespace ridgeline {
namespace {

constexpr int gap = 2;              // columns between columns
constexpr int min_flexible = 8;     // "conv…_bn" can still be told apart
constexpr int min_block_value = 4;  // columns that a value keeps beside its title
constexpr std::string_view ellipsis = "…";

struct Character {
  std::string_view bytes;
  int width = 1;
};

int code_point_width(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 0;  // controls
  if (code >= 0x300 && code <= 0x36f) return 0;                // combining accents
  if (code >= 0x200b && code <= 0x200f) return 0;              // zero-width, direction marks
  const bool wide = (code >= 0x1100 && code <= 0x115f) ||      // Hangul
                    (code >= 0x2e80 && code <= 0xa4cf) ||      // CJK
                    (code >= 0xac00 && code <= 0xd7a3) ||      // Hangul
                    (code >= 0xf900 && code <= 0xfaff) ||      // CJK
                    (code >= 0xfe30 && code <= 0xfe6f) ||      // CJK
                    (code >= 0xff00 && code <= 0xff60) ||      // full-width forms
                    (code >= 0x1f300 && code <= 0x1faff) ||    // pictographs
                    (code >= 0x20000 && code <= 0x3fffd);      // CJK
  return wide ? 2 : 1;
}

Character next_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1u
                             : first < 0xc2 ? 0u
                             : first < 0xe0 ? 2u
                             : first < 0xf0 ? 3u
                             : first < 0xf5 ? 4u
                                            : 0u;
  if (length == 0 || length > text.size()) return {text.substr(0, 1), 1};
  std::uint32_t code = length == 1 ? first : first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {text.substr(0, 1), 1};
    code = code << 6 | (byte & 0x3fu);
  }
  return {text.substr(0, length), code_point_width(code)};
}

// The longest beginning that fits.
std::string_view head(std::string_view text, int width) {
  std::size_t end = 0;
  while (end < text.size()) {
    const Character character = next_character(text.substr(end));
    width -= character.width;
    if (width < 0) break;
    end += character.bytes.size();
  }
  return text.substr(0, end);
}

// The longest ending that fits.
std::string_view tail(std::string_view text, int width) {
  int excess = display_width(text) - width;
  std::size_t begin = 0;
  while (excess > 0) {
    const Character character = next_character(text.substr(begin));
    excess -= character.width;
    begin += character.bytes.size();
  }
  return text.substr(begin);
}

// Names from a file must not move the cursor or colour the terminal.
std::string without_controls(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const Character character = next_character(text);
    const auto first = static_cast<unsigned char>(character.bytes.front());
    const bool control = (character.bytes.size() == 1 && (first < 0x20 || first >= 0x7f)) ||
                         (first == 0xc2 && static_cast<unsigned char>(character.bytes[1]) < 0xa0);
    clean += control ? "?" : std::string(character.bytes);
    text.remove_prefix(character.bytes.size());
  }
  return clean;
}

// Titles first, then rows: all of the same length and free of control characters.
std::vector<std::vector<std::string>> grid(const TextTable& table) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : table.columns) lines[0].push_back(without_controls(column.title));
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back(table.columns.size());
    for (std::size_t i = 0; i < std::min(row.size(), line.size()); ++i)
      line[i] = without_controls(row[i]);
  }
  return lines;
}

std::string aligned_line(const std::vector<std::string>& cells, const std::vector<int>& widths,
                         const std::vector<Column>& columns) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = elide_middle(cells[i], widths[i]);
    const std::string padding(static_cast<std::size_t>(widths[i] - display_width(cell)), ' ');
    if (i > 0) line.append(gap, ' ');
    line += columns[i].align == Align::right ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Breaks at spaces where it can, anywhere where it must.
std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    std::size_t end = std::max(head(text, width).size(), next_character(text).bytes.size());
    const std::size_t space = text.substr(0, end + 1).rfind(' ');
    if (space != std::string_view::npos && space > 0) end = space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  lines.emplace_back(text);
  return lines;
}

std::string render_blocks(const std::vector<std::vector<std::string>>& lines, int width) {
  std::string text;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    if (row > 1) text += '\n';
    for (std::size_t i = 0; i < lines[row].size(); ++i) {
      const std::string& value = lines[row][i];
      if (value.empty()) continue;
      const std::string title = lines[0][i].empty() ? "" : lines[0][i] + ": ";
      if (display_width(title) + display_width(value) <= width) {
        text += title + value + "\n";
        continue;
      }
      for (const std::string& part : wrap(title.substr(0, title.find_last_not_of(' ') + 1), width))
        if (!part.empty()) text += part + "\n";
      for (const std::string& part : wrap(value, std::max(width - gap, min_block_value)))
        text += std::string(gap, ' ') + part + "\n";
    }
  }
  return text;
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    width += character.width;
    text.remove_prefix(character.bytes.size());
  }
  return width;
}

std::string elide_middle(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return "";
  const int kept = width - 1;
  const std::string_view end = tail(text, kept / 2);
  return std::string(head(text, kept - display_width(end))) + std::string(ellipsis) +
         std::string(end);
}

std::string render_text(const TextTable& table, int width) {
  if (table.columns.empty()) return "";
  width = std::max(width, 1);
  const auto lines = grid(table);
  std::vector<int> widths(table.columns.size(), 0);
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], display_width(line[i]));
  int total = gap * (static_cast<int>(widths.size()) - 1);
  for (const int column : widths) total += column;

  // One column at a time off the widest flexible one, so that two of them end up alike.
  for (; total > width; --total) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (table.columns[i].flexible && widths[i] > min_flexible &&
          (widest == widths.size() || widths[i] > widths[widest]))
        widest = i;
    if (widest == widths.size()) return render_blocks(lines, width);
    --widths[widest];
  }

  std::string text;
  for (const auto& line : lines) text += aligned_line(line, widths, table.columns);
  return text;
}

std::string render_markdown(const TextTable& table) {
  if (table.columns.empty()) return "";
  std::string text;
  const auto lines = grid(table);
  for (std::size_t row = 0; row < lines.size(); ++row) {
    text += '|';
    for (const std::string& cell : lines[row]) {
      text += ' ';
      for (const char c : cell) {
        if (c == '|' || c == '\\') text += '\\';
        text += c;
      }
      text += " |";
    }
    text += '\n';
    if (row > 0) continue;
    text += '|';
    for (const Column& column : table.columns)
      text += column.align == Align::right ? " ---: |" : " --- |";
    text += '\n';
  }
  return text;
}

std::string render_csv(const TextTable& table) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  std::string text = csv_row(titles);
  for (auto row : table.rows) {
    row.resize(titles.size());
    text += csv_row(row);
  }
  return text;
}

}  // namespace ridgeline
