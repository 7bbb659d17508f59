// How wide a text is, without a font at hand: estimates that err on the wide side.
// Not a shaping engine; labels that fit by these numbers fit in every common sans-serif.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

// Width in pixels of UTF-8 text in a sans-serif of this size.
double text_width_px(std::string_view text, double font_px);

// Words in lines of at most this width; a word that is wider has a line of its own.
std::vector<std::string> wrapped_lines(const std::string& text, double font_px, double width);

}  // namespace ridgeline
