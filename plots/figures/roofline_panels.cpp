// Which lines a small panel has: few enough to be read at a third of a page.
// The mode with the highest main roof stands behind every panel in grey, as a yardstick.
#include "plots/figures/roofline_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/units.h"
#include "plots/figures/merged_modes.h"
#include "plots/figures/roofline.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

class RooflineModesPicture {
 public:
  explicit RooflineModesPicture(const std::vector<Roofline>& rooflines)
      : rooflines_(merged_modes(rooflines, look_alike)) {}

  Figure build() {
    const Roofline& first = rooflines_.front();
    figure_.title =
        (is_datasheet(first) ? "Datasheet rooflines of " : "Rooflines of ") + first.machine;
    figure_.size = PanelSize::small;
    figure_.columns = rooflines_.size() <= 1 ? 1 : rooflines_.size() <= 4 ? 2 : 3;
    figure_.shared_y = true;
    set_axes();
    for (const Roofline& roofline : rooflines_) add_panel(roofline);
    add_legend();
    figure_.caption = fmt::format(
        "{}; {}. Roofs: {}, the fastest unit of each data type, dense. Slope: DRAM{}. Grey: "
        "the mode with the highest {} roof.",
        first.machine, modes_text(rooflines_), is_datasheet(first) ? "datasheet" : "measured",
        slope_note(), main_name());
    figure_.caption += panels_stamp();
    figure_.description = fmt::format("{} small log-log rooflines, one per mode, with shared axes.",
                                      rooflines_.size());
    return std::move(figure_);
  }

 private:
  // Modes that differ in CPU clocks and cores alone look the same here.
  static bool look_alike(const Roofline& a, const Roofline& b) {
    const auto rates = [](const Roofline& roofline) {
      std::vector<std::pair<std::string, double>> found;
      for (const Roof* roof : compared_roofs(roofline))
        found.emplace_back(roof->name, roof->flops_per_s.value);
      for (const Slope* slope : {dram_peak(roofline), main_slope(roofline)})
        if (slope) found.emplace_back(slope->name, slope->bytes_per_s.value);
      return found;
    };
    return rates(a) == rates(b) && clocks_text(a.mode) == clocks_text(b.mode);
  }

  std::string main_name() const {
    const Roofline& first = rooflines_.front();
    return first.main_roof ? upper_case(to_string(first.roofs[*first.main_roof].dtype)) : "main";
  }

  std::string panels_stamp() const {
    std::string text;
    for (const Roofline& roofline : rooflines_)
      if (const std::string stamp = stamp_text(roofline); !stamp.empty())
        text += " " + roofline.mode.label + ": " + stamp + ".";
    return text;
  }

  std::string slope_note() const {
    const Slope* slope = main_slope(rooflines_.front());
    return slope && slope->bytes_per_s.source == Source::fitted
               ? " peak (dashed, datasheet) and what the GPU's clock lets through (solid, fitted)"
               : "";
  }

  void set_axes() {
    double top = 0, least_ridge = INFINITY, most_ridge = 0, least_roof = INFINITY;
    for (const Roofline& roofline : rooflines_) {
      for (const Roof* roof : compared_roofs(roofline)) {
        top = std::max(top, roof->flops_per_s.value);
        least_roof = std::min(least_roof, roof->flops_per_s.value);
        for (const Slope* slope : {main_slope(roofline), dram_peak(roofline)}) {
          if (!slope) continue;
          const double ridge = roof->flops_per_s.value / slope->bytes_per_s.value;
          least_ridge = std::min(least_ridge, ridge);
          most_ridge = std::max(most_ridge, ridge);
        }
      }
    }
    if (!(top > 0)) top = 1e12, least_roof = 1e11;
    if (!(most_ridge > 0)) least_ridge = 1, most_ridge = 100;
    const auto power_below = [](double value) {
      return std::pow(10.0, std::floor(std::log10(value)));
    };
    const auto power_above = [](double value) {
      return std::pow(10.0, std::ceil(std::log10(value)));
    };
    x_ = {"Arithmetic intensity",      "FLOP/byte", Scale::log, power_below(least_ridge / 3),
          power_above(most_ridge * 6), false};
    y_ = {"Performance", "FLOP/s, integers OP/s",
          Scale::log,    power_below(least_roof / 4),
          top * 2.2,     true};
  }

