// Which lines and marks the plots of performance, efficiency and power have. Colour says the data
// type and dashes the unit, as in the roofline; rings, squares and diamonds are the balance points
// of the main roof.
#include "plots/figures/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "plots/figures/merged_modes.h"
#include "plots/figures/roofline.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

constexpr double main_width = 2.4, other_width = 1.3;

// What of a sample a plot shows over the intensity.
struct Quantity {
  const char* title;
  const char* unit;
  double EnergySample::*value;
};
constexpr Quantity performance{"Performance", "FLOP/s", &EnergySample::flops_per_s};
constexpr Quantity efficiency{"Efficiency", "FLOP/J", &EnergySample::flop_per_joule};
constexpr Quantity power{"Power", "W", &EnergySample::power_w};

std::vector<XY> curve(const EnergyTerms& terms, const Quantity& quantity,
                      const IntensityRange& range) {
  std::vector<XY> points;
  for (const EnergySample& sample : energy_curve(terms, range.low, range.high))
    points.push_back({sample.flop_per_byte, sample.*quantity.value});
  return points;
}

double value_at(const EnergyTerms& terms, const Quantity& quantity, double flop_per_byte) {
  if (quantity.value == performance.value) return 1 / time_per_flop_s(terms, flop_per_byte);
  if (quantity.value == efficiency.value) return 1 / energy_per_flop_j(terms, flop_per_byte);
  return power_w(terms, flop_per_byte);
}

bool contains(const IntensityRange& range, double flop_per_byte) {
  return flop_per_byte >= range.low && flop_per_byte <= range.high;
}

class EnergyPicture {
 public:
  explicit EnergyPicture(const EnergyRoofline& roofline)
      : roofline_(roofline),
        lines_(energy_lines(roofline)),
        range_(intensity_range({&roofline, 1})),
        main_(roofline.roofs[roofline.main]) {}

  Figure build() {
    Figure figure;
    figure.title =
        (roofline_.profile.empty() ? "Predicted energy roofline of " : "Energy roofline of ") +
        roofline_.machine + (roofline_.disturbed.empty() ? "" : ", of a disturbed machine");
    figure.panels = {performance_panel(), efficiency_panel(), power_panel()};
    figure.legend = legend();
    figure.caption = fmt::format("{}; mode: {}. {}", roofline_.machine, mode_text(roofline_.mode),
                                 energy_sources(roofline_));
    figure.caption +=
        fmt::format(" Labels: values at {} FLOP/byte.", format_number(range_.high, 4));
    if (std::any_of(lines_.begin(), lines_.end(),
                    [&](const EnergyLine& line) { return is_energy_assumed(line, efficiency); }))
      figure.caption += " *: its energy per operation is assumed, by analogy.";
    if (const std::string stamp = stamp_text(roofline_); !stamp.empty())
      figure.caption += " It was " + stamp + ".";
    figure.description = fmt::format(
        "Performance, energy efficiency and power over arithmetic intensity. {} is limited by "
        "arithmetic from {} FLOP/byte on, reaches half of {} at {} FLOP/byte and draws up to {}.",
        main_.name, format_number(main_.time_balance.value),
        format_si(main_.limit_flop_per_joule.value, "FLOP/J"),
        format_number(main_.half_efficiency_balance.value),
        format_si(main_.peak_power_w.value, "W"));
    return figure;
  }

 private:
  std::vector<XY> main_curve(const Quantity& quantity) const {
    return curve(main_.terms, quantity, range_);
  }

