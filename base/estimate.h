// A number as a user sees it: value, 90 % interval and where it came from.
// Made once, at the edge; the model computes in plain doubles, never on Estimates.
#pragma once

#include <optional>

#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline {

// Half of a 90 % interval in standard deviations, where a measured or fitted number is taken to be
// normal.
inline constexpr double sigma_of_90 = 1.645;

struct Estimate {
  double value = 0;
  double low = 0;   // 5 % quantile
  double high = 0;  // 95 % quantile
  Source source = Source::assumed;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// A number without an interval of its own (low = value = high).
inline Estimate exact(double value, Source source) { return {value, value, value, source}; }

Json to_json(const Estimate& estimate);
Json nullable(const std::optional<Estimate>& estimate);  // null where there is none
Estimate estimate_from_json(const JsonCursor& cursor);  // finite, low ≤ value ≤ high, not negative

}  // namespace ridgeline
