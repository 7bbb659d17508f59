// Pictures that cost a decoder what photographs cost: smooth shades, and detail whose amplitude
// falls with its frequency, as it does in nature. Made from a seed, the same on every platform.
#pragma once

#include <cstdint>

#include "kernels/input/jpeg.h"

namespace ridgeline::input {

// The usual size of an ImageNet sample; at `photo_quality` it is about 110 kB as a JPEG.
inline constexpr int photo_width = 500, photo_height = 375;
inline constexpr int photo_quality = 90;

RgbImage make_photo(int width, int height, std::uint64_t seed);

}  // namespace ridgeline::input
