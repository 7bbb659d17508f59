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
// A board's regulator lets short peaks through, and its sensor is off by a few percent.
constexpr double cap_tolerance = 1.1;

}  // namespace

// Cards read their own power, the power that the cap holds. A meter at the plug reads more, and the
// budget of a Jetson is the name of a mode, not a cap.
DeviceLimits limits_for(const Observation& row, const MachineModel& model,
                        const Predictor& predictor) {
  DeviceLimits limits{predictor.least_time_s(model, row)};
  const auto cap = find_parameter(model, "power_cap_w");
  if (cap && row.conditions.power_kind == PowerKind::board)
    limits.cap_w = model.parameters[*cap].mean;
  return limits;
}

Plausibility check_plausibility(const Observation& row, const Forecast& forecast,
                                const DeviceLimits& limits) {
  const double ratio = row.time_s / forecast.time_s.value;
  const std::string other_device =
      fmt::format("; was it measured on another device than {}?", row.device);
  if (row.time_s < roof_tolerance * limits.least_time_s) {
    const std::string roof = fmt::format(
        "{} is {} times faster than the roof allows ({})", format_seconds(row.time_s),
        format_number(limits.least_time_s / row.time_s), format_seconds(limits.least_time_s));
    if (ratio < 1 / unit_factor) return {Fault::wrong_unit, "time_ms looks like seconds: " + roof};
    return {Fault::other_device, "contradiction: " + roof + other_device};
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
  if (row.power_w && limits.cap_w && *row.power_w > cap_tolerance * *limits.cap_w)
    return {Fault::other_device,
            fmt::format("contradiction: {} W is above the power cap ({} W){}",
                        format_number(*row.power_w), format_number(*limits.cap_w), other_device)};
  return {};
}

}  // namespace ridgeline
