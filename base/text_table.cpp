// Layout of text tables by display width.
// No colour and no box drawing: the same bytes serve terminals, pipes and golden files.
#include "base/text_table.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "base/csv.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

constexpr int gap = 2;              // columns between columns
constexpr int min_flexible = 8;     // "conv…_bn" can still be recognised
constexpr int min_block_value = 4;  // columns that a value keeps beside its title
constexpr std::string_view ellipsis = "…";
constexpr std::string_view separators = "/.";  // between the parts of a path

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
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (is_overlong || is_surrogate || code > 0x10ffff) return {text.substr(0, 1), 1};
  return {text.substr(0, length), code_point_width(code)};
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

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_control(const Character& character) {
  const auto first = static_cast<unsigned char>(character.bytes.front());
  return (character.bytes.size() == 1 && (first < 0x20 || first >= 0x7f)) ||
         (first == 0xc2 && static_cast<unsigned char>(character.bytes[1]) < 0xa0) ||
         character.bytes == "\xef\xbf\xbe" || character.bytes == "\xef\xbf\xbf";
}

// Names from a file must not move the cursor or colour the terminal.
std::string without_controls(std::string_view text) {
  std::string clean = printable(text);
  std::ranges::replace(clean, '\n', '?');
  return clean;
}

// Bytes of the colour sequence that the text begins with.
std::size_t color_bytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Titles first, then rows: all of the same length and free of control characters. Tables have ten
// thousands of cells, nearly all of them plain: those are looked at in place.
class Grid {
 public:
  explicit Grid(const TextTable& table) : columns_(table.columns.size()) {
    cells_.reserve((table.rows.size() + 1) * columns_);
    for (const Column& column : table.columns) add(column.title);
    for (const auto& row : table.rows)
      for (std::size_t i = 0; i < columns_; ++i)
        add(i < row.size() ? std::string_view(row[i]) : std::string_view());
  }

  struct Cell {
    std::string_view text;
    int width = 0;
  };

  std::size_t columns() const { return columns_; }
  std::size_t lines() const { return cells_.size() / columns_; }
  const Cell& at(std::size_t line, std::size_t column) const {
    return cells_[line * columns_ + column];
  }

 private:
  void add(std::string_view text) {
    if (is_printable_ascii(text)) {
      cells_.push_back({text, static_cast<int>(text.size())});
      return;
    }
    text = cleaned_.emplace_back(without_controls(text));
    cells_.push_back({text, display_width(text)});
  }

  std::size_t columns_;
  std::vector<Cell> cells_;
  std::deque<std::string> cleaned_;
};

void append_cell(std::string& line, std::string_view text, int text_width, int width, Align align) {
  const auto padding = static_cast<std::size_t>(width - text_width);
  if (align == Align::right) line.append(padding, ' ');
  line += text;
  if (align == Align::left) line.append(padding, ' ');
}

constexpr std::string_view joint = " + ";  // between the names of what was fused

std::size_t joints(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(joint); at != std::string_view::npos;
       at = text.find(joint, at + joint.size()))
    ++count;
  return count;
}

// "5.3" of "features.5.3.attn.proj": which of many equal blocks a layer is in, where an ending of
// this width does not show it.
std::string_view block_number(std::string_view text, int width) {
  const auto is_digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
  std::size_t end = text.find_last_of(separators);
  while (end != std::string_view::npos && end > 0 && !is_digit(end - 1))
    end = text.find_last_of(separators, end - 1);
  if (end == std::string_view::npos || end == 0) return {};
  std::size_t begin = end;
  while (begin > 0 &&
         (is_digit(begin - 1) || (text[begin - 1] == '.' && begin > 1 && is_digit(begin - 2))))
    --begin;
  const std::size_t before =
      begin == 0 ? std::string_view::npos : text.find_last_of(separators, begin - 1);
  const std::size_t part = before == std::string_view::npos ? 0 : before + 1;
  const bool is_shown = display_width(text.substr(part)) <= width;
  return is_shown ? std::string_view{} : text.substr(begin, end - begin);
}

