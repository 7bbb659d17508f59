// Lines end where they meet: a roof begins at the fastest slope, a slope ends at the fastest roof.
// Colour says the data type, dashes say the unit or the memory level, and labels say both again.
#include "plots/figures/roofline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text_table.h"
#include "base/units.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

// More labels than this overlap; the table has them all.
constexpr int most_labels = 24;
constexpr int longest_name = 32;  // columns of a point's name on the picture

Dash dash_of(Level level) {
  switch (level) {
    case Level::dram:
      return Dash::solid;
    case Level::l3:
      return Dash::long_dash;
    case Level::l2:
      return Dash::dashed;
    case Level::l1:
      return Dash::dash_dot;
    case Level::shared:
      return Dash::dotted;
  }
  return Dash::solid;
}

// The next of 1, 2, 5 · 10ⁿ below or above, so that an axis ends at a tick.
double round_down(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double factor = value / power;
  return (factor >= 5 ? 5 : factor >= 2 ? 2 : 1) * power;
}

double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double factor = value / power;
  return (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10) * power;
}

// A narrow range would make the picture look precise rather than clear.
void widen(Interval& range, double ratio) {
  const double missing = ratio / (range.high / range.low);
  if (missing > 1)
    range = {range.low / std::pow(missing, 0.7), range.high * std::pow(missing, 0.3)};
}

// "± 4 %" where it matters.
std::string spread_text(const Estimate& estimate) {
  const double half = std::max(estimate.high / estimate.value, estimate.value / estimate.low) - 1;
  return half > 0.02 ? " " + format_half_width(half) : "";
}

class RooflinePicture {
 public:
  explicit RooflinePicture(const Roofline& roofline) : roofline_(roofline) {}

  Figure build() {
    figure_.title =
        (is_datasheet(roofline_) ? "Datasheet roofline of " : "Roofline of ") + roofline_.machine;
    figure_.stamp = stamp_text(roofline_);
    set_axes();
    add_zones();
    add_band();
    for (std::size_t i = 0; i < roofline_.slopes.size(); ++i) add_slope(i);
    // The fastest last, so that its line lies on top.
    for (std::size_t i = roofline_.roofs.size(); i-- > 0;) add_roof(i);
    add_ridges();
    add_sweep();
    add_given();
    add_legend();
    figure_.caption = caption();
    figure_.description = description();
    figure_.panels.push_back(std::move(panel_));
    return std::move(figure_);
  }

 private:
  bool is_main(const Roof& roof) const {
    return roofline_.main_roof && &roof == &roofline_.roofs[*roofline_.main_roof];
  }
  bool carries_points(std::size_t slope) const {
    return std::any_of(roofline_.points.begin(), roofline_.points.end(),
                       [&](const Point& point) { return point.slope == slope; });
  }
  bool is_labelled(std::size_t slope) const {
    return roofline_.slopes[slope].chosen || carries_points(slope);
  }

  // Fastest first, so the first of the same processor; none where only one kind was measured.
  const Roof* fastest_roof(Processor processor) const {
    for (const Roof& roof : roofline_.roofs)
      if (roof.processor == processor) return &roof;
    return nullptr;
  }
  const Slope* fastest_slope(Processor processor) const {
    for (const Slope& slope : roofline_.slopes)
      if (slope.processor == processor) return &slope;
    return nullptr;
  }

  void set_axes() {
    Interval x{INFINITY, 0}, y{INFINITY, 0};
    const auto include = [](Interval& range, double value, double below, double above) {
      range = {std::min(range.low, value / below), std::max(range.high, value * above)};
    };
    for (const Ridge& ridge : roofline_.ridges) include(x, ridge.flop_per_byte.value, 5, 3);
    for (const Point& point : roofline_.points) {
      include(x, point.flop_per_byte.value, 2, 2);
      if (point.flops_per_s) {
        include(y, point.flops_per_s->low, 1.5, 1);
        include(y, point.flops_per_s->high, 1, 1.5);
      } else if (point.attainable_flops_per_s) {
        include(y, point.attainable_flops_per_s->value, 1.5, 1.5);
      }
    }
    if (!(x.high > 0)) x = {0.1, 100};
    for (const Roof& roof : roofline_.roofs) include(y, roof.flops_per_s.value, 5, 1.6);
    if (roofline_.roofs.empty())
      for (const Slope& slope : roofline_.slopes) {
        include(y, slope.bytes_per_s.value * x.low, 1, 1);
        include(y, slope.bytes_per_s.value * x.high, 1, 1);
      }
    const bool integers = std::any_of(roofline_.roofs.begin(), roofline_.roofs.end(),
                                      [](const Roof& roof) { return is_integer(roof.dtype); });
    widen(x, 1000);
    widen(y, 100);
    panel_.x = {"Arithmetic intensity", "FLOP/byte",      Scale::log,
                round_down(x.low),      round_up(x.high), false};
    panel_.y = {"Performance", integers ? "FLOP/s, integers OP/s" : "FLOP/s",
                Scale::log,    round_down(y.low),
                y.high,        true};
  }

