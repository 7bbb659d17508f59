// Long records: a line has no more points than the page has pixels, each the mean of its readings.
#include "plots/figures/power_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/units.h"

namespace ridgeline {
namespace {

constexpr std::size_t most_readings = 1200;

// A clock that steps back would draw a line to the left: those readings are left out.
std::vector<XY> in_order(const std::vector<XY>& readings) {
  std::vector<XY> out;
  for (const XY& at : readings)
    if (out.empty() || at.x > out.back().x) out.push_back(at);
  return out;
}

std::vector<XY> thinned(const std::vector<XY>& readings) {
  if (readings.size() <= most_readings) return readings;
  std::vector<XY> out;
  const std::size_t step = (readings.size() + most_readings - 1) / most_readings;
  for (std::size_t i = 0; i < readings.size(); i += step) {
    const std::size_t end = std::min(i + step, readings.size());
    XY sum;
    for (std::size_t k = i; k < end; ++k) sum = {sum.x + readings[k].x, sum.y + readings[k].y};
    const auto count = static_cast<double>(end - i);
    out.push_back({sum.x / count, sum.y / count});
  }
  return out;
}

}  // namespace

Figure power_figure(const std::vector<PowerTrace>& traces, const std::optional<Interval>& window,
                    const std::string& source, const std::string& caption) {
  static constexpr std::array<Ink, 6> inks{Ink::blue,   Ink::vermillion, Ink::green,
                                           Ink::purple, Ink::orange,     Ink::sky};
  static constexpr std::array<Dash, 3> dashes{Dash::solid, Dash::long_dash, Dash::dash_dot};
  Interval time{INFINITY, -INFINITY};
  double high = 0;
  for (const PowerTrace& trace : traces)
    for (const XY& at : trace.readings) {
      time = {std::min(time.low, at.x), std::max(time.high, at.x)};
      high = std::max(high, at.y);
    }
  if (!(time.high > time.low))
    throw Error(source, "fewer than two readings, there is no picture", "record longer");
  Figure figure;
  Panel panel;
  panel.x = {"Time", "s", Scale::linear, time.low, time.high, false};
  panel.y = {"Power", "W", Scale::linear, 0, high > 0 ? high * 1.12 : 1, false};
  if (window) {
    const double from = std::clamp(window->low, time.low, time.high);
    const double to = std::clamp(window->high, time.low, time.high);
    panel.zones.push_back({"the program's run",
                           {{from, 0}, {to, 0}, {to, panel.y.high}, {from, panel.y.high}},
                           Ink::sky});
    figure.legend.push_back({"the program's run", {Ink::sky, Dash::solid, 6, Marker::none}});
  }
  std::size_t look = 0;
  for (const PowerTrace& trace : traces) {
    if (trace.readings.empty()) continue;
    const Style style = trace.is_total ? Style{Ink::black, Dash::solid, 2.2, Marker::none}
                                       : Style{inks[look % inks.size()],
                                               dashes[look / inks.size() % 3], 1.3, Marker::none};
    look += trace.is_total ? 0 : 1;
    double sum = 0;
    for (const XY& at : trace.readings) sum += at.y;
    const double mean = sum / static_cast<double>(trace.readings.size());
    std::vector<XY> points = thinned(in_order(trace.readings));
    panel.labels.push_back({fmt::format("{}, mean {}", trace.name, format_si(mean, "W")),
                            trace.name,
                            LabelPlace::right_margin,
                            {panel.x.high, points.back().y},
                            {},
                            style.ink,
                            trace.is_total});
    panel.series.push_back({trace.name, std::move(points), style, {}});
  }
  figure.title = "Power over time, " + source;
  figure.caption = caption;
  figure.description = fmt::format("Power of {} rails over {}.", traces.size(),
                                   format_seconds(time.high - time.low));
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace ridgeline
