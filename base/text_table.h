// A table of text for people: aligned to a terminal's width, or as Markdown or CSV.
// Cells are finished text; numbers are formatted before they come here.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool flexible =
      false;      // may lose text when the table is too wide: the front of a path, or the middle
  int spare = 0;  // left out when that is not enough, the highest first; 0: never
  int kept = 0;   // of a flexible one's width, as long as there are spare ones to leave out
};

struct TextTable {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // missing cells are empty
};

// At most `width` columns wide: flexible columns shrink first, then spare ones go; where that is
// not enough each row becomes a block of "title: value" lines.
std::string render_text(const TextTable& table, int width);
// Takes columns away, the first named first, until the table is at most `width` columns wide.
void drop_columns(TextTable& table, int width, std::initializer_list<const char*> least_first);

std::string render_markdown(const TextTable& table);
std::string render_csv(const TextTable& table);

// Terminal columns of UTF-8 text; a byte that is not UTF-8 counts as one.
int display_width(std::string_view text);

// The longest beginning that is at most `width` columns wide.
std::string_view text_head(std::string_view text, int width);

// "conv_1…_bn": at most `width` columns, the middle replaced by an ellipsis.
std::string elide_middle(std::string_view text, int width);

// Names come from files: nothing may steer the terminal. '?' stands for a control character and for
// a byte that is not UTF-8; line breaks stay, and so do colours ("ESC [ 1 ; 31 m") if asked for.
enum class Colors { removed, kept };
std::string printable(std::string_view text, Colors colors = Colors::removed);

}  // namespace ridgeline