  // Left of the main ridge memory is the limit, right of it arithmetic.
  void add_zones() {
    if (!roofline_.main_roof || !roofline_.main_slope) return;
    const double roof = roofline_.roofs[*roofline_.main_roof].flops_per_s.value;
    const double slope = roofline_.slopes[*roofline_.main_slope].bytes_per_s.value;
    const double ridge = roof / slope;
    const double x_low = panel_.x.low, x_high = panel_.x.high, y_low = panel_.y.low;
    const double enters = std::max(x_low, y_low / slope);  // where the slope enters the frame
    std::vector<XY> memory{{enters, slope * enters}, {ridge, roof}, {ridge, y_low}};
    if (enters <= x_low) memory.push_back({x_low, y_low});
    panel_.zones.push_back({"memory-bound", memory, Ink::sky});
    panel_.zones.push_back({"compute-bound",
                            {{ridge, roof}, {x_high, roof}, {x_high, y_low}, {ridge, y_low}},
                            Ink::orange});
    panel_.labels.push_back(
        {"memory-bound", "", LabelPlace::left_of, {ridge, y_low}, {}, Ink::grey, false});
    panel_.labels.push_back(
        {"compute-bound", "", LabelPlace::right_of, {ridge, y_low}, {}, Ink::grey, false});
    panel_.series.push_back({"main ridge",
                             {{ridge, y_low}, {ridge, roof}},
                             {Ink::grey, Dash::dotted, 1, Marker::none},
                             {}});
  }

  // Where the main roof and slope lie with 90 % probability, if that is wide enough to see.
  void add_band() {
    if (!roofline_.main_roof || !roofline_.main_slope) return;
    const Estimate& roof = roofline_.roofs[*roofline_.main_roof].flops_per_s;
    const Estimate& slope = roofline_.slopes[*roofline_.main_slope].bytes_per_s;
    if (roof.high <= 1.02 * roof.low && slope.high <= 1.02 * slope.low) return;
    const Axis &x = panel_.x, &y = panel_.y;
    const auto line = [&](double rate, double bytes_per_s) {
      const double top = std::min(rate, y.high);
      const double begin = std::max(x.low, y.low / bytes_per_s);
      const double ridge = std::clamp(top / bytes_per_s, begin, x.high);
      return std::vector<XY>{{begin, std::min(top, begin * bytes_per_s)},
                             {ridge, std::min(top, ridge * bytes_per_s)},
                             {x.high, top}};
    };
    std::vector<XY> outline = line(roof.high, slope.high);
    const std::vector<XY> below = line(roof.low, slope.low);
    outline.insert(outline.end(), below.rbegin(), below.rend());
    panel_.zones.push_back({"90 % interval", std::move(outline), Ink::black, 0.18});
    has_band_ = true;
  }

  void add_slope(std::size_t index) {
    const Slope& slope = roofline_.slopes[index];
    const double rate = slope.bytes_per_s.value;
    const Roof* roof = fastest_roof(slope.processor);
    const double top = std::min(roof ? roof->flops_per_s.value : panel_.y.high, panel_.y.high);
    const double begin = std::max(panel_.x.low, panel_.y.low / rate);
    const double end = std::min(panel_.x.high, top / rate);
    if (!(begin < end)) return;
    const XY from{begin, rate * begin}, to{end, rate * end};
    const bool labelled = is_labelled(index);
    panel_.series.push_back({slope.name + " " + ceiling_text(slope),
                             {from, to},
                             {slope.chosen            ? Ink::black
                              : carries_points(index) ? Ink::grey
                                                      : Ink::pale,
                              slope.sustained ? Dash::dotted : dash_of(slope.level),
                              index == roofline_.main_slope ? 2.2
                              : slope.chosen                ? 1.4
                                                            : 0.9,
                              Marker::none},
                             {}});
    if (labelled)
      panel_.labels.push_back(
          {slope.name + " " + ceiling_text(slope) + status_text(slope) + source_text(slope),
           slope.chosen ? std::string(to_string(slope.level)) : slope.name, LabelPlace::along, from,
           to, slope.chosen ? Ink::black : Ink::grey, false});
  }

