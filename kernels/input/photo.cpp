// Octaves of noise on lattices of 1, 2, 4 … 128 pixels, interpolated in whole numbers. Octaves of
// equal strength are, in two dimensions, amplitudes that fall like 1/f.
#include "kernels/input/photo.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/random.h"

namespace ridgeline::input {
namespace {

constexpr int octaves = 8;

// One octave: random values in −128 … 127 on a lattice of 2^shift pixels, linear in between.
class Lattice {
 public:
  Lattice(int width, int height, int shift, Random& random)
      : shift_(shift),
        columns_((width >> shift) + 2),
        values_(static_cast<std::size_t>(columns_) *
                static_cast<std::size_t>((height >> shift) + 2)) {
    for (int& value : values_) value = static_cast<int>(random.next() >> 56) - 128;
  }

  int at(int x, int y) const {
    const int cell = 1 << shift_;
    const int right = x & (cell - 1), down = y & (cell - 1);
    const int* const corner =
        &values_[static_cast<std::size_t>((y >> shift_) * columns_ + (x >> shift_))];
    const int above = corner[0] * (cell - right) + corner[1] * right;
    const int below = corner[columns_] * (cell - right) + corner[columns_ + 1] * right;
    return (above * (cell - down) + below * down) >> (2 * shift_);
  }

 private:
  int shift_, columns_;
  std::vector<int> values_;
};

// The octaves of one plane.
class Shades {
 public:
  Shades(int width, int height, Random& random) {
    for (int shift = 0; shift < octaves; ++shift)
      lattices_.emplace_back(width, height, shift, random);
  }

  // In sixteenths of a grey level.
  int at(int x, int y, const std::array<int, octaves>& amplitudes) const {
    int sum = 0;
    for (std::size_t i = 0; i < lattices_.size(); ++i) sum += amplitudes[i] * lattices_[i].at(x, y);
    return sum;
  }

 private:
  std::vector<Lattice> lattices_;
};

}  // namespace

RgbImage make_photo(int width, int height, std::uint64_t seed) {
  // From fine to coarse: lenses and scaling take some of the finest, colour varies less and slowly.
  constexpr std::array<int, octaves> light = {3, 6, 8, 8, 8, 8, 8, 8};
  constexpr std::array<int, octaves> colour = {0, 0, 1, 1, 2, 2, 3, 3};
  Random random{seed};
  const Shades lightness(width, height, random), red(width, height, random),
      blue(width, height, random);
  RgbImage image{width, height, {}};
  image.pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  const auto push = [&](int sixteenths) {
    image.pixels.push_back(static_cast<std::uint8_t>(std::clamp(128 + sixteenths / 16, 0, 255)));
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int grey = lightness.at(x, y, light);
      const int warm = red.at(x, y, colour), cold = blue.at(x, y, colour);
      push(grey + warm);
      push(grey - (warm + cold) / 2);
      push(grey + cold);
    }
  return image;
}

}  // namespace ridgeline::input
