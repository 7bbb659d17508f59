// Synthetic photographs, their JPEGs, and a short measurement of decoding them.
#include "kernels/input/decode_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "kernels/input/jpeg.h"
#include "kernels/input/photo.h"
#include "kernels/steady_clock.h"

namespace ridgeline::input {
namespace {

TEST(Photo, IsTheSameForASeedAndAnotherForTheNext) {
  const RgbImage image = make_photo(130, 70, 7);
  EXPECT_EQ(image.pixels.size(), 3u * 130 * 70);
  EXPECT_EQ(image.pixels, make_photo(130, 70, 7).pixels);
  EXPECT_NE(image.pixels, make_photo(130, 70, 8).pixels);
  EXPECT_EQ(make_photo(1, 1, 7).pixels.size(), 3u);
}

// Mean square difference of pixels `step` apart: in photographs it grows with the distance.
double variation(const RgbImage& image, int step) {
  double sum = 0;
  int count = 0;
  for (int y = 0; y < image.height; y += 3)
    for (int x = 0; x + step < image.width; x += 3, ++count) {
      const auto at = [&](int column) {
        return double(image.pixels[static_cast<std::size_t>(3 * (y * image.width + column) + 1)]);
      };
      sum += std::pow(at(x + step) - at(x), 2);
    }
  return sum / count;
}

TEST(Photo, IsSmoothInTheSmallAndVariedInTheLarge) {
  const RgbImage image = make_photo(photo_width, photo_height, 1);
  EXPECT_LT(3 * variation(image, 1), variation(image, 16));
  EXPECT_LT(1.2 * variation(image, 16), variation(image, 128));
}

TEST(Jpeg, OfAPhotoHasTheSizeOfASampleAndComesBack) {
  if (!why_no_jpeg().empty()) GTEST_SKIP() << why_no_jpeg();
  const RgbImage image = make_photo(photo_width, photo_height, 1);
  const auto encoded = encode_jpeg(image, photo_quality);
  EXPECT_GT(encoded.size(), 100'000u);
  EXPECT_LT(encoded.size(), 120'000u);
  EXPECT_EQ(encoded, encode_jpeg(image, photo_quality));
  std::vector<std::uint8_t> pixels(image.pixels.size());
  decode_jpeg(encoded, pixels);
  double difference = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i)
    difference += std::abs(pixels[i] - image.pixels[i]);
  EXPECT_LT(difference / static_cast<double>(pixels.size()), 6);
  pixels.pop_back();
  EXPECT_THROW(decode_jpeg(encoded, pixels), Error);
  EXPECT_THROW(decode_jpeg(std::span(encoded).subspan(100), pixels), Error);
}

// Other programs can only make a sample slower and the clock look lower, since a probe takes 0.2
// ms: the best of several measurements counts.
TEST(Decode, GivesTheTimeOfASampleOnOneCore) {
  const Topology topology = read_topology();
  const SamplerWorld world{steady_seconds, [] { return OtherLoad{}; }, [] { return false; },
                           [](double, double) {}};
  constexpr int most_measurements = 20;
  double least_s[2] = {1e9, 1e9}, top_hz[2] = {0, 0};
  const auto is_done = [&] {
    return least_s[0] < 1 && least_s[1] < 1 && top_hz[0] > 1e8 && top_hz[1] > 1e8;
  };
  for (int i = 0; i < most_measurements && !is_done(); ++i) {
    ProfileMode mode;
    RowCounts counts;
    measure_decode({{1, topology.cores}, 0.3}, topology, world, mode, counts);
    if (!why_no_jpeg().empty()) {
      ASSERT_EQ(mode.decode.size(), 1u);
      EXPECT_EQ(mode.decode[0].status, Status::unsupported);
      EXPECT_EQ(mode.decode[0].note, why_no_jpeg());
      return;
    }
    ASSERT_EQ(mode.decode.size(), 2u);
    for (std::size_t row = 0; row < 2; ++row) {
      EXPECT_EQ(mode.decode[row].threads, row == 0 ? 1 : topology.cores);
      EXPECT_EQ(mode.decode[row].library, jpeg_library());
      EXPECT_NEAR(static_cast<double>(mode.decode[row].bytes), 110e3, 10e3);
      ASSERT_TRUE(mode.decode[row].time_s && mode.decode[row].clock_hz);
      least_s[row] = std::min(least_s[row], mode.decode[row].time_s->value);
      top_hz[row] = std::max(top_hz[row], mode.decode[row].clock_hz->value);
    }
  }
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_GT(least_s[row], 1e-4);
    EXPECT_LT(least_s[row], 1);
    EXPECT_GT(top_hz[row], 1e8);
  }
}

}  // namespace
}  // namespace ridgeline::input
