// Text is in single quotes, where gnuplot substitutes nothing, and without enhanced markup: names
// come from files.
#include "plots/renderers/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_table.h"
#include "plots/renderers/svg_layout.h"
#include "plots/renderers/svg_pen.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

using namespace svg_page;

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : gnuplot_text(text)) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

// A backslash at the end of a comment would continue it on the next line.
std::string comment(std::string_view text) {
  std::string out;
  for (const char c : printable(text))
    if (c != '\n' && c != '\\') out += c;
  return out;
}

std::string_view dash_type(Dash dash) {
  switch (dash) {
    case Dash::solid:
      return "solid";
    case Dash::long_dash:
      return "(10,4)";
    case Dash::dashed:
      return "(5,3)";
    case Dash::dotted:
      return "(1.5,3)";
    case Dash::dash_dot:
      return "(8,3,1.5,3)";
  }
  return "solid";
}

// Number of the point type, and the size that looks like ours.
std::pair<int, double> point_type(Marker marker) {
  switch (marker) {
    case Marker::none:
      return {0, 0};
    case Marker::speck:
      return {7, 0.2};
    case Marker::dot:
      return {7, 0.6};
    case Marker::ring:
      return {6, 0.65};
    case Marker::square:
      return {5, 0.7};
    case Marker::diamond:
      return {13, 1.0};
    case Marker::open_diamond:
      return {12, 1.0};
    case Marker::star:
      return {15, 1.8};
  }
  return {7, 1};
}

// "#AARRGGBB", where AA is how much shines through.
std::string color(Ink ink, double opacity) {
  const auto alpha = static_cast<int>(std::lround((1 - std::clamp(opacity, 0.0, 1.0)) * 255));
  return fmt::format("'#{:02x}{}'", alpha, color_of(ink).line.substr(1));
}

class Script {
 public:
  explicit Script(const Figure& figure)
      : figure_(figure),
        layout_(svg_layout(figure)),
        sizes_(svg_panel_sizes(figure.size)),
        is_small_(figure.size == PanelSize::small) {}