  // From the frame's edge to where it meets the fastest roof.
  std::vector<XY> slope_line(double rate, double top) const {
    const double begin = std::max(x_.low, y_.low / rate);
    const double end = std::min(x_.high, std::min(top, y_.high) / rate);
    if (!(begin < end)) return {};
    return {{begin, rate * begin}, {end, rate * end}};
  }

  std::vector<XY> roof_line(const Roof& roof, const Slope* slope) const {
    const double rate = roof.flops_per_s.value;
    const double begin = slope ? std::max(x_.low, rate / slope->bytes_per_s.value) : x_.low;
    return {{std::min(begin, x_.high), rate}, {x_.high, rate}};
  }

  // The main roof and slope of the fastest mode, as one line.
  void add_yardstick(Panel& panel) const {
    const auto rates = [](const Roofline& roofline) {
      const Slope* main = main_slope(roofline);
      return std::pair(main_rate(roofline), main ? main->bytes_per_s.value : 0);
    };
    const auto fastest =
        std::max_element(rooflines_.begin(), rooflines_.end(),
                         [&](const Roofline& a, const Roofline& b) { return rates(a) < rates(b); });
    const Slope* slope = main_slope(*fastest);
    if (!fastest->main_roof || !slope) return;
    const double roof = main_rate(*fastest);
    std::vector<XY> line = slope_line(slope->bytes_per_s.value, roof);
    if (line.empty()) return;
    line.push_back({x_.high, roof});
    panel.series.push_back(
        {"highest mode", std::move(line), {Ink::pale, Dash::solid, 2, Marker::none}, {}});
  }

  void add_panel(const Roofline& roofline) {
    Panel panel;
    panel.title = roofline.mode.label;
    panel.note = clocks_text(roofline.mode);
    panel.x = x_;
    panel.y = y_;
    add_yardstick(panel);
    const auto roofs = compared_roofs(roofline);
    const double top = roofs.empty() ? y_.high : roofs.front()->flops_per_s.value;
    const Slope* peak = dram_peak(roofline);
    const Slope* main = main_slope(roofline);
    if (peak && main && peak != main) add_slope(panel, *peak, top, Dash::dashed, 1);
    if (main) add_slope(panel, *main, top, Dash::solid, 1.8);
    for (auto roof = roofs.rbegin(); roof != roofs.rend(); ++roof)
      add_roof(panel, roofline, **roof);
    add_roof_labels(panel, roofs);
    if (roofline.main_roof && main)
      panel.series.push_back(
          {"main ridge",
           {{main_rate(roofline) / main->bytes_per_s.value, main_rate(roofline)}},
           {Ink::black, Dash::solid, 0, Marker::ring},
           {}});
    figure_.panels.push_back(std::move(panel));
  }

  void add_slope(Panel& panel, const Slope& slope, double top, Dash dash, double width) const {
    const std::vector<XY> line = slope_line(slope.bytes_per_s.value, top);
    if (line.empty()) return;
    panel.series.push_back({slope.name + " " + ceiling_text(slope),
                            line,
                            {Ink::black, dash, width, Marker::none},
                            {}});
    if (dash == Dash::solid)
      panel.labels.push_back({format_si(slope.bytes_per_s.value, "B/s"), "", LabelPlace::along,
                              line.front(), line.back(), Ink::black, false});
  }

  void add_roof(Panel& panel, const Roofline& roofline, const Roof& roof) const {
    const bool is_main = roofline.main_roof && &roof == &roofline.roofs[*roofline.main_roof];
    panel.series.push_back(
        {roof.name + " " + ceiling_text(roof),
         roof_line(roof, dram_peak(roofline)),
         {ink_of(roof.dtype), dash_of(roof.unit), is_main ? 2.2 : 1.4, Marker::none},
         {}});
  }

