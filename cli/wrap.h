// Text folded to a width, with an indent: paragraphs of help and glance.
// Widths are counted in code points, good for the Latin text and signs that we print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ridgeline::cli {

// Code points in UTF-8 text.
std::size_t display_width(std::string_view text);

// Words of `text` folded at `width` columns; lines after the first start with `indent` blanks,
// and the first line is taken to be `column` columns in. No newline at the end. Words are never
// cut.
std::string wrap(std::string_view text, int width, int indent = 0, int column = 0);

}  // namespace ridgeline::cli