  std::string run() {
    line("# {}", comment(figure_.title));
    line("# gnuplot FILE > figure.svg; for another format for example:");
    line(
        "# gnuplot -e \"chosen=1; set terminal pdfcairo size 8in,{:.2f}in font 'Helvetica,9'; "
        "set output 'figure.pdf'\" FILE",
        layout_.height / 100);
    line("set encoding utf8");
    line(
        "if (!exists('chosen')) set terminal svg size {},{} font 'Helvetica,11' noenhanced "
        "background rgb 'white'",
        px(layout_.width), px(std::ceil(layout_.height)));
    blocks();
    line("set multiplot");
    line("set style fill solid 1.0 noborder");
    line("unset key");
    page_text();
    for (std::size_t i = 0; i < figure_.panels.size(); ++i) panel(i);
    line("unset multiplot");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(std::string_view format, const Args&... args) {
    out_ += fmt::format(fmt::runtime(format), args...) + "\n";
  }

  std::string screen(double x, double y) const {
    return fmt::format("screen {:.5f},{:.5f}", x / layout_.width, 1 - y / layout_.height);
  }

  // Every series and zone as a block of numbers.
  void blocks() {
    for (std::size_t p = 0; p < figure_.panels.size(); ++p) {
      const Panel& panel = figure_.panels[p];
      for (std::size_t i = 0; i < panel.zones.size(); ++i) {
        line("$zone_{}_{} << EOD", p, i);
        for (const XY& at : panel.zones[i].outline) line("{:.8g} {:.8g}", at.x, at.y);
        line("EOD");
      }
      for (std::size_t i = 0; i < panel.series.size(); ++i) {
        const Series& series = panel.series[i];
        line("# {}", comment(series.name));
        line("$data_{}_{} << EOD", p, i);
        for (std::size_t k = 0; k < series.points.size(); ++k) line("{}", row(series, k));
        line("EOD");
      }
    }
  }

  // x, y, size of the mark, ends of the intervals of x and of y.
  std::string row(const Series& series, std::size_t k) const {
    const XY at = series.points[k];
    const double size =
        k < series.areas.size()
            ? std::max(0.3, largest_bubble * std::sqrt(series.areas[k]) / pixels_per_size)
            : point_type(series.style.marker).second;
    const Interval x = k < series.x_intervals.size() ? series.x_intervals[k] : Interval{at.x, at.x};
    const Interval y = k < series.y_intervals.size() ? series.y_intervals[k] : Interval{at.y, at.y};
    return fmt::format("{:.8g} {:.8g} {:.3g} {:.8g} {:.8g} {:.8g} {:.8g}", at.x, at.y, size, x.low,
                       x.high, y.low, y.high);
  }

  void text(double x, double y, std::string_view content, std::string_view align, double size,
            std::string_view rgb, bool bold = false, double degrees = 0) {
    if (content.empty()) return;
    line("set label {} at {} {} font '{},{:.3g}' tc rgb '{}' noenhanced rotate by {:.4g} front",
         quoted(content), screen(x, y), align, "Helvetica", bold ? size * 1.05 : size, rgb,
         degrees);
  }

  // Title, legend and caption stand around an empty plot.
  void page_text() {
    double y = 20;
    for (const std::string& title : layout_.title_lines) {
      text(margin, y, title, "left", title_px, "#1a1a1a", true);
      y += title_height;
    }
    for (const std::string& stamp : layout_.stamp_lines) {
      text(margin, y, stamp, "left", axis_px, color_of(Ink::vermillion).text, true);
      y += stamp_height;
    }
    legend();
    for (std::size_t i = 0; i < layout_.caption_lines.size(); ++i)
      text(margin, layout_.grid_bottom + sizes_.caption - 4 + line_height * static_cast<double>(i),
           layout_.caption_lines[i], "left", caption_px, "#5e5e5e");
  }

  void legend() {
    double x = margin, y = layout_.legend_top + legend_height / 2;
    for (const LegendEntry& entry : figure_.legend) {
      const double entry_width = legend_entry_width(entry);
      if (x > margin && x + entry_width > svg_page::width) {
        x = margin;
        y += legend_height;
      }
      const Style& style = entry.style;
      if (style.width > 0)
        line("set arrow from {} to {} nohead lc rgb {} lw {} dt {}", screen(x, y),
             screen(x + 24, y), color(style.ink, 1), px(style.width), dash_type(style.dash));
      if (style.marker != Marker::none) {
        const auto [type, size] =
            point_type(style.marker == Marker::speck ? Marker::dot : style.marker);
        line("set label '' at {} point pt {} ps {} lc rgb {}", screen(x + 12, y), type, size,
             color(style.ink, 1));
      }
      text(x + 30, y, legend_text(entry), "left", legend_px, "#333333");
      x += entry_width;
    }
  }

  void panel(std::size_t index) {
    const Panel& panel = figure_.panels[index];
    const SvgPanel& placed = layout_.panels[index];
    const Viewport& view = placed.view;
    line("set lmargin at screen {:.5f}; set rmargin at screen {:.5f}", view.left / layout_.width,
         view.right() / layout_.width);
    line("set tmargin at screen {:.5f}; set bmargin at screen {:.5f}",
         1 - view.top / layout_.height, 1 - view.bottom() / layout_.height);
    axis('x', view.x, ticks_of(view.x, view.width, 46), is_lowest(index));
    axis('y', view.y, ticks_of(view.y, view.height, 26),
         !figure_.shared_y || index % static_cast<std::size_t>(figure_.columns) == 0);
    if (is_small_) {
      text(view.left, view.top - 22, panel.title, "left", legend_px, "#1a1a1a", true);
      text(view.left, view.top - 9, panel.note, "left", sizes_.tick_px, "#5e5e5e");
    }
    axis_titles(index, view);
    for (const PlacedLabel& label : placed.labels) place(panel.labels[label.label], label);
    std::vector<std::string> plots;
    for (std::size_t i = 0; i < panel.zones.size(); ++i)
      plots.push_back(fmt::format("$zone_{}_{} using 1:2 with filledcurves closed fc rgb {}", index,
                                  i, color(panel.zones[i].ink, panel.zones[i].opacity)));
    for (std::size_t i = 0; i < panel.series.size(); ++i) add_plots(plots, panel, index, i);
    if (plots.empty()) plots.push_back("NaN");
    out_ += "plot ";
    for (std::size_t i = 0; i < plots.size(); ++i) out_ += (i == 0 ? "" : ", \\\n     ") + plots[i];
    line("");
    line("unset label; unset arrow");
  }

  bool is_lowest(std::size_t index) const {
    return index + static_cast<std::size_t>(figure_.columns) >= figure_.panels.size();
  }

  void axis(char name, const Axis& axis, const std::vector<Tick>& ticks, bool labelled) {
    line("{}set logscale {}", axis.scale == Scale::log ? "" : "un", name);
    line("set {}range [{:.8g}:{:.8g}]", name, axis.low, axis.high);
    std::string list;
    for (const Tick& tick : ticks)
      list +=
          fmt::format("{}{} {:.8g} {}", list.empty() ? "" : ", ",
                      quoted(labelled ? tick.label : ""), tick.value, tick.label.empty() ? 1 : 0);
    line("set {}tics out nomirror font 'Helvetica,{}' ({})", name, sizes_.tick_px, list);
  }

  static std::string title_of(const Axis& axis) {
    return axis.unit.empty() ? axis.title : fmt::format("{} [{}]", axis.title, axis.unit);
  }

  // Where the SVG has them: the title of a shared axis stands once, in the middle of all panels.
  void axis_titles(std::size_t index, const Viewport& view) {
    const bool is_last = index + 1 == figure_.panels.size();
    if (is_last) {
      const auto columns =
          std::min(static_cast<std::size_t>(figure_.columns), layout_.panels.size());
      const double middle =
          (layout_.panels.front().view.left + layout_.panels[columns - 1].view.right()) / 2;
      text(middle, view.bottom() + sizes_.axis_title + 3, title_of(view.x), "center", axis_px,
           "#1a1a1a");
    }
    if (view.y.title.empty() || (figure_.shared_y && !is_last)) return;
    const double middle = figure_.shared_y ? (layout_.grid_top + layout_.grid_bottom) / 2
                                           : view.top + view.height / 2;
    text(margin + 4, middle, title_of(view.y), "center", axis_px, "#1a1a1a", false, 90);
  }

  void place(const Label& label, const PlacedLabel& placed) {
    const InkColor ink = color_of(label.ink);
    if (placed.leader)
      line("set arrow from {} to {} nohead lc rgb '{}' lw 0.8",
           screen(placed.leader->from.x, placed.leader->from.y),
           screen(placed.leader->to.x, placed.leader->to.y), ink.line);
    const Box& box = placed.box;
    const bool in_margin = label.place == LabelPlace::right_margin;
    text(in_margin ? box.center.x - box.width / 2 : box.center.x, box.center.y, placed.text,
         in_margin ? "left" : "center", sizes_.label_px, ink.text, label.emphasis,
         -std::atan2(box.along.y, box.along.x) * 180 / 3.14159265358979323846);
  }

  static void add_plots(std::vector<std::string>& plots, const Panel& panel, std::size_t p,
                        std::size_t i) {
    const Series& series = panel.series[i];
    const Style& style = series.style;
    if (series.points.empty()) return;
    const std::string data = fmt::format("$data_{}_{}", p, i);
    if (style.width > 0 && series.points.size() > 1)
      plots.push_back(fmt::format("{} using 1:2 with lines lc rgb {} lw {} dt {}", data,
                                  color(style.ink, 1), px(style.width), dash_type(style.dash)));
    const std::string ink = color(style.ink, series.areas.empty() ? style.opacity : 0.45);
    if (!series.y_intervals.empty())
      plots.push_back(fmt::format("{} using 1:2:6:7 with yerrorbars pt 0 lc rgb {}", data, ink));
    if (!series.x_intervals.empty())
      plots.push_back(fmt::format("{} using 1:2:4:5 with xerrorbars pt 0 lc rgb {}", data, ink));
    if (style.marker != Marker::none)
      plots.push_back(fmt::format("{} using 1:2:3 with points pt {} ps variable lc rgb {}", data,
                                  point_type(style.marker).first, ink));
  }

  static constexpr double pixels_per_size = 5.2;  // radius of a disc of size 1 in the svg terminal

  const Figure& figure_;
  const SvgLayout layout_;
  const SvgPanelSizes& sizes_;
  const bool is_small_;
  std::string out_;
};

}  // namespace

std::string gnuplot_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\n') continue;
    if (c == '>' && out.ends_with("]]"))
      out += ' ';  // gnuplot does not escape it, and XML forbids it
    out += c;
  }
  return out;
}

std::string gnuplot_script(const Figure& figure) { return Script(figure).run(); }

}  // namespace ridgeline