// The longest ending that fits behind an ellipsis, without a part of a path that is cut where at
// least so much is left then.
std::string ending(std::string_view text, int width, int least) {
  const std::string_view end = tail(text, width - 1);
  const std::size_t part = end.find_first_of(separators);
  const bool begins_at_part =
      separators.find(text[text.size() - end.size() - 1]) != std::string_view::npos;
  const bool is_enough =
      part != std::string_view::npos && display_width(end.substr(part + 1)) >= least;
  return std::string(ellipsis) +
         std::string(is_enough && !begins_at_part ? end.substr(part + 1) : end);
}

// The end of a path says most: "/layer1/layer1.0/conv1/Conv" becomes "…layer1.0/conv1/Conv", whole
// parts as long as that does not waste a third of the width, and the number of its block before
// that: "…3…self_attn.q_proj". Other text loses its middle.
// Of names that are joined the first stays, with the number of the others: "layer1.0.conv1 +2".
std::string shorten(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (const std::size_t others = joints(text); others > 0) {
    const std::string count = " +" + std::to_string(others);
    const int rest = width - static_cast<int>(count.size());
    if (rest > 1) return shorten(text.substr(0, text.find(joint)), rest) + count;
  }
  const bool is_path =
      text.find('/') != std::string_view::npos ||
      (text.find('.') != std::string_view::npos && text.find(' ') == std::string_view::npos);
  if (!is_path || width < 2) return elide_middle(text, width);
  constexpr int least_name = 8;
  constexpr int least_end = 4;  // "in_proj" says enough, the "0" of "downsample.0" does not
  if (const std::string_view number = block_number(text, width - 1); !number.empty()) {
    const std::string front = std::string(ellipsis) + std::string(number);
    if (const int rest = width - display_width(front); rest >= least_name)
      return front + ending(text, rest, least_end);
  }
  return ending(text, width, width * 2 / 3);
}

// Which columns there is room for, and how wide each of them is.
struct Layout {
  std::vector<int> widths;
  std::vector<bool> shown;
  int total = 0;  // of the shown ones and the gaps between them
};

Layout natural_layout(const Grid& grid) {
  Layout layout{std::vector<int>(grid.columns(), 0), std::vector<bool>(grid.columns(), true), 0};
  for (std::size_t line = 0; line < grid.lines(); ++line)
    for (std::size_t i = 0; i < grid.columns(); ++i)
      layout.widths[i] = std::max(layout.widths[i], grid.at(line, i).width);
  layout.total = gap * (static_cast<int>(grid.columns()) - 1);
  for (const int column : layout.widths) layout.total += column;
  return layout;
}

// What a flexible column keeps: as much as its table wishes, or what it cannot do without.
enum class Keeping { wished, least };

int least_width(const Column& column, Keeping keeping) {
  return keeping == Keeping::wished ? std::max(column.kept, min_flexible) : min_flexible;
}

// How many columns the flexible ones can give.
int slack(const Layout& layout, const std::vector<Column>& columns) {
  int sum = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (layout.shown[i] && columns[i].flexible)
      sum += std::max(layout.widths[i] - least_width(columns[i], Keeping::wished), 0);
  return sum;
}

void leave_out_spare(Layout& layout, const std::vector<Column>& columns, int width) {
  while (layout.total - slack(layout, columns) > width) {
    std::size_t most = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (layout.shown[i] && columns[i].spare > (most == columns.size() ? 0 : columns[most].spare))
        most = i;
    if (most == columns.size()) return;
    layout.shown[most] = false;
    layout.total -= layout.widths[most] + gap;
  }
}

// One column at a time off the widest flexible one, so that two of them end up alike.
void shrink_flexible(Layout& layout, const std::vector<Column>& columns, int width,
                     Keeping keeping) {
  for (; layout.total > width; --layout.total) {
    std::size_t widest = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (layout.shown[i] && columns[i].flexible &&
          layout.widths[i] > least_width(columns[i], keeping) &&
          (widest == columns.size() || layout.widths[i] > layout.widths[widest]))
        widest = i;
    if (widest == columns.size()) return;
    --layout.widths[widest];
  }
}

