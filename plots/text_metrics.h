// How wide a text is, without a font at hand: estimates that err on the wide side.
// Not a shaping engine; labels that fit by these numbers fit in every common sans-serif.
#pragma once

#include <string_view>

namespace ridgeline {

// Width in pixels of UTF-8 text in a sans-serif of this size.
double text_width_px(std::string_view text, double font_px);

}  // namespace ridgeline
