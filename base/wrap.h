// Text folded to a width, with an indent: paragraphs of help and of the glance.
// Tables are base/text_table.h's matter.
#pragma once

#include <string>
#include <string_view>

namespace ridgeline {

// Words of `text` folded at `width` columns; lines after the first start with `indent` blanks,
// and the first line is taken to be `column` columns in. No newline at the end. Words are never
// cut.
std::string wrap(std::string_view text, int width, int indent = 0, int column = 0);

}  // namespace ridgeline