  // Roofs of one height share a label: "FP16, BF16 10.0 T".
  void add_roof_labels(Panel& panel, const std::vector<const Roof*>& roofs) const {
    for (std::size_t i = 0; i < roofs.size();) {
      std::string names = upper_case(to_string(roofs[i]->dtype));
      std::size_t end = i + 1;
      while (end < roofs.size() && roofs[end]->flops_per_s.value == roofs[i]->flops_per_s.value)
        names += ", " + upper_case(to_string(roofs[end++]->dtype));
      const double rate = roofs[i]->flops_per_s.value;
      panel.labels.push_back({names + " " + short_rate(rate),
                              "",
                              LabelPlace::above_end,
                              {x_.high, rate},
                              {},
                              ink_of(roofs[i]->dtype),
                              false});
      i = end;
    }
  }

  void add_legend() {
    std::map<DType, Unit> seen;
    for (const Roofline& roofline : rooflines_)
      for (const Roof* roof : compared_roofs(roofline)) seen.emplace(roof->dtype, roof->unit);
    // A line that lies under another everywhere cannot be seen: the two share an entry.
    std::set<DType> hidden;
    for (const auto& [dtype, unit] : seen) {
      if (hidden.count(dtype) > 0) continue;
      std::string names = upper_case(to_string(dtype));
      for (const auto& [other, other_unit] : seen)
        if (other > dtype && other_unit == unit && lie_together(dtype, other)) {
          names += ", " + upper_case(to_string(other));
          hidden.insert(other);
        }
      figure_.legend.push_back({fmt::format("{} {}", names, to_string(unit)),
                                {ink_of(dtype), dash_of(unit), 1.6, Marker::none}});
    }
    const Slope *peak = dram_peak(rooflines_.front()), *main = main_slope(rooflines_.front());
    if (main)
      figure_.legend.push_back(
          {peak == main ? "DRAM" : "DRAM usable", {Ink::black, Dash::solid, 1.8, Marker::none}});
    if (peak && main && peak != main)
      figure_.legend.push_back({"DRAM peak", {Ink::black, Dash::dashed, 1, Marker::none}});
    if (rooflines_.size() > 1)
      figure_.legend.push_back({"fastest mode", {Ink::pale, Dash::solid, 2, Marker::none}});
    figure_.legend.push_back({"main ridge", {Ink::black, Dash::solid, 0, Marker::ring}});
  }

  bool lie_together(DType a, DType b) const {
    return std::all_of(rooflines_.begin(), rooflines_.end(), [&](const Roofline& roofline) {
      std::set<double> rates;
      for (const Roof* roof : compared_roofs(roofline))
        if (roof->dtype == a || roof->dtype == b) rates.insert(roof->flops_per_s.value);
      return rates.size() <= 1;
    });
  }

  const std::vector<Roofline> rooflines_;
  Figure figure_;
  Axis x_, y_;
};

}  // namespace

std::vector<const Roof*> compared_roofs(const Roofline& roofline) {
  const DType main = roofline.main_roof ? roofline.roofs[*roofline.main_roof].dtype : DType::fp32;
  std::vector<const Roof*> roofs;
  for (const Roof& roof : roofline.roofs) {  // fastest first
    if (!roof.chosen || (roof.dtype == DType::fp64 && main != DType::fp64)) continue;
    const bool known = std::any_of(roofs.begin(), roofs.end(),
                                   [&](const Roof* each) { return each->dtype == roof.dtype; });
    if (!known) roofs.push_back(&roof);
  }
  return roofs;
}

const Slope* dram_peak(const Roofline& roofline) {
  for (const Slope& slope : roofline.slopes)
    if (slope.chosen && slope.level == Level::dram) return &slope;
  return nullptr;
}

const Slope* main_slope(const Roofline& roofline) {
  return roofline.main_slope ? &roofline.slopes[*roofline.main_slope] : nullptr;
}

double main_rate(const Roofline& roofline) {
  return roofline.main_roof ? roofline.roofs[*roofline.main_roof].flops_per_s.value : 0;
}

std::string short_rate(double rate) {
  std::string text = format_si(rate, "");
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

Figure roofline_panels(const std::vector<Roofline>& rooflines) {
  return RooflineModesPicture(rooflines).build();
}

}  // namespace ridgeline
