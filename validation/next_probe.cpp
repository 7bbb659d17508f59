// Parameter draws disagree most where the interval of a prediction is widest.
#include "validation/next_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/units.h"
#include "devices/modes/mode_grid.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {
namespace {

bool same_place(OperatingPoint a, OperatingPoint b) {
  a.label.clear();
  b.label.clear();
  a.cap_w.reset();
  b.cap_w.reset();
  return a == b;
}

// The two ends of an axis.
template <class Value>
std::vector<std::size_t> ends(const std::vector<Value>& axis) {
  return axis.size() < 2 ? std::vector<std::size_t>{0}
                         : std::vector<std::size_t>{0, axis.size() - 1};
}

// Of the mask with most SMs: others are stock modes anyway, and need a reboot.
void add_corners(std::vector<OperatingPoint>& points, const ModeGrid& grid) {
  if (grid.masks.empty()) return;
  const MaskGrid& axes = grid.masks.front();
  for (const std::size_t gpu : ends(axes.gpu_hz))
    for (const std::size_t memory : ends(axes.memory_hz))
      for (const std::size_t cpu : ends(axes.cpu_hz)) {
        OperatingPoint point = point_at(
            grid, {0, axes.cpu_cores.empty() ? 0 : axes.cpu_cores.size() - 1, cpu, gpu, memory});
        point.label = request_text(point);
        const bool known = std::any_of(points.begin(), points.end(),
                                       [&](const auto& each) { return same_place(each, point); });
        if (!known) points.push_back(std::move(point));
      }
}

double openness(const Estimate& estimate) {
  return estimate.low > 0 ? estimate.high / estimate.low - 1 : 0;
}

std::string reason(const NextProbe& probe, bool power_is_wider) {
  const Estimate& wide = power_is_wider ? *probe.forecast.power_w : probe.forecast.time_s;
  const auto text = [&](double value) {
    return power_is_wider ? format_si(value, "W") : format_seconds(value);
  };
  return fmt::format(
      "{} there may be anything from {} to {}, the widest interval of {} modes; "
      "bound by {}",
      power_is_wider ? "power" : "time", text(wide.low), text(wide.high), probe.candidates,
      to_string(probe.forecast.bound));
}

}  // namespace

std::vector<OperatingPoint> stock_candidates(const KnownDevice& known) {
  std::vector<OperatingPoint> points;
  for (const DeviceMode& mode : stock_modes(known.device, known.configuration))
    points.push_back(mode.point);
  return points;
}

std::vector<OperatingPoint> probe_candidates(const KnownDevice& known) {
  std::vector<OperatingPoint> points = stock_candidates(known);
  add_corners(points, full_grid(known.device, known.configuration));
  return points;
}

std::optional<NextProbe> next_probe(const MachineModel& model, const Observation& row,
                                    const std::vector<OperatingPoint>& candidates,
                                    const std::vector<OperatingPoint>& measured,
                                    const Predictor& predictor) {
  std::optional<NextProbe> best;
  std::size_t seen = 0;
  bool power_is_wider = false;
  for (const OperatingPoint& point : candidates) {
    const bool known = std::any_of(measured.begin(), measured.end(),
                                   [&](const auto& each) { return same_place(each, point); });
    if (known) continue;
    Observation there = row;
    there.conditions.point = point;
    const Forecast forecast = predictor.forecast(model, there, Detail::interval);
    ++seen;
    const double time = openness(forecast.time_s);
    const double power = forecast.power_w ? openness(*forecast.power_w) : 0;
    if (best && std::max(time, power) <= best->open) continue;
    best = NextProbe{point, forecast, std::max(time, power), {}, 0};
    power_is_wider = power > time;
  }
  if (!best) return std::nullopt;
  best->candidates = seen;
  best->why = reason(*best, power_is_wider);
  return best;
}

}  // namespace ridgeline
