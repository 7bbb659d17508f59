// A unit is suspected if the factor is nearer to 1000 than to the error of a wrong model.
#include "validation/plausibility.h"

#include <fmt/format.h>

#include "base/units.h"

namespace ridgeline {
namespace {

// Predictions are wrong by tens of percent, rarely by a factor of ten.
constexpr double unit_factor = 250;
// Clocks are averages and ceilings are fitted: a row a few percent faster proves nothing.
constexpr double roof_tolerance = 0.9;

}  // namespace

Plausibility check_plausibility(const Observation& row, const Forecast& forecast,
                                double least_time_s) {
  const double ratio = row.time_s / forecast.time_s.value;
  if (row.time_s < roof_tolerance * least_time_s) {
    const std::string roof =
        fmt::format("{} is {} times faster than the roof allows ({})", format_seconds(row.time_s),
                    format_number(least_time_s / row.time_s), format_seconds(least_time_s));
    if (ratio < 1 / unit_factor) return {Fault::wrong_unit, "time_ms looks like seconds: " + roof};
    return {Fault::contradiction, "contradiction: " + roof};
  }
  if (ratio > unit_factor || ratio < 1 / unit_factor)
    return {Fault::wrong_unit,
            fmt::format("time_ms looks like {}: {} is {} times the predicted {}",
                        ratio > 1 ? "microseconds" : "seconds", format_seconds(row.time_s),
                        format_number(ratio), format_seconds(forecast.time_s.value))};
  if (row.power_w && forecast.power_w) {
    const double power_ratio = *row.power_w / forecast.power_w->value;
    if (power_ratio > unit_factor || power_ratio < 1 / unit_factor)
      return {Fault::wrong_unit,
              fmt::format("power_w looks like {}: {} W is {} times the "
                          "predicted {} W",
                          power_ratio > 1 ? "milliwatts" : "kilowatts", format_number(*row.power_w),
                          format_number(power_ratio), format_number(forecast.power_w->value))};
  }
  return {};
}

}  // namespace ridgeline
