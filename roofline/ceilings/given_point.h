// A kernel that the user places on the picture by its counts: FLOP, bytes and perhaps its time.
// Parsing only; roofline.h compares it with the roof.
#pragma once

#include <optional>
#include <string>

namespace ridgeline {

struct GivenPoint {
  std::string name;
  double flop = 0;
  double bytes = 0;
  std::optional<double> time_s;
};

// "NAME=FLOP:BYTES[:SECONDS]" with SI prefixes and units where wanted: "gemm=2e9:48MB:3.1ms".
GivenPoint parse_given_point(const std::string& text, const std::string& where = "--point");

}  // namespace ridgeline