  void add_roof(std::size_t index) {
    const Roof& roof = roofline_.roofs[index];
    const double rate = roof.flops_per_s.value;
    const Slope* slope = fastest_slope(roof.processor);
    const double begin =
        slope ? std::max(panel_.x.low, rate / slope->bytes_per_s.value) : panel_.x.low;
    const XY from{begin, rate}, to{panel_.x.high, rate};
    const double width = is_main(roof) ? 2.4 : roof.chosen ? 1.6 : 0.9;
    panel_.series.push_back(
        {roof.name + " " + ceiling_text(roof),
         {from, to},
         {ink_of(roof.dtype), roof.sustained ? Dash::dotted : dash_of(roof.unit), width,
          Marker::none},
         {}});
    panel_.labels.push_back(
        {roof.name + " " + ceiling_text(roof) + status_text(roof) + source_text(roof),
         roof.name,
         LabelPlace::right_margin,
         to,
         {},
         ink_of(roof.dtype),
         is_main(roof)});
  }

  template <class Ceiling>
  static std::string status_text(const Ceiling& ceiling) {
    return ceiling.status == Status::throttled ? " (throttled)" : "";
  }

  // On paper each slope says where it comes from; of roofs only those that the datasheet lacks.
  std::string source_text(const Slope& slope) const {
    return is_datasheet(roofline_) ? fmt::format(" ({})", to_string(slope.bytes_per_s.source)) : "";
  }
  std::string source_text(const Roof& roof) const {
    const Source source = roof.flops_per_s.source;
    return is_datasheet(roofline_) && source != Source::datasheet
               ? fmt::format(" ({})", to_string(source))
               : "";
  }

  // Marked: each slope with the main roof, and each roof with the main slope.
  void add_ridges() {
    Series rings{"ridge points", {}, {Ink::black, Dash::solid, 0, Marker::ring}, {}};
    for (const Ridge& ridge : roofline_.ridges) {
      const bool main_roof = ridge.roof == roofline_.main_roof;
      const bool main_slope = ridge.slope == roofline_.main_slope;
      if (!roofline_.roofs[ridge.roof].chosen || !roofline_.slopes[ridge.slope].chosen) continue;
      if (!main_roof && !main_slope) continue;
      const XY at{ridge.flop_per_byte.value, roofline_.roofs[ridge.roof].flops_per_s.value};
      rings.points.push_back(at);
      if (main_roof && main_slope)
        panel_.labels.push_back({"ridge " + format_number(at.x) + " FLOP/byte",
                                 "ridge " + format_number(at.x),
                                 LabelPlace::beside,
                                 at,
                                 {},
                                 Ink::black,
                                 false});
    }
    if (!rings.points.empty()) panel_.series.push_back(std::move(rings));
  }

  // Points that cannot be true have a mark of their own: they say that the machine was disturbed.
  void add_sweep() {
    for (const Marker marker : {Marker::dot, Marker::square}) {
      const auto has_marker = [&](const Point& point) {
        return point.kind == PointKind::sweep &&
               (point.status == Status::impossible) == (marker == Marker::square);
      };
      std::set<DType> dtypes;
      for (const Point& point : roofline_.points)
        if (has_marker(point)) dtypes.insert(point.dtype);
      for (const DType dtype : dtypes) {
        const std::string name = upper_case(to_string(dtype));
        Series dots{marker == Marker::dot ? "measured sweep " + name
                                          : "sweep above its roof, disturbed " + name,
                    {},
                    {marker == Marker::dot ? ink_of(dtype) : Ink::grey, Dash::solid, 0, marker},
                    {}};
        for (const Point& point : roofline_.points)
          if (has_marker(point) && point.dtype == dtype && point.flops_per_s) {
            dots.points.push_back({point.flop_per_byte.value, point.flops_per_s->value});
            dots.y_intervals.push_back({point.flops_per_s->low, point.flops_per_s->high});
          }
        panel_.series.push_back(std::move(dots));
      }
    }
  }

