// The JSON form of an Estimate and its checks.
// Bounds on the size of a quantity are not here: an Estimate does not know its unit.
#include "base/estimate.h"

#include <fmt/format.h>

#include "base/json.h"

namespace ridgeline {

Json to_json(const Estimate& estimate) {
  return {{"value", estimate.value},
          {"low", estimate.low},
          {"high", estimate.high},
          {"source", to_string(estimate.source)}};
}

Json nullable(const std::optional<Estimate>& estimate) {
  return estimate ? to_json(*estimate) : Json();
}

Estimate estimate_from_json(const JsonCursor& cursor) {
  Estimate estimate;
  estimate.value = cursor.at("value").non_negative();
  estimate.low = cursor.at("low").non_negative();
  estimate.high = cursor.at("high").non_negative();
  estimate.source = cursor.at("source").token<Source>();
  if (estimate.low > estimate.value)
    cursor.at("low").fail(fmt::format("{} is above value {}", estimate.low, estimate.value));
  if (estimate.high < estimate.value)
    cursor.at("high").fail(fmt::format("{} is below value {}", estimate.high, estimate.value));
  return estimate;
}

}  // namespace ridgeline
