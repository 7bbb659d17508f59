// Which lines and marks each of the three plots has. Colour says the data type and dashes the unit,
// as in the roofline; rings, squares and diamonds are the balance points of the main roof.
#include "plots/figures/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/units.h"
#include "plots/figures/roofline.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

constexpr double main_width = 2.4, other_width = 1.3;

// One of the three plots: what of a sample it shows.
struct Kind {
  double EnergySample::*value;
  const char* unit;
};
constexpr Kind performance{&EnergySample::flops_per_s, "FLOP/s"};
constexpr Kind efficiency{&EnergySample::flop_per_joule, "FLOP/J"};
constexpr Kind power{&EnergySample::power_w, "W"};

class EnergyFigureBuilder {
 public:
  explicit EnergyFigureBuilder(const EnergyRoofline& roofline)
      : roofline_(roofline),
        lines_(energy_lines(roofline)),
        range_(intensity_range({&roofline, 1})),
        main_(roofline.roofs[roofline.main]) {}

  FigureStack build() {
    FigureStack stack;
    stack.title =
        (roofline_.profile.empty() ? "Energy roofline on paper of " : "Energy roofline of ") +
        roofline_.machine + (roofline_.disturbed.empty() ? "" : ", of a disturbed machine");
    stack.figures = {performance_figure(), efficiency_figure(), power_figure()};
    stack.heights = {1.15, 1.15, 0.9};
    stack.legend = legend();
    stack.caption = fmt::format("{}; mode: {}. {}", roofline_.machine, mode_text(roofline_.mode),
                                energy_sources(roofline_));
    if (const std::string stamp = stamp_text(roofline_); !stamp.empty())
      stack.caption += " It was " + stamp + ".";
    stack.description = fmt::format(
        "Performance, energy efficiency and power over arithmetic intensity. {} is limited by "
        "arithmetic from {} FLOP/byte on, reaches half of {} at {} FLOP/byte and draws up to {}.",
        main_.name, format_number(main_.time_balance.value),
        format_si(main_.limit_flop_per_joule.value, "FLOP/J"),
        format_number(main_.half_efficiency_balance.value),
        format_si(main_.peak_power_w.value, "W"));
    return stack;
  }

 private:
  std::vector<XY> curve(const EnergyTerms& terms, const Kind& kind) const {
    std::vector<XY> points;
    for (const EnergySample& sample : energy_curve(terms, range_.low, range_.high))
      points.push_back({sample.flop_per_byte, sample.*kind.value});
    return points;
  }

  double at(const Kind& kind, double flop_per_byte) const {
    const EnergyTerms& terms = main_.terms;
    if (kind.value == performance.value) return 1 / time_per_flop_s(terms, flop_per_byte);
    if (kind.value == efficiency.value) return 1 / energy_per_flop_j(terms, flop_per_byte);
    return power_w(terms, flop_per_byte);
  }

  Figure frame(const char* title, const Kind& kind, Scale scale) const {
    Figure figure;
    figure.x = {"Arithmetic intensity", "FLOP/byte", Scale::log, range_.low, range_.high, false};
    double low = INFINITY, high = 0;
    for (const EnergyLine& line : lines_)
      for (const XY& point : curve(line.roof->terms, kind)) {
        low = std::min(low, point.y);
        high = std::max(high, point.y);
      }
    const bool integers = std::any_of(lines_.begin(), lines_.end(), [](const EnergyLine& line) {
      return is_integer(line.roof->dtype);
    });
    const std::string unit = kind.unit;
    figure.y = {title,
                integers && unit != "W" ? unit + ", OP" + unit.substr(4) : unit,
                scale,
                scale == Scale::log ? low / 1.3 : 0,
                scale == Scale::log ? high * 2 : high * 1.18,
                scale == Scale::log};
    return figure;
  }

  // Dotted, through all three plots.
  void add_guide(Figure& figure, double flop_per_byte, const char* name) const {
    figure.series.push_back({name,
                             {{flop_per_byte, figure.y.low}, {flop_per_byte, figure.y.high}},
                             {Ink::grey, Dash::dotted, 0.9, Marker::none},
                             {}});
  }
  void add_guides(Figure& figure) const {
    add_guide(figure, main_.time_balance.value, "time balance");
    if (main_.energy_balance && inside(main_.energy_balance->value))
      add_guide(figure, main_.energy_balance->value, "energy balance");
    add_guide(figure, main_.half_efficiency_balance.value, "half efficiency");
  }

  bool inside(double flop_per_byte) const {
    return flop_per_byte >= range_.low && flop_per_byte <= range_.high;
  }

  template <class Text>
  void add_lines(Figure& figure, const Kind& kind, const Text& text_of) const {
    for (const EnergyLine& line : lines_) {
      const std::vector<XY> points = curve(line.roof->terms, kind);
      const EnergyRoof& roof = *line.roof;
      // What the cap takes away stays visible.
      if (roof.capped && line.is_main) {
        EnergyTerms free = roof.terms;
        free.cap_w.reset();
        std::vector<XY> uncapped = curve(free, kind);
        for (XY& point : uncapped) point.y = std::min(point.y, figure.y.high);
        figure.series.push_back({line.name + " without the cap",
                                 std::move(uncapped),
                                 {Ink::pale, Dash::solid, 1.6, Marker::none},
                                 {}});
      }
      figure.series.push_back({line.name,
                               points,
                               {ink_of(roof.dtype), dash_of(roof.unit),
                                line.is_main ? main_width : other_width, Marker::none},
                               {}});
      figure.labels.push_back({line.name + " " + text_of(roof),
                               line.name,
                               LabelPlace::right_margin,
                               points.back(),
                               {},
                               ink_of(roof.dtype),
                               line.is_main});
    }
  }

