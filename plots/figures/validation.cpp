// Both axes show the same range, so that the diagonal is where prediction and measurement agree.
#include "plots/figures/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/units.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

constexpr double band = 0.2;
constexpr std::size_t most_intervals = 400;  // beyond that bars are all one sees
// More colours than this look alike: the other groups share the last.
constexpr Ink inks[] = {Ink::blue, Ink::vermillion, Ink::green, Ink::purple, Ink::orange, Ink::sky};
constexpr Marker markers[] = {Marker::dot,     Marker::ring,         Marker::square,
                              Marker::diamond, Marker::open_diamond, Marker::dot};

// A quantity of the rows: what its panel is called and which pair of a row it shows.
struct ValidatedQuantity {
  const char* title;
  const char* unit;
  std::optional<MeasuredPair> (*pair_of)(const ValidationPoint& point);
};
constexpr ValidatedQuantity quantities[] = {
    {"time", "s", [](const ValidationPoint& point) { return std::optional(point.time_s); }},
    {"power", "W", [](const ValidationPoint& point) { return point.power_w; }},
    {"energy", "J", [](const ValidationPoint& point) { return point.energy_j; }}};

// Intervals of hundreds of percent would leave nothing to see of the marks.
constexpr double widest_shown = 4;

Interval shown_interval(const Estimate& estimate, const Interval& range) {
  const double low = std::max({estimate.low, estimate.value / widest_shown, range.low});
  const double high = std::min({estimate.high, estimate.value * widest_shown, range.high});
  return {std::min(low, estimate.value), std::max(high, estimate.value)};
}

Interval range_of(const std::vector<ValidationPoint>& points, const ValidatedQuantity& quantity) {
  Interval range{INFINITY, 0};
  for (const ValidationPoint& point : points)
    if (const auto pair = quantity.pair_of(point)) {
      range.low = std::min({range.low, pair->measured, pair->predicted.value});
      range.high = std::max({range.high, pair->measured, pair->predicted.value});
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

// More marks, fainter: where many lie on each other the place is dark.
double opacity_of(std::size_t rows) { return rows <= 40 ? 0.9 : rows <= 400 ? 0.55 : 0.3; }

std::vector<std::string> series_names(const std::vector<ValidationPoint>& points) {
  std::vector<std::string> names;
  for (const ValidationPoint& point : points)
    if (std::find(names.begin(), names.end(), point.series) == names.end())
      names.push_back(point.series);
  return names;
}

Style series_style(std::size_t index, std::size_t rows) {
  const std::size_t look = std::min(index, std::size(inks) - 1);
  return {inks[look], Dash::solid, 0, markers[look], opacity_of(rows)};
}

constexpr Style diagonal{Ink::black, Dash::solid, 1, Marker::none};

std::size_t count_of(const std::vector<ValidationPoint>& points,
                     const ValidatedQuantity& quantity) {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(),
                    [&](const ValidationPoint& point) { return !!quantity.pair_of(point); }));
}

Panel panel_of(const std::vector<ValidationPoint>& points, const ValidatedQuantity& quantity) {
  const Interval range = range_of(points, quantity);
  Panel panel;
  panel.x = {"Measured", quantity.unit, Scale::log, range.low, range.high, true};
  panel.y = {"Predicted", quantity.unit, Scale::log, range.low, range.high, true};
  choose_prefix(panel.x);
  choose_prefix(panel.y);
  panel.zones.push_back({"within 20 %", band_of(range), Ink::grey});
  panel.series.push_back({"equal", line_of(1, range), diagonal, {}});
  const std::vector<std::string> names = series_names(points);
  const std::size_t count = count_of(points, quantity);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Series series{names[i], {}, series_style(i, count), {}};
    for (const ValidationPoint& point : points) {
      const auto pair = quantity.pair_of(point);
      if (point.series != names[i] || !pair) continue;
      series.points.push_back({pair->measured, pair->predicted.value});
      if (count <= most_intervals)
        series.y_intervals.push_back(shown_interval(pair->predicted, range));
    }
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  return panel;
}

}  // namespace

Figure validation_figure(const std::vector<ValidationPoint>& points, double mape,
                         const std::string& caption) {
  Figure figure;
  bool has_bars = false, lacks_bars = false;
  for (const ValidatedQuantity& quantity : quantities)
    if (const std::size_t count = count_of(points, quantity); count > 0) {
      (count <= most_intervals ? has_bars : lacks_bars) = true;
      Panel panel = panel_of(points, quantity);
      panel.title = fmt::format("{} [{}]", quantity.title, panel.x.unit);
      figure.panels.push_back(std::move(panel));
    }
  const bool several = figure.panels.size() > 1;
  figure.title = several ? "Predicted against measured time, power and energy"
                         : "Predicted against measured time";
  if (several) {
    figure.size = PanelSize::small;
    figure.columns = static_cast<int>(figure.panels.size());
    for (Panel& panel : figure.panels) {  // the title of a panel has the unit
      panel.x.unit.clear();
      panel.y.unit.clear();
      panel.y.title.clear();
    }
    figure.panels.front().y.title = "Predicted";
  } else if (!figure.panels.empty()) {
    figure.panels.front().title.clear();
  }
  figure.description = fmt::format(
      "{} runs of networks, measured and predicted, on logarithmic axes; the mean error of the "
      "time "
      "is {}.",
      points.size(), format_percent(mape, 1));
  const std::vector<std::string> names = series_names(points);
  for (std::size_t i = 0; i < names.size(); ++i)
    figure.legend.push_back({names[i], series_style(i, points.size())});
  figure.legend.push_back({"equal; band: ±20 %", diagonal});
  figure.caption = caption;
  if (has_bars) figure.caption += ". Bars: 90 % intervals of the predictions";
  if (has_bars && lacks_bars)
    figure.caption += fmt::format(", where there are at most {} runs", most_intervals);
  if (has_bars) figure.caption += '.';
  return figure;
}

}  // namespace ridgeline
