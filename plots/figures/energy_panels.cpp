// Columns are performance, efficiency and power; rows are modes. Axes are shared by column, so that
// modes can be compared by eye.
#include "plots/figures/energy_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text_pieces.h"
#include "base/units.h"
#include "plots/figures/roofline.h"

namespace ridgeline {
namespace {

struct PanelColumn {
  const char* title;
  double EnergySample::*value;
};
constexpr std::array<PanelColumn, 3> columns{
    {{"performance [FLOP/s]", &EnergySample::flops_per_s},
     {"efficiency [FLOP/J]", &EnergySample::flop_per_joule},
     {"power [W]", &EnergySample::power_w}}};
constexpr std::size_t power_column = 2;

class EnergyPanelsBuilder {
 public:
  explicit EnergyPanelsBuilder(const std::vector<EnergyRoofline>& rooflines)
      : rooflines_(rooflines), range_(range_of_main(rooflines)) {}

  Panels build() {
    const EnergyRoofline& first = rooflines_.front();
    panels_.title =
        (first.profile.empty() ? "Energy rooflines on paper of " : "Energy rooflines of ") +
        first.machine;
    panels_.x = {"Arithmetic intensity", "FLOP/byte", Scale::log, range_.low, range_.high, false};
    for (const PanelColumn& column : columns) panels_.column_y.push_back(axis_of(column));
    for (const EnergyRoofline& roofline : rooflines_)
      for (std::size_t c = 0; c < columns.size(); ++c) add_panel(roofline, c);
    add_legend();
    panels_.caption = caption();
    for (const EnergyRoofline& roofline : rooflines_)
      if (const std::string stamp = stamp_text(roofline); !stamp.empty())
        panels_.caption += " " + roofline.mode.label + ": " + stamp + ".";
    panels_.description = fmt::format(
        "Per mode three small plots over arithmetic intensity: performance, energy efficiency and "
        "power; {} modes with shared axes.",
        rooflines_.size());
    return std::move(panels_);
  }

 private:
  // Of the main roofs alone: the others are not drawn here.
  static IntensityRange range_of_main(const std::vector<EnergyRoofline>& rooflines) {
    std::vector<EnergyRoofline> alone = rooflines;
    for (EnergyRoofline& roofline : alone) {
      roofline.roofs = {roofline.main_roof()};
      roofline.main = 0;
    }
    return intensity_range(alone);
  }

  std::vector<XY> curve(const EnergyRoof& roof, const PanelColumn& column) const {
    std::vector<XY> points;
    for (const EnergySample& sample : energy_curve(roof.terms, range_.low, range_.high))
      points.push_back({sample.flop_per_byte, sample.*column.value});
    return points;
  }

  Axis axis_of(const PanelColumn& column) const {
    double low = INFINITY, high = 0;
    for (const EnergyRoofline& roofline : rooflines_)
      for (const XY& point : curve(roofline.main_roof(), column)) {
        low = std::min(low, point.y);
        high = std::max(high, point.y);
      }
    if (column.value == columns[power_column].value)
      return {"Power", "W", Scale::linear, 0, high * 1.2, false};
    return {"", "", Scale::log, low / 1.5, high * 2.2, true};
  }

  const EnergyRoof& yardstick() const {
    const auto best = std::max_element(
        rooflines_.begin(), rooflines_.end(), [](const EnergyRoofline& a, const EnergyRoofline& b) {
          return a.main_roof().flops_per_s.value < b.main_roof().flops_per_s.value;
        });
    return best->main_roof();
  }

  static double value_at(const EnergyTerms& terms, std::size_t column, double flop_per_byte) {
    return column == 0   ? 1 / time_per_flop_s(terms, flop_per_byte)
           : column == 1 ? 1 / energy_per_flop_j(terms, flop_per_byte)
                         : power_w(terms, flop_per_byte);
  }

