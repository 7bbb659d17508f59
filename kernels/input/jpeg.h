// JPEG in memory, by the library that the build found: libjpeg-turbo, as the usual loaders have it.
// A build without one says why; everything else works.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ridgeline::input {

// Rows from top to bottom, three bytes per pixel: red, green, blue.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

std::string why_no_jpeg();   // empty where there is a library
std::string jpeg_library();  // "libjpeg-turbo 2.1.5"; empty where there is none

// Baseline with half as many colour samples each way, as cameras and web sites write it.
std::vector<std::uint8_t> encode_jpeg(const RgbImage& image, int quality);

// To RGB with the library's default settings; `pixels` holds the whole image. Throws Error where
// the library refuses the data.
void decode_jpeg(std::span<const std::uint8_t> encoded, std::span<std::uint8_t> pixels);

}  // namespace ridgeline::input
