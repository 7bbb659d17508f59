// The drawing, from back to front; where things go is decided in svg_layout.cpp.
// How a stroke is written is svg_pen.h's.
#include "plots/svg.h"

#include <fmt/format.h>

#include <cmath>

#include "plots/svg_layout.h"
#include "plots/svg_pen.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

using namespace svg_page;

class Drawing {
 public:
  Drawing(const Figure& figure, const SvgLayout& layout) : figure_(figure), layout_(layout) {}

  std::string run() {
    open();
    zones();
    grid();
    series_lines();
    frame();
    series_marks();
    labels();
    axes();
    legend();
    caption();
    return pen_.close();
  }

 private:
  template <class... Args>
  void add(std::string_view format, const Args&... args) {
    pen_.element(fmt::format(fmt::runtime(format), args...));
  }

  void open() {
    pen_.open(layout_.width, layout_.height, figure_.title,
              figure_.description + " " + figure_.caption);
    pen_.text(svg_page::margin, 24, figure_.title, title_px, "start", "#1a1a1a",
              R"( font-weight="bold")");
  }

  std::string path(const std::vector<XY>& points) const {
    std::string d;
    for (const XY& point : points) {
      const XY at = layout_.view.screen(point);
      d += fmt::format("{}{} {}", d.empty() ? "M" : " L", px(at.x), px(at.y));
    }
    return d;
  }

  void zones() {
    for (const Zone& zone : figure_.zones) pen_.fill(path(zone.outline), zone.ink);
  }

  void grid() {
    const Viewport& view = layout_.view;
    std::string d;
    for (const Tick& tick : x_ticks())
      if (!tick.label.empty())
        d += fmt::format("M{0} {1}V{2}", px(view.screen_x(tick.value)), px(view.top),
                         px(view.bottom()));
    for (const Tick& tick : y_ticks())
      if (!tick.label.empty())
        d += fmt::format("M{0} {1}H{2}", px(view.left), px(view.screen_y(tick.value)),
                         px(view.right()));
    add(R"(<path d="{}" stroke="#000000" stroke-opacity="0.08" fill="none"/>)", d);
  }

  void series_lines() {
    for (const Series& series : figure_.series)
      if (series.style.width > 0 && series.points.size() > 1)
        pen_.line(path(series.points), series.style);
  }

  void frame() {
    const Viewport& view = layout_.view;
    add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#333333"/>)",
        px(view.left), px(view.top), px(view.width), px(view.height));
  }

  void series_marks() {
    const Viewport& view = layout_.view;
    for (const Series& series : figure_.series) {
      if (series.style.marker == Marker::none) continue;
      for (std::size_t i = 0; i < series.points.size(); ++i) {
        const XY at = view.screen(series.points[i]);
        if (i < series.y_intervals.size()) interval_bar(at.x, series.y_intervals[i], series.style);
        pen_.marker(at, series.style);
      }
    }
  }

  // Only where it is longer than the marker itself would hide.
  void interval_bar(double x, const Interval& interval, const Style& style) {
    const double low = layout_.view.screen_y(interval.low);
    const double high = layout_.view.screen_y(interval.high);
    add(R"(<path d="M{0} {1}V{2}M{3} {1}H{4}M{3} {2}H{4}" stroke="{5}" fill="none"/>)", px(x),
        px(low), px(high), px(x - 3), px(x + 3), color_of(style.ink).line);
  }

  void labels() {
    for (const PlacedLabel& placed : layout_.labels) {
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

  std::vector<Tick> x_ticks() const { return ticks_of(figure_.x, layout_.view.width, 46); }
  std::vector<Tick> y_ticks() const { return ticks_of(figure_.y, layout_.view.height, 26); }

  void axes() {
    const Viewport& view = layout_.view;
    std::string d;
    for (const Tick& tick : x_ticks()) {
      const double x = view.screen_x(tick.value);
      d += fmt::format("M{} {}v{}", px(x), px(view.bottom()), tick.label.empty() ? 3 : 6);
      if (!tick.label.empty())
        pen_.text(x, view.bottom() + 18, tick.label, tick_px, "middle", "#333333");
    }
    for (const Tick& tick : y_ticks()) {
      const double y = view.screen_y(tick.value);
      d += fmt::format("M{} {}h{}", px(view.left), px(y), tick.label.empty() ? -3 : -6);
      if (!tick.label.empty())
        pen_.text(view.left - 9, y + tick_px * 0.36, tick.label, tick_px, "end", "#333333");
    }
    add(R"(<path d="{}" stroke="#333333" fill="none"/>)", d);
    pen_.text(view.left + view.width / 2, view.bottom() + 38,
              fmt::format("{} [{}]", figure_.x.title, figure_.x.unit), axis_px, "middle",
              "#1a1a1a");
    const double middle = view.top + view.height / 2;
    pen_.text(
        svg_page::margin + 8, middle, fmt::format("{} [{}]", figure_.y.title, figure_.y.unit),
        axis_px, "middle", "#1a1a1a",
        fmt::format(R"x( transform="rotate(-90 {} {})")x", px(svg_page::margin + 8), px(middle)));
  }

  void legend() {
    double x = svg_page::margin, y = layout_.legend_top + legend_height / 2;
    for (const LegendEntry& entry : figure_.legend) {
      const double width = legend_entry_width(entry);
      if (x > svg_page::margin && x + width > layout_.width) {
        x = svg_page::margin;
        y += legend_height;
      }
      if (entry.style.width > 0) pen_.line(fmt::format("M{} {}h24", px(x), px(y)), entry.style);
      pen_.marker({x + 12, y}, entry.style);
      pen_.text(x + 30, y + label_px * 0.36, entry.text, label_px, "start", "#333333");
      x += width;
    }
  }

  void caption() {
    double y = layout_.view.bottom() + 62;
    for (const std::string& caption_line : layout_.caption_lines) {
      pen_.text(svg_page::margin, y, caption_line, caption_px, "start", "#5e5e5e");
      y += line_height;
    }
  }

  const Figure& figure_;
  const SvgLayout& layout_;
  SvgPen pen_;
};

}  // namespace

std::string svg(const Figure& figure) { return Drawing(figure, svg_layout(figure)).run(); }

}  // namespace ridgeline