  void add_panel(const EnergyRoofline& roofline, std::size_t column) {
    const EnergyRoof& roof = roofline.main_roof();
    Panel panel;
    panel.title = fmt::format("{}: {}", roofline.mode.label, columns[column].title);
    panel.note = column == 0 ? clocks_text(roofline.mode) : "";
    panel.series.push_back({"highest mode",
                            curve(yardstick(), columns[column]),
                            {Ink::pale, Dash::solid, 2, Marker::none},
                            {}});
    if (column == power_column) add_level(panel, roofline.constant_power_w.value);
    const std::vector<XY> points = curve(roof, columns[column]);
    panel.series.push_back(
        {roof.name, points, {ink_of(roof.dtype), dash_of(roof.unit), 2, Marker::none}, {}});
    const auto mark = [&](double flop_per_byte, Marker marker, const std::string& text,
                          PanelLabel::Place place = PanelLabel::Place::beside) {
      if (flop_per_byte < range_.low || flop_per_byte > range_.high) return;
      const XY here{flop_per_byte, value_at(roof.terms, column, flop_per_byte)};
      panel.series.push_back({"balance", {here}, {Ink::black, Dash::solid, 0, marker}, {}});
      panel.labels.push_back({text, place, here, here, Ink::black});
    };
    if (column == 0) {
      mark(roof.time_balance.value, Marker::ring, format_number(roof.time_balance.value));
      add_end(panel, points, format_si(points.back().y, ""), roof);
    } else if (column == 1) {
      if (roof.energy_balance)
        mark(roof.energy_balance->value, Marker::square, format_number(roof.energy_balance->value));
      mark(roof.half_efficiency_balance.value, Marker::diamond,
           format_number(roof.half_efficiency_balance.value));
      add_end(panel, points, format_si(roof.limit_flop_per_joule.value, ""), roof);
    } else {
      mark(roof.time_balance.value, Marker::ring, format_si(roof.peak_power_w.value, "W"),
           PanelLabel::Place::above);
    }
    panels_.panels.push_back(std::move(panel));
  }

  static void add_end(Panel& panel, const std::vector<XY>& points, const std::string& text,
                      const EnergyRoof& roof) {
    panel.labels.push_back(
        {text, PanelLabel::Place::above_end, points.front(), points.back(), ink_of(roof.dtype)});
  }

  void add_level(Panel& panel, double watts) const {
    const XY from{range_.low, watts}, to{range_.high, watts};
    panel.series.push_back(
        {"constant power", {from, to}, {Ink::grey, Dash::dashed, 1, Marker::none}, {}});
    panel.labels.push_back(
        {"constant " + format_si(watts, "W"), PanelLabel::Place::beside, to, from, Ink::grey});
  }

  void add_legend() {
    const EnergyRoof& roof = rooflines_.front().main_roof();
    panels_.legend = {
        {roof.name, {ink_of(roof.dtype), dash_of(roof.unit), 2, Marker::none}},
        {"time balance, peak power", {Ink::black, Dash::solid, 0, Marker::ring}},
        {"energy balance", {Ink::black, Dash::solid, 0, Marker::square}},
        {"half of the highest efficiency", {Ink::black, Dash::solid, 0, Marker::diamond}}};
  }

  // Sources are those of the first mode; values differ by mode and stand in the table.
  std::string caption() const {
    const EnergyRoofline& first = rooflines_.front();
    const EnergyRoof& roof = first.main_roof();
    return fmt::format(
        "{}; {}. {}: peak {}, energy per operation {}. DRAM: bandwidth {}, energy per byte {}. "
        "Constant power while a kernel runs: {}. Numbers at marks are FLOP/byte or watts. Grey: "
        "the mode with the highest peak.{}",
        first.machine,
        rooflines_.size() == 1 ? "one mode" : std::to_string(rooflines_.size()) + " modes",
        roof.name, to_string(roof.flops_per_s.source), to_string(roof.joule_per_flop.source),
        to_string(first.bytes_per_s.source), to_string(first.joule_per_byte.source),
        to_string(first.constant_power_w.source),
        first.profile.empty() ? " Nothing was measured on your machine."
                              : fmt::format(" Profile {}.", first.profile));
  }

  const std::vector<EnergyRoofline>& rooflines_;
  IntensityRange range_;
  Panels panels_;
};

}  // namespace

Panels energy_panels(const std::vector<EnergyRoofline>& rooflines) {
  return EnergyPanelsBuilder(rooflines).build();
}

}  // namespace ridgeline