  // A given point stands at its rate; without a time it stands on the roof.
  void add_given() {
    int labels = 0;
    for (const Point& point : roofline_.points) {
      if (point.kind != PointKind::given || !point.attainable_flops_per_s) continue;
      const XY at{point.flop_per_byte.value, point.flops_per_s
                                                 ? point.flops_per_s->value
                                                 : point.attainable_flops_per_s->value};
      panel_.series.push_back(
          {point.name,
           {at},
           {Ink::black, Dash::solid, 0, point.flops_per_s ? Marker::diamond : Marker::open_diamond},
           {}});
      if (++labels > most_labels) continue;
      std::string text = elide_middle(point.name, longest_name);
      if (point.fraction_of_roof) text += " " + format_percent(point.fraction_of_roof->value);
      if (!point.note.empty()) text += " (above the roof)";
      panel_.labels.push_back(
          {text, elide_middle(point.name, 12), LabelPlace::beside, at, {}, Ink::black, false});
    }
  }

  void add_legend() {
    std::set<Unit> units;
    for (const Roof& roof : roofline_.roofs) units.insert(roof.unit);
    if (units.size() > 1)
      for (const Unit unit : units)
        figure_.legend.push_back({std::string(to_string(unit)) + " unit",
                                  {Ink::black, dash_of(unit), 1.6, Marker::none}});
    if (has_band_)
      figure_.legend.push_back(
          {"90\u00a0% interval of the main roof", {Ink::pale, Dash::solid, 6, Marker::none}});
    const auto has_ink = [&](Ink ink) {
      return std::any_of(panel_.series.begin(), panel_.series.end(), [&](const Series& series) {
        return series.style.ink == ink && series.style.width > 0;
      });
    };
    if (has_ink(Ink::pale))
      figure_.legend.push_back(
          {"other direction or kernel", {Ink::pale, Dash::solid, 0.9, Marker::none}});
    if (std::any_of(roofline_.roofs.begin(), roofline_.roofs.end(),
                    [](const Roof& roof) { return roof.sustained; }))
      figure_.legend.push_back({"sustained", {Ink::black, Dash::dotted, 1.6, Marker::none}});
    std::set<Marker> seen;
    for (const Series& series : panel_.series) {
      const Marker marker = series.style.marker;
      if (marker == Marker::none || !seen.insert(marker).second) continue;
      const char* text = marker == Marker::ring      ? "ridge point"
                         : marker == Marker::dot     ? "measured sweep: DRAM reads + FMA"
                         : marker == Marker::square  ? "sweep above its roof: disturbed, not a rate"
                         : marker == Marker::diamond ? "your kernel"
                         : marker == Marker::open_diamond ? "your kernel, attainable"
                                                          : "";
      figure_.legend.push_back({text, series.style});
    }
  }

  std::string caption() const {
    std::set<int> threads;
    std::set<Source> sources;
    double widest = 0;
    const auto note = [&](int count, const Estimate& rate) {
      threads.insert(count);
      sources.insert(rate.source);
      widest = std::max({widest, rate.high / rate.value - 1, rate.value / rate.low - 1});
    };
    for (const Roof& roof : roofline_.roofs) note(roof.threads, roof.flops_per_s);
    for (const Slope& slope : roofline_.slopes) note(slope.threads, slope.bytes_per_s);
    std::string text = fmt::format("{}; mode: {}", roofline_.machine, mode_text(roofline_.mode));
    if (is_datasheet(roofline_)) return text + datasheet_caption();
    if (threads.size() == 1)
      text += fmt::format("; {} thread{}", *threads.begin(), *threads.begin() == 1 ? "" : "s");
    text += fmt::format("; {}; profile {}.", roofline_.date.substr(0, 10), roofline_.profile);
    text += fmt::format(" Roofs and slopes: {}, medians", sources_text(sources));
    if (widest > 0.0005)
      text += widest > 1 ? ", some 90\u00a0% intervals " + format_half_width(widest)
                         : fmt::format(", 90\u00a0% intervals within ±\u00a0{}",
                                       format_percent(widest, 1));
    text += ".";
    if (!roofline_.complete) text += " Incomplete: the measurement was stopped early.";
    for (const LeftOut& row : roofline_.left_out) text += " Left out: " + left_out_text(row) + ".";
    return text;
  }

