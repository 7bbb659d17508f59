// The inside of one plot: zones, grid, lines, marks, labels, ticks and axis titles.
// Pages of one plot and of several share it; legend and caption are here too, for the same reason.
#include "plots/renderers/svg_frame.h"

#include <fmt/format.h>

#include <cmath>

#include "plots/renderers/svg_layout.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

using namespace svg_page;

class Frame {
 public:
  Frame(SvgPen& pen, const Figure& figure, const Viewport& view,
        const std::vector<PlacedLabel>& labels, bool with_x_labels)
      : pen_(pen), figure_(figure), view_(view), labels_(labels), with_x_labels_(with_x_labels) {}

  void draw() {
    zones();
    grid();
    series_lines();
    frame();
    series_marks();
    labels();
    axes();
  }

 private:
  template <class... Args>
  void add(std::string_view format, const Args&... args) {
    pen_.element(fmt::format(fmt::runtime(format), args...));
  }

  std::string path(const std::vector<XY>& points) const {
    std::string d;
    for (const XY& point : points) {
      const XY at = view_.screen(point);
      d += fmt::format("{}{} {}", d.empty() ? "M" : " L", px(at.x), px(at.y));
    }
    return d;
  }

  void zones() {
    for (const Zone& zone : figure_.zones) pen_.fill(path(zone.outline), zone.ink);
  }

  void grid() {
    std::string d;
    for (const Tick& tick : x_ticks())
      if (!tick.label.empty())
        d += fmt::format("M{0} {1}V{2}", px(view_.screen_x(tick.value)), px(view_.top),
                         px(view_.bottom()));
    for (const Tick& tick : y_ticks())
      if (!tick.label.empty())
        d += fmt::format("M{0} {1}H{2}", px(view_.left), px(view_.screen_y(tick.value)),
                         px(view_.right()));
    add(R"(<path d="{}" stroke="#000000" stroke-opacity="0.08" fill="none"/>)", d);
  }

  void series_lines() {
    for (const Series& series : figure_.series)
      if (series.style.width > 0 && series.points.size() > 1)
        pen_.line(path(series.points), series.style);
  }

  void frame() {
    add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#333333"/>)",
        px(view_.left), px(view_.top), px(view_.width), px(view_.height));
  }

  void series_marks() {
    for (const Series& series : figure_.series) {
      if (series.style.marker == Marker::none) continue;
      for (std::size_t i = 0; i < series.points.size(); ++i) {
        const XY at = view_.screen(series.points[i]);
        if (i < series.y_intervals.size()) interval_bar(at.x, series.y_intervals[i], series.style);
        if (i < series.areas.size())
          pen_.bubble(at, series.areas[i], series.style.ink);
        else
          pen_.marker(at, series.style);
      }
    }
  }

  // Only where it is longer than the marker itself would hide.
  void interval_bar(double x, const Interval& interval, const Style& style) {
    const double low = view_.screen_y(interval.low);
    const double high = view_.screen_y(interval.high);
    add(R"(<path d="M{0} {1}V{2}M{3} {1}H{4}M{3} {2}H{4}" stroke="{5}" fill="none"/>)", px(x),
        px(low), px(high), px(x - 3), px(x + 3), color_of(style.ink).line);
  }

  void labels() {
    for (const PlacedLabel& placed : labels_) {
      const Label& label = figure_.labels[placed.label];
      const InkColor color = color_of(label.ink);
      const bool margin = label.place == LabelPlace::right_margin;
      if (placed.leader)
        add(R"(<path d="M{} {}L{} {}" stroke="{}" stroke-width="0.8" fill="none"/>)",
            px(placed.leader->from.x), px(placed.leader->from.y),
            px(placed.leader->to.x - (margin ? 3 : 0)), px(placed.leader->to.y), color.line);
      std::string more = label.emphasis ? R"( font-weight="bold")" : "";
      if (label.place == LabelPlace::left_of || label.place == LabelPlace::right_of)
        more += R"( font-style="italic")";
      // A white rim keeps a label readable where a line runs behind it.
      if (!margin)
        more +=
            R"( stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke")";
      const XY along = placed.box.along;
      if (along.y != 0)
        more += fmt::format(R"x( transform="rotate({} {} {})")x",
                            px(std::atan2(along.y, along.x) * 180 / 3.14159265358979323846),
                            px(placed.box.center.x), px(placed.box.center.y));
      pen_.text(margin ? placed.box.center.x - placed.box.width / 2 : placed.box.center.x,
                placed.box.center.y + label_px * 0.36, placed.text, label_px,
                margin ? "start" : "middle", color.text, more);
    }
  }

  std::vector<Tick> x_ticks() const { return ticks_of(figure_.x, view_.width, 46); }
  std::vector<Tick> y_ticks() const { return ticks_of(figure_.y, view_.height, 26); }

  void axes() {
    std::string d;
    for (const Tick& tick : x_ticks()) {
      const double x = view_.screen_x(tick.value);
      d += fmt::format("M{} {}v{}", px(x), px(view_.bottom()), tick.label.empty() ? 3 : 6);
      if (with_x_labels_ && !tick.label.empty())
        pen_.text(x, view_.bottom() + 18, tick.label, tick_px, "middle", "#333333");
    }
    for (const Tick& tick : y_ticks()) {
      const double y = view_.screen_y(tick.value);
      d += fmt::format("M{} {}h{}", px(view_.left), px(y), tick.label.empty() ? -3 : -6);
      if (!tick.label.empty())
        pen_.text(view_.left - 9, y + tick_px * 0.36, tick.label, tick_px, "end", "#333333");
    }
    add(R"(<path d="{}" stroke="#333333" fill="none"/>)", d);
    if (with_x_labels_)
      pen_.text(view_.left + view_.width / 2, view_.bottom() + 38,
                fmt::format("{} [{}]", figure_.x.title, figure_.x.unit), axis_px, "middle",
                "#1a1a1a");
    const double middle = view_.top + view_.height / 2;
    pen_.text(
        svg_page::margin + 8, middle, fmt::format("{} [{}]", figure_.y.title, figure_.y.unit),
        axis_px, "middle", "#1a1a1a",
        fmt::format(R"x( transform="rotate(-90 {} {})")x", px(svg_page::margin + 8), px(middle)));
  }

  SvgPen& pen_;
  const Figure& figure_;
  const Viewport& view_;
  const std::vector<PlacedLabel>& labels_;
  bool with_x_labels_;
};

}  // namespace

void draw_frame(SvgPen& pen, const Figure& figure, const Viewport& view,
                const std::vector<PlacedLabel>& labels, bool with_x_labels) {
  Frame(pen, figure, view, labels, with_x_labels).draw();
}

void draw_legend(SvgPen& pen, const std::vector<LegendEntry>& legend, double top) {
  double x = margin, y = top + legend_height / 2;
  for (const LegendEntry& entry : legend) {
    const double entry_width = legend_entry_width(entry);
    if (x > margin && x + entry_width > width) {
      x = margin;
      y += legend_height;
    }
    if (entry.style.width > 0) pen.line(fmt::format("M{} {}h24", px(x), px(y)), entry.style);
    pen.marker({x + 12, y}, entry.style);
    pen.text(x + 30, y + label_px * 0.36, entry.text, label_px, "start", "#333333");
    x += entry_width;
  }
}

void draw_caption(SvgPen& pen, const std::vector<std::string>& lines, double first_line) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    pen.text(margin, first_line + line_height * static_cast<double>(i), lines[i], caption_px,
             "start", "#5e5e5e");
}

}  // namespace ridgeline
