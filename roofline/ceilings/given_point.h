// A kernel that the user adds to the picture by its FLOP, bytes and, optionally, time.
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

// "NAME=FLOP:BYTES[:SECONDS]" with optional SI prefixes and units: "gemm=2e9:48MB:3.1ms".
GivenPoint parse_given_point(const std::string& text, const std::string& where = "--point");

}  // namespace ridgeline
