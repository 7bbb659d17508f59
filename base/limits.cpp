// Readers of quantities that reject absurd values with the path of the value.
// The bounds themselves are in the header.
#include "base/limits.h"

#include <fmt/format.h>

#include "base/json.h"

namespace ridgeline {

double bounded(const JsonCursor& cursor, double max) {
  const double value = cursor.non_negative();
  if (value > max) cursor.fail(fmt::format("{:g} is out of range, the limit is {:g}", value, max));
  return value;
}

std::uint64_t bounded_bytes(const JsonCursor& cursor) {
  const std::uint64_t bytes = cursor.size();
  if (bytes > max_bytes) cursor.fail(fmt::format("{} is out of range, the limit is 2^60", bytes));
  return bytes;
}

int bounded_units(const JsonCursor& cursor) {
  const std::uint64_t units = cursor.size();
  if (units == 0) cursor.fail("zero");
  if (units > max_units)
    cursor.fail(fmt::format("{} is out of range, the limit is {}", units, max_units));
  return static_cast<int>(units);
}

Estimate bounded_estimate(const JsonCursor& cursor, double max) {
  const Estimate estimate = estimate_from_json(cursor);
  bounded(cursor.at("value"), max);
  bounded(cursor.at("high"), max);
  return estimate;
}

std::optional<double> optional_bounded(const JsonCursor& parent, std::string_view key, double max) {
  const auto cursor = parent.find(key);
  return cursor ? std::optional(bounded(*cursor, max)) : std::nullopt;
}

std::optional<int> optional_units(const JsonCursor& parent, std::string_view key) {
  const auto cursor = parent.find(key);
  return cursor ? std::optional(bounded_units(*cursor)) : std::nullopt;
}

std::optional<Estimate> optional_estimate(const JsonCursor& parent, std::string_view key,
                                          double max) {
  const auto cursor = parent.find(key);
  return cursor ? std::optional(bounded_estimate(*cursor, max)) : std::nullopt;
}

}  // namespace ridgeline