void append_line(std::string& text, const Grid& grid, std::size_t line, const Layout& layout,
                 const std::vector<Column>& columns) {
  bool is_first = true;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!layout.shown[i]) continue;
    if (!std::exchange(is_first, false)) text.append(gap, ' ');
    const Grid::Cell& cell = grid.at(line, i);
    const int width = layout.widths[i];
    if (cell.width <= width) {
      append_cell(text, cell.text, cell.width, width, columns[i].align);
    } else {
      const std::string shorter = shorten(cell.text, width);
      append_cell(text, shorter, display_width(shorter), width, columns[i].align);
    }
  }
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

std::string render_blocks(const Grid& grid, int width) {
  std::string text;
  for (std::size_t row = 1; row < grid.lines(); ++row) {
    if (row > 1) text += '\n';
    for (std::size_t i = 0; i < grid.columns(); ++i) {
      const std::string value(grid.at(row, i).text);
      if (value.empty()) continue;
      std::string title(grid.at(0, i).text);
      if (!title.empty()) title += ": ";
      if (display_width(title) + display_width(value) <= width) {
        text += title + value + "\n";
        continue;
      }
      if (!title.empty()) text += wrap(title, width, 0, 0, LongWord::broken) + "\n";
      text += std::string(gap, ' ') +
              wrap(value, std::max(width, gap + min_block_value), gap, gap, LongWord::broken) +
              "\n";
    }
  }
  return text;
}

}  // namespace

int display_width(std::string_view text) {
  if (is_printable_ascii(text)) return static_cast<int>(text.size());
  int width = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    width += character.width;
    text.remove_prefix(character.bytes.size());
  }
  return width;
}

std::string_view text_head(std::string_view text, int width) {
  std::size_t end = 0;
  while (end < text.size()) {
    const Character character = next_character(text.substr(end));
    width -= character.width;
    if (width < 0) break;
    end += character.bytes.size();
  }
  return text.substr(0, end);
}

std::string elide_middle(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return "";
  const int kept = width - 1;
  const std::string_view end = tail(text, kept / 2);
  return std::string(text_head(text, kept - display_width(end))) + std::string(ellipsis) +
         std::string(end);
}

std::string printable(std::string_view text, Colors colors) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t kept = colors == Colors::kept ? color_bytes(text) : 0;
    if (kept > 0 || text.front() == '\n') {
      clean += text.substr(0, std::max<std::size_t>(kept, 1));
      text.remove_prefix(std::max<std::size_t>(kept, 1));
      continue;
    }
    const Character character = next_character(text);
    clean += is_control(character) ? std::string_view("?") : character.bytes;
    text.remove_prefix(character.bytes.size());
  }
  return clean;
}

std::string render_text(const TextTable& table, int width) {
  if (table.columns.empty()) return "";
  width = std::max(width, 1);
  const Grid grid(table);
  Layout layout = natural_layout(grid);
  leave_out_spare(layout, table.columns, width);
  for (const Keeping keeping : {Keeping::wished, Keeping::least})
    shrink_flexible(layout, table.columns, width, keeping);
  if (layout.total > width) return render_blocks(grid, width);

  std::string text;
  text.reserve(grid.lines() * (static_cast<std::size_t>(layout.total) + 1));
  for (std::size_t line = 0; line < grid.lines(); ++line)
    append_line(text, grid, line, layout, table.columns);
  return text;
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

std::string render_markdown(const TextTable& table) {
  if (table.columns.empty()) return "";
  std::string text;
  const Grid grid(table);
  for (std::size_t row = 0; row < grid.lines(); ++row) {
    text += '|';
    for (std::size_t i = 0; i < grid.columns(); ++i) {
      text += ' ';
      for (const char c : grid.at(row, i).text) {
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
