// Bounds beyond which a quantity in a file is an error of unit or of hand, and readers that check.
// Generous on purpose: they catch nonsense, they do not judge measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/estimate.h"
#include "base/json_fwd.h"

namespace ridgeline {

inline constexpr double max_rate_per_s = 1e21;  // FLOP/s or B/s: a thousand exa
inline constexpr double max_clock_hz = 1e11;
inline constexpr double max_time_s = 1e9;
inline constexpr double max_power_w = 1e6;
inline constexpr double max_joule_per_event = 1;  // of one FLOP or one byte
inline constexpr std::uint64_t max_bytes = std::uint64_t{1} << 60;
inline constexpr int max_units = 1'000'000;  // threads, cores, multiprocessors

double bounded(const JsonCursor& cursor, double max);  // finite, 0 ≤ value ≤ max
std::uint64_t bounded_bytes(const JsonCursor& cursor);
int bounded_units(const JsonCursor& cursor);  // 1 … max_units
Estimate bounded_estimate(const JsonCursor& cursor, double max);

// The same for a member that may be absent or null.
std::optional<double> optional_bounded(const JsonCursor& parent, std::string_view key, double max);
std::optional<int> optional_units(const JsonCursor& parent, std::string_view key);
std::optional<Estimate> optional_estimate(const JsonCursor& parent, std::string_view key,
                                          double max);

}  // namespace ridgeline
