// Text folded at blanks to a width: paragraphs on a terminal and captions of pictures.
// Tables are in base/text_table.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

// What becomes of a word that is longer than a line: it sticks out whole, since a cut name hides
// what it names; it loses its middle; or it is broken anywhere.
enum class LongWord { whole, elided, broken };

// Folded at `width` columns; lines after the first start with `indent` blanks, and the first line
// is taken to be `column` columns in. No newline at the end.
std::string wrap(std::string_view text, int width, int indent = 0, int column = 0,
                 LongWord long_word = LongWord::whole);

// Fits every width: later lines are indented by two, long words are elided, a newline ends it.
std::string paragraph(std::string_view text, int width);

// Lines as wide as `measure` says, in any unit; long words stay whole.
std::vector<std::string> wrapped_lines(std::string_view text, double width,
                                       const std::function<double(std::string_view)>& measure);

}  // namespace ridgeline