  std::string datasheet_caption() const {
    std::string text =
        ". Roofs: datasheet, rate × units × clock. DRAM peak: datasheet, bus × memory clock.";
    for (const Slope& slope : roofline_.slopes)
      if (slope.bytes_per_s.source == Source::fitted)
        text += " DRAM usable: fitted, what the GPU's clock lets through.";
    if (std::any_of(roofline_.roofs.begin(), roofline_.roofs.end(),
                    [](const Roof& roof) { return roof.flops_per_s.source == Source::assumed; }))
      text += " Assumed: by analogy, no source states it.";
    return text + " Nothing was measured.";
  }

  std::string description() const {
    std::string text = fmt::format("Log-log roofline with {} compute roofs and {} memory slopes.",
                                   roofline_.roofs.size(), roofline_.slopes.size());
    if (roofline_.main_roof && roofline_.main_slope) {
      const Roof& roof = roofline_.roofs[*roofline_.main_roof];
      const Slope& slope = roofline_.slopes[*roofline_.main_slope];
      text += fmt::format(" {} reaches {}, {} {}; they meet at {} FLOP/byte.", roof.name,
                          ceiling_text(roof), slope.name, ceiling_text(slope),
                          format_number(roof.flops_per_s.value / slope.bytes_per_s.value));
    }
    return text;
  }

  const Roofline& roofline_;
  Figure figure_;
  Panel panel_;
  bool has_band_ = false;
};

std::string stamp(const std::string& disturbed) {
  return disturbed.empty() ? "" : "measured on a disturbed machine: " + disturbed;
}

}  // namespace

Ink ink_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return Ink::blue;
    case DType::fp32:
      return Ink::vermillion;
    case DType::tf32:
      return Ink::orange;
    case DType::fp16:
      return Ink::sky;
    case DType::bf16:
      return Ink::green;
    case DType::fp8:
      return Ink::orange;
    case DType::fp4:
      return Ink::blue;
    default:
      return Ink::purple;
  }
}

Dash dash_of(Unit unit) {
  switch (unit) {
    case Unit::scalar:
      return Dash::dotted;
    case Unit::vector:
      return Dash::solid;
    case Unit::matrix:
      return Dash::long_dash;
  }
  return Dash::solid;
}

Figure roofline_figure(const Roofline& roofline) { return RooflinePicture(roofline).build(); }

std::string ceiling_text(const Roof& roof) {
  return format_si(roof.flops_per_s.value, rate_unit(roof.dtype)) + spread_text(roof.flops_per_s);
}

std::string ceiling_text(const Slope& slope) {
  return format_si(slope.bytes_per_s.value, "B/s") + spread_text(slope.bytes_per_s);
}

std::string stamp_text(const Roofline& roofline) { return stamp(roofline.disturbed); }
std::string stamp_text(const EnergyRoofline& roofline) { return stamp(roofline.disturbed); }

std::string sources_text(const std::set<Source>& sources) {
  std::vector<std::string_view> names;
  for (const Source source : sources) names.push_back(to_string(source));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string mode_text(const OperatingPoint& mode) {
  std::string text = mode.label;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (mode.gpu_hz) add("gpu " + format_hz(*mode.gpu_hz));
  if (mode.gpu_units) add(fmt::format("{} SM", *mode.gpu_units));
  if (mode.memory_hz) add("emc " + format_hz(*mode.memory_hz));
  for (std::size_t i = 0; i < mode.cpu_hz.size(); ++i)  // clusters are mostly alike
    if (i == 0 || mode.cpu_hz[i] != mode.cpu_hz[i - 1]) add("cpu " + format_hz(mode.cpu_hz[i]));
  if (mode.cpu_cores)
    add(fmt::format("{} core{}", *mode.cpu_cores, *mode.cpu_cores == 1 ? "" : "s"));
  if (mode.cap_w) add(format_si(*mode.cap_w, "W") + " cap");
  return text;
}

std::string clocks_text(const OperatingPoint& point) {
  std::string note;
  const auto add = [&](const std::string& part) { note += (note.empty() ? "" : ", ") + part; };
  if (point.gpu_units) add(fmt::format("{} SM", *point.gpu_units));
  if (point.gpu_hz) add(format_hz(*point.gpu_hz));
  if (point.memory_hz) add("memory " + format_hz(*point.memory_hz));
  return note;
}

}  // namespace ridgeline