  Panel frame(const Quantity& quantity, Scale scale, double height) const {
    Panel panel;
    panel.height = height;
    panel.x = {"Arithmetic intensity", "FLOP/byte", Scale::log, range_.low, range_.high, false};
    double low = INFINITY, high = 0;
    for (const EnergyLine& line : lines_)
      for (const XY& point : curve(line.roof->terms, quantity, range_)) {
        low = std::min(low, point.y);
        high = std::max(high, point.y);
      }
    const bool integers = std::any_of(lines_.begin(), lines_.end(), [](const EnergyLine& line) {
      return is_integer(line.roof->dtype);
    });
    const std::string unit = quantity.unit;
    panel.y = {quantity.title,
               integers && unit != "W" ? unit + ", OP" + unit.substr(4) : unit,
               scale,
               scale == Scale::log ? low / 1.3 : 0,
               scale == Scale::log ? high * 2 : high * 1.18,
               scale == Scale::log};
    return panel;
  }

  // Dotted, from the axis to the main line: above it labels have their place.
  void add_guide(Panel& panel, const Quantity& quantity, double flop_per_byte,
                 const char* name) const {
    const double top = std::min(value_at(main_.terms, quantity, flop_per_byte), panel.y.high);
    panel.series.push_back({name,
                            {{flop_per_byte, panel.y.low}, {flop_per_byte, top}},
                            {Ink::grey, Dash::dotted, 0.9, Marker::none},
                            {}});
  }
  void add_guides(Panel& panel, const Quantity& quantity) const {
    add_guide(panel, quantity, main_.time_balance.value, "time balance");
    if (main_.energy_balance && contains(range_, main_.energy_balance->value))
      add_guide(panel, quantity, main_.energy_balance->value, "energy balance");
    add_guide(panel, quantity, main_.half_efficiency_balance.value, "half efficiency");
  }

  // Labels carry the value at the end of the line; a star marks an assumed energy per operation.
  void add_lines(Panel& panel, const Quantity& quantity) const {
    for (const EnergyLine& line : lines_) {
      const std::vector<XY> points = curve(line.roof->terms, quantity, range_);
      const EnergyRoof& roof = *line.roof;
      // What the cap takes away stays visible.
      if (roof.capped && line.is_main) {
        EnergyTerms free = roof.terms;
        free.cap_w.reset();
        std::vector<XY> uncapped = curve(free, quantity, range_);
        for (XY& point : uncapped) point.y = std::min(point.y, panel.y.high);
        panel.series.push_back({line.name + " without the cap",
                                std::move(uncapped),
                                {Ink::pale, Dash::solid, 1.6, Marker::none},
                                {}});
      }
      panel.series.push_back({line.name,
                              points,
                              {ink_of(roof.dtype), dash_of(roof.unit),
                               line.is_main ? main_width : other_width, Marker::none},
                              {}});
      const std::string name = line.name + (is_energy_assumed(line, quantity) ? "*" : "");
      panel.labels.push_back({name + " " + format_si(points.back().y, unit_of(quantity, roof)),
                              name,
                              LabelPlace::right_margin,
                              points.back(),
                              {},
                              ink_of(roof.dtype),
                              line.is_main});
    }
  }

  static std::string unit_of(const Quantity& quantity, const EnergyRoof& roof) {
    const std::string unit = quantity.unit;
    return is_integer(roof.dtype) && unit != "W" ? "OP" + unit.substr(4) : unit;
  }

  bool is_energy_assumed(const EnergyLine& line, const Quantity& quantity) const {
    if (quantity.value == performance.value) return false;
    return std::any_of(roofline_.roofs.begin(), roofline_.roofs.end(), [&](const EnergyRoof& roof) {
      return roof.terms == line.roof->terms && roof.joule_per_flop.source == Source::assumed;
    });
  }

  void add_mark(Panel& panel, const Quantity& quantity, double flop_per_byte, Marker marker,
                const std::string& name, const std::string& text) const {
    const XY here{flop_per_byte, value_at(main_.terms, quantity, flop_per_byte)};
    panel.series.push_back({name, {here}, {Ink::black, Dash::solid, 0, marker}, {}});
    if (!text.empty())
      panel.labels.push_back({text, name, LabelPlace::beside, here, {}, Ink::black, false});
  }