  void add_mark(Figure& figure, const Kind& kind, double flop_per_byte, Marker marker,
                const std::string& name, const std::string& text) const {
    const XY here{flop_per_byte, at(kind, flop_per_byte)};
    figure.series.push_back({name, {here}, {Ink::black, Dash::solid, 0, marker}, {}});
    if (!text.empty())
      figure.labels.push_back({text, name, LabelPlace::beside, here, {}, Ink::black, false});
  }

  Figure performance_figure() const {
    Figure figure = frame("Performance", performance, Scale::log);
    if (!main_.capped) add_zones(figure);
    add_guides(figure);
    add_lines(figure, performance, [](const EnergyRoof& roof) {
      return format_si(
          roof.terms.cap_w ? 1 / time_per_flop_s(roof.terms, INFINITY) : roof.flops_per_s.value,
          rate_unit(roof.dtype));
    });
    add_mark(figure, performance, main_.time_balance.value, Marker::ring, "time balance",
             fmt::format("time balance {} FLOP/byte", format_number(main_.time_balance.value)));
    if (main_.capped) return figure;  // then the line is neither memory's nor arithmetic's
    const std::vector<XY> line = curve(main_.terms, performance);
    const double ridge = main_.time_balance.value;
    figure.labels.push_back({"DRAM " + format_si(roofline_.bytes_per_s.value, "B/s"),
                             "DRAM",
                             LabelPlace::along,
                             line.front(),
                             {ridge, at(performance, ridge)},
                             Ink::black,
                             false});
    return figure;
  }

  // Left of the time balance memory is the limit, right of it arithmetic.
  void add_zones(Figure& figure) const {
    const double ridge = main_.time_balance.value, bottom = figure.y.low;
    std::vector<XY> memory{{range_.low, bottom}}, compute{{ridge, bottom}};
    for (const XY& point : curve(main_.terms, performance)) {
      if (point.x <= ridge) memory.push_back(point);
      if (point.x >= ridge) compute.push_back(point);
    }
    memory.push_back({ridge, bottom});
    compute.push_back({range_.high, bottom});
    figure.zones = {{"memory-bound", memory, Ink::sky}, {"compute-bound", compute, Ink::orange}};
    figure.labels.push_back(
        {"memory-bound", "", LabelPlace::left_of, {ridge, bottom}, {}, Ink::grey, false});
    figure.labels.push_back(
        {"compute-bound", "", LabelPlace::right_of, {ridge, bottom}, {}, Ink::grey, false});
  }

  Figure efficiency_figure() const {
    Figure figure = frame("Efficiency", efficiency, Scale::log);
    add_guides(figure);
    add_lines(figure, efficiency, [](const EnergyRoof& roof) {
      return format_si(roof.limit_flop_per_joule.value, is_integer(roof.dtype) ? "OP/J" : "FLOP/J");
    });
    if (main_.energy_balance && inside(main_.energy_balance->value))
      add_mark(figure, efficiency, main_.energy_balance->value, Marker::square, "energy balance",
               "energy balance " + format_number(main_.energy_balance->value));
    const double half = main_.half_efficiency_balance.value;
    add_mark(figure, efficiency, half, Marker::diamond, "half efficiency",
             "half efficiency " + format_number(half));
    return figure;
  }

  Figure power_figure() const {
    Figure figure = frame("Power", power, Scale::linear);
    add_guides(figure);
    const auto level = [&](double watts, const std::string& name, Dash dash) {
      if (watts > figure.y.high) return;
      figure.series.push_back({name,
                               {{range_.low, watts}, {range_.high, watts}},
                               {Ink::grey, dash, 1.1, Marker::none},
                               {}});
      figure.labels.push_back({name + " " + format_si(watts, "W"),
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
    add_lines(figure, power,
              [](const EnergyRoof& roof) { return format_si(power_w(roof.terms, INFINITY), "W"); });
    add_mark(figure, power, main_.time_balance.value, Marker::ring, "peak",
             "peak " + format_si(main_.peak_power_w.value, "W"));
    return figure;
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
    if (main_.energy_balance && inside(main_.energy_balance->value))
      entries.push_back({"energy balance", {Ink::black, Dash::solid, 0, Marker::square}});
    entries.push_back(
        {"half of the highest efficiency", {Ink::black, Dash::solid, 0, Marker::diamond}});
    if (main_.capped)
      entries.push_back({"without the cap", {Ink::pale, Dash::solid, 1.6, Marker::none}});
    return entries;
  }

  const EnergyRoofline& roofline_;
  std::vector<EnergyLine> lines_;
  IntensityRange range_;
  const EnergyRoof& main_;
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

FigureStack energy_figure(const EnergyRoofline& roofline) {
  return EnergyFigureBuilder(roofline).build();
}

}  // namespace ridgeline
