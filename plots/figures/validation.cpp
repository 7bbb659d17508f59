// Both axes show the same range, so that the diagonal is where prediction and measurement agree.
#include "plots/figures/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace ridgeline {
namespace {

constexpr double band = 0.2;
// More than this cannot be told apart: the others share the last.
constexpr Ink inks[] = {Ink::blue, Ink::vermillion, Ink::green, Ink::purple, Ink::orange, Ink::sky};
constexpr Marker markers[] = {Marker::dot,     Marker::ring,         Marker::square,
                              Marker::diamond, Marker::open_diamond, Marker::dot};

Interval range_of(const std::vector<ValidationPoint>& points) {
  Interval range{INFINITY, 0};
  for (const ValidationPoint& point : points) {
    range.low = std::min({range.low, point.measured_s, point.predicted_s.value});
    range.high = std::max({range.high, point.measured_s, point.predicted_s.value});
  }
  if (!(range.high > 0)) return {1e-3, 1};
  // Room for the marks at the rim, and never less than a factor of ten.
  range = {range.low / 1.5, range.high * 1.5};
  const double missing = std::sqrt(10 / (range.high / range.low));
  return missing > 1 ? Interval{range.low / missing, range.high * missing} : range;
}

// Where the line predicted = factor × measured runs within the frame.
std::vector<XY> line_of(double factor, const Interval& range) {
  const double from = std::max(range.low, range.low / factor);
  const double to = std::min(range.high, range.high / factor);
  return {{from, from * factor}, {to, to * factor}};
}

std::vector<XY> band_of(const Interval& range) {
  const std::vector<XY> above = line_of(1 + band, range), below = line_of(1 - band, range);
  return {{range.low, range.low}, above[0], above[1], {range.high, range.high}, below[1], below[0]};
}

}  // namespace

Figure validation_figure(const std::vector<ValidationPoint>& points, double mape,
                         const std::string& caption) {
  const Interval range = range_of(points);
  Figure figure;
  Panel& panel = figure.panels.emplace_back();
  figure.title = "Predicted against measured time";
  figure.description = fmt::format(
      "{} runs of networks, measured and predicted, on logarithmic axes; the mean "
      "error is {}.",
      points.size(), format_percent(mape, 1));
  panel.x = {"Measured", "s", Scale::log, range.low, range.high, true};
  panel.y = {"Predicted", "s", Scale::log, range.low, range.high, true};
  panel.zones.push_back({"within 20 %", band_of(range), Ink::grey});
  const Style diagonal{Ink::black, Dash::solid, 1, Marker::none};
  panel.series.push_back({"equal", line_of(1, range), diagonal, {}});

  std::vector<std::string> names;
  for (const ValidationPoint& point : points)
    if (std::find(names.begin(), names.end(), point.series) == names.end())
      names.push_back(point.series);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t look = std::min(i, std::size(inks) - 1);
    Series series{names[i], {}, {inks[look], Dash::solid, 0, markers[look]}, {}};
    for (const ValidationPoint& point : points)
      if (point.series == names[i])
        series.points.push_back({point.measured_s, point.predicted_s.value});
    figure.legend.push_back({names[i], series.style});
    panel.series.push_back(std::move(series));
  }
  figure.legend.push_back({"equal; band: ±20 %", diagonal});
  figure.caption = caption;
  return figure;
}

}  // namespace ridgeline