  Panel performance_panel() const {
    Panel panel = frame(performance, Scale::log, 1.15);
    if (!main_.capped) add_zones(panel);
    add_guide(panel, performance, main_.time_balance.value, "time balance");
    add_lines(panel, performance);
    add_mark(panel, performance, main_.time_balance.value, Marker::ring, "time balance",
             fmt::format("time balance {} FLOP/byte", format_number(main_.time_balance.value)));
    if (main_.capped) return panel;  // then the line is neither memory's nor arithmetic's
    const std::vector<XY> line = main_curve(performance);
    const double ridge = main_.time_balance.value;
    panel.labels.push_back({"DRAM " + format_si(roofline_.bytes_per_s.value, "B/s"),
                            "DRAM",
                            LabelPlace::along,
                            line.front(),
                            {ridge, value_at(main_.terms, performance, ridge)},
                            Ink::black,
                            false});
    return panel;
  }

  // Left of the time balance memory is the limit, right of it arithmetic.
  void add_zones(Panel& panel) const {
    const double ridge = main_.time_balance.value, bottom = panel.y.low;
    std::vector<XY> memory{{range_.low, bottom}}, compute{{ridge, bottom}};
    for (const XY& point : main_curve(performance)) {
      if (point.x <= ridge) memory.push_back(point);
      if (point.x >= ridge) compute.push_back(point);
    }
    memory.push_back({ridge, bottom});
    compute.push_back({range_.high, bottom});
    panel.zones = {{"memory-bound", memory, Ink::sky}, {"compute-bound", compute, Ink::orange}};
    panel.labels.push_back(
        {"memory-bound", "", LabelPlace::left_of, {ridge, bottom}, {}, Ink::grey, false});
    panel.labels.push_back(
        {"compute-bound", "", LabelPlace::right_of, {ridge, bottom}, {}, Ink::grey, false});
  }

  Panel efficiency_panel() const {
    Panel panel = frame(efficiency, Scale::log, 1.15);
    add_guides(panel, efficiency);
    add_lines(panel, efficiency);
    if (main_.energy_balance && contains(range_, main_.energy_balance->value))
      add_mark(panel, efficiency, main_.energy_balance->value, Marker::square, "energy balance",
               "energy balance " + format_number(main_.energy_balance->value));
    const double half = main_.half_efficiency_balance.value;
    add_mark(panel, efficiency, half, Marker::diamond, "half efficiency",
             "half efficiency " + format_number(half));
    return panel;
  }

  Panel power_panel() const {
    Panel panel = frame(power, Scale::linear, 0.9);
    add_guides(panel, power);
    const auto level = [&](double watts, const std::string& name, Dash dash) {
      if (watts > panel.y.high) return;
      panel.series.push_back({name,
                              {{range_.low, watts}, {range_.high, watts}},
                              {Ink::grey, dash, 1.1, Marker::none},
                              {}});
      panel.labels.push_back({name + " " + format_si(watts, "W"),
                              name,
                              LabelPlace::right_margin,
                              {range_.high, watts},
                              {},
                              Ink::grey,
                              false});
    };
    level(roofline_.constant_power_w.value, "constant", Dash::dashed);
    if (roofline_.idle_power_w) level(roofline_.idle_power_w->value, "idle", Dash::dotted);
    if (roofline_.mode.cap_w) level(*roofline_.mode.cap_w, "cap", Dash::long_dash);
    add_lines(panel, power);
    add_mark(panel, power, main_.time_balance.value, Marker::ring, "peak",
             "peak " + format_si(main_.peak_power_w.value, "W"));
    return panel;
  }

  std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries;
    std::set<Unit> units;
    for (const EnergyLine& line : lines_) units.insert(line.roof->unit);
    if (units.size() > 1)
      for (const Unit unit : units)
        entries.push_back({std::string(to_string(unit)) + " unit",
                           {Ink::black, dash_of(unit), 1.6, Marker::none}});
    entries.push_back({"time balance", {Ink::black, Dash::solid, 0, Marker::ring}});
    if (main_.energy_balance && contains(range_, main_.energy_balance->value))
      entries.push_back({"energy balance", {Ink::black, Dash::solid, 0, Marker::square}});
    entries.push_back(
        {"half of the highest efficiency", {Ink::black, Dash::solid, 0, Marker::diamond}});
    entries.push_back({"intensity of a balance", {Ink::grey, Dash::dotted, 0.9, Marker::none}});
    if (main_.capped)
      entries.push_back({"without the cap", {Ink::pale, Dash::solid, 1.6, Marker::none}});
    return entries;
  }

  const EnergyRoofline& roofline_;
  std::vector<EnergyLine> lines_;
  IntensityRange range_;
  const EnergyRoof& main_;
};

// Columns are performance, efficiency and power; rows are modes. Axes are shared by column, so that
// modes can be compared by eye.
class EnergyModesPicture {
 public:
  explicit EnergyModesPicture(const std::vector<EnergyRoofline>& rooflines)
      : rooflines_(merged(rooflines)), range_(range_of_main(rooflines_)) {}

  Figure build() {
    const EnergyRoofline& first = rooflines_.front();
    figure_.title =
        (first.profile.empty() ? "Predicted energy rooflines of " : "Energy rooflines of ") +
        first.machine;
    figure_.columns = static_cast<int>(columns.size());
    figure_.size = PanelSize::small;
    std::array<Axis, columns.size()> axes;
    std::transform(columns.begin(), columns.end(), axes.begin(),
                   [&](const Quantity& quantity) { return axis_of(quantity); });
    for (const EnergyRoofline& roofline : rooflines_)
      for (std::size_t i = 0; i < columns.size(); ++i) add_panel(roofline, columns[i], axes[i]);
    add_legend();
    figure_.caption = caption();
    for (const EnergyRoofline& roofline : rooflines_)
      if (const std::string stamp = stamp_text(roofline); !stamp.empty())
        figure_.caption += " " + roofline.mode.label + ": " + stamp + ".";
    figure_.description = fmt::format(
        "Per mode three small plots over arithmetic intensity: performance, energy efficiency and "
        "power; {} modes with shared axes.",
        rooflines_.size());
    return std::move(figure_);
  }

 private:
  // Modes that differ in what is not drawn here (CPU clocks, cores) share a row.
  static std::vector<EnergyRoofline> merged(const std::vector<EnergyRoofline>& rooflines) {
    return merged_modes(rooflines, [](const EnergyRoofline& a, const EnergyRoofline& b) {
      return a.main_roof().name == b.main_roof().name &&
             a.main_roof().terms == b.main_roof().terms &&
             a.constant_power_w.value == b.constant_power_w.value &&
             clocks_text(a.mode) == clocks_text(b.mode);
    });
  }

  // Of the main roofs alone: the others are not drawn here.
  static IntensityRange range_of_main(const std::vector<EnergyRoofline>& rooflines) {
    std::vector<EnergyRoofline> alone = rooflines;
    for (EnergyRoofline& roofline : alone) {
      roofline.roofs = {roofline.main_roof()};
      roofline.main = 0;
    }
    return intensity_range(alone);
  }

  // The title of a panel says what it shows, so its y axis has no title.
  Axis axis_of(const Quantity& quantity) const {
    double low = INFINITY, high = 0;
    for (const EnergyRoofline& roofline : rooflines_)
      for (const XY& point : curve(roofline.main_roof().terms, quantity, range_)) {
        low = std::min(low, point.y);
        high = std::max(high, point.y);
      }
    if (is_power(quantity)) return {"", "", Scale::linear, 0, high * 1.2, false};
    return {"", "", Scale::log, low / 1.5, high * 2.2, true};
  }

  const EnergyRoof& yardstick() const {
    const auto best = std::max_element(
        rooflines_.begin(), rooflines_.end(), [](const EnergyRoofline& a, const EnergyRoofline& b) {
          return a.main_roof().flops_per_s.value < b.main_roof().flops_per_s.value;
        });
    return best->main_roof();
  }

  static bool is_power(const Quantity& quantity) { return quantity.value == power.value; }

  void add_panel(const EnergyRoofline& roofline, const Quantity& quantity, const Axis& y) {
    const EnergyRoof& roof = roofline.main_roof();
    Panel panel;
    panel.title =
        fmt::format("{}: {} [{}]", roofline.mode.label, lower(quantity.title), quantity.unit);
    if (quantity.value == performance.value) panel.note = clocks_text(roofline.mode);
    panel.x = {"Arithmetic intensity", "FLOP/byte", Scale::log, range_.low, range_.high, false};
    panel.y = y;
    panel.series.push_back({"highest mode",
                            curve(yardstick().terms, quantity, range_),
                            {Ink::pale, Dash::solid, 2, Marker::none},
                            {}});
    if (is_power(quantity)) add_level(panel, roofline.constant_power_w.value);
    const std::vector<XY> points = curve(roof.terms, quantity, range_);
    panel.series.push_back(
        {roof.name, points, {ink_of(roof.dtype), dash_of(roof.unit), 2, Marker::none}, {}});
    const auto mark = [&](double flop_per_byte, Marker marker, const std::string& text,
                          LabelPlace place = LabelPlace::beside) {
      if (!contains(range_, flop_per_byte)) return;
      const XY here{flop_per_byte, value_at(roof.terms, quantity, flop_per_byte)};
      panel.series.push_back({"balance", {here}, {Ink::black, Dash::solid, 0, marker}, {}});
      panel.labels.push_back({text, "", place, here, {}, Ink::black, false});
    };
    if (quantity.value == performance.value) {
      mark(roof.time_balance.value, Marker::ring, format_number(roof.time_balance.value));
      add_end(panel, points, format_si(points.back().y, ""), roof);
    } else if (quantity.value == efficiency.value) {
      if (roof.energy_balance)
        mark(roof.energy_balance->value, Marker::square, format_number(roof.energy_balance->value));
      mark(roof.half_efficiency_balance.value, Marker::diamond,
           format_number(roof.half_efficiency_balance.value));
      add_end(panel, points, format_si(points.back().y, ""), roof);
    } else {
      mark(roof.time_balance.value, Marker::ring, format_si(roof.peak_power_w.value, "W"),
           LabelPlace::above);
    }
    figure_.panels.push_back(std::move(panel));
  }

  static void add_end(Panel& panel, const std::vector<XY>& points, const std::string& text,
                      const EnergyRoof& roof) {
    panel.labels.push_back(
        {text, "", LabelPlace::above_end, points.back(), {}, ink_of(roof.dtype), false});
  }

  void add_level(Panel& panel, double watts) const {
    const XY from{range_.low, watts}, to{range_.high, watts};
    panel.series.push_back(
        {"constant power", {from, to}, {Ink::grey, Dash::dashed, 1, Marker::none}, {}});
    panel.labels.push_back(
        {"constant " + format_si(watts, "W"), "", LabelPlace::beside, from, {}, Ink::grey, false});
  }

  void add_legend() {
    const EnergyRoof& roof = rooflines_.front().main_roof();
    figure_.legend = {
        {roof.name, {ink_of(roof.dtype), dash_of(roof.unit), 2, Marker::none}},
        {"time balance, peak power", {Ink::black, Dash::solid, 0, Marker::ring}},
        {"energy balance", {Ink::black, Dash::solid, 0, Marker::square}},
        {"half of the highest efficiency", {Ink::black, Dash::solid, 0, Marker::diamond}},
        {"constant power", {Ink::grey, Dash::dashed, 1, Marker::none}}};
    if (rooflines_.size() > 1)
      figure_.legend.push_back(
          {"mode with the highest peak", {Ink::pale, Dash::solid, 2, Marker::none}});
  }

  // Sources are those of the first mode; values differ by mode and stand in the table.
  std::string caption() const {
    const EnergyRoofline& first = rooflines_.front();
    const EnergyRoof& roof = first.main_roof();
    return fmt::format(
        "{}; {}. {}: peak {}, energy per operation {}. DRAM: bandwidth {}, energy per byte {}. "
        "Constant power while a kernel runs: {}. Numbers at marks are FLOP/byte or watts. Grey: "
        "the mode with the highest peak.{}",
        first.machine, modes_text(rooflines_), roof.name, to_string(roof.flops_per_s.source),
        to_string(roof.joule_per_flop.source), to_string(first.bytes_per_s.source),
        to_string(first.joule_per_byte.source), to_string(first.constant_power_w.source),
        first.profile.empty() ? " Nothing was measured on your machine."
                              : fmt::format(" Profile {}.", first.profile));
  }

  static constexpr std::array<Quantity, 3> columns{performance, efficiency, power};

  const std::vector<EnergyRoofline> rooflines_;
  IntensityRange range_;
  Figure figure_;
};

}  // namespace

std::vector<EnergyLine> energy_lines(const EnergyRoofline& roofline) {
  const EnergyRoof& main = roofline.roofs[roofline.main];
  std::vector<EnergyLine> lines;
  std::set<DType> seen{main.dtype};
  for (const EnergyRoof& roof : roofline.roofs) {  // fastest first
    const bool is_main = &roof == &main;
    if (!is_main && (roof.dtype == DType::fp64 || !seen.insert(roof.dtype).second)) continue;
    const auto equal = std::find_if(lines.begin(), lines.end(), [&](const EnergyLine& line) {
      return line.roof->terms == roof.terms;
    });
    if (equal == lines.end()) {
      lines.push_back({roof.name, &roof, is_main});
      continue;
    }
    equal->name = upper_case(to_string(roof.dtype)) + ", " + equal->name;
    if (is_main) *equal = {equal->name, &roof, true};
  }
  std::stable_partition(lines.begin(), lines.end(),
                        [](const EnergyLine& line) { return !line.is_main; });
  return lines;
}

std::string energy_sources(const EnergyRoofline& roofline) {
  const EnergyRoof& main = roofline.roofs[roofline.main];
  const auto source = [](const Estimate& estimate) { return to_string(estimate.source); };
  const char* operation = is_integer(main.dtype) ? "OP" : "FLOP";
  std::string text = fmt::format(
      "{}: {} ({}), {} ({}). DRAM: {} ({}), {} ({}). Constant power while a kernel runs: {} ({})",
      main.name, format_si(main.flops_per_s.value, rate_unit(main.dtype)), source(main.flops_per_s),
      format_si(main.joule_per_flop.value, fmt::format("J/{}", operation)),
      source(main.joule_per_flop), format_si(roofline.bytes_per_s.value, "B/s"),
      source(roofline.bytes_per_s), format_si(roofline.joule_per_byte.value, "J/B"),
      source(roofline.joule_per_byte), format_si(roofline.constant_power_w.value, "W"),
      source(roofline.constant_power_w));
  if (roofline.idle_power_w)
    text += fmt::format(", idle: {} ({})", format_si(roofline.idle_power_w->value, "W"),
                        source(*roofline.idle_power_w));
  return text + (roofline.profile.empty() ? ". Nothing was measured on your machine."
                                          : fmt::format("; profile {}.", roofline.profile));
}

Figure energy_figure(const EnergyRoofline& roofline) { return EnergyPicture(roofline).build(); }

Figure energy_panels(const std::vector<EnergyRoofline>& rooflines) {
  return EnergyModesPicture(rooflines).build();
}

}  // namespace ridgeline
