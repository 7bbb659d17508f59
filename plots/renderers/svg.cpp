// Draws a page as svg_layout.h lays it out: title, panels from back to front, legend, caption.
#include "plots/renderers/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text_table.h"
#include "plots/renderers/svg_layout.h"
#include "plots/renderers/svg_pen.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

using namespace svg_page;

class SvgDrawing {
 public:
  explicit SvgDrawing(const Figure& figure)
      : figure_(figure),
        layout_(svg_layout(figure)),
        sizes_(svg_panel_sizes(figure.size)),
        is_small_(figure.size == PanelSize::small) {}

  std::string run() {
    pen_.open(layout_.width, layout_.height, figure_.title,
              figure_.description + " " + figure_.caption);
    titles();
    // The bubbles of a single panel may reach out of its frame: there the legend lies on top.
    const bool legend_on_top = figure_.panels.size() == 1;
    if (!legend_on_top) legend();
    for (std::size_t i = 0; i < figure_.panels.size(); ++i) panel(i);
    if (legend_on_top) legend();
    caption();
    return pen_.close();
  }

 private:
  template <class... Args>
  void add(std::string_view format, const Args&... args) {
    pen_.element(fmt::format(fmt::runtime(format), args...));
  }

  void titles() {
    const std::string_view bold = R"( font-weight="bold")";
    double y = 24;
    for (const std::string& line : layout_.title_lines) {
      pen_.text(margin, y, line, title_px, "start", "#1a1a1a", bold);
      y += title_height;
    }
    y += stamp_height - title_height;
    for (const std::string& line : layout_.stamp_lines) {
      pen_.text(margin, y, line, axis_px, "start", color_of(Ink::vermillion).text, bold);
      y += stamp_height;
    }
  }

  void legend() {
    double x = margin, y = layout_.legend_top + legend_height / 2;
    for (const LegendEntry& entry : figure_.legend) {
      const double entry_width = legend_entry_width(entry);
      if (x > margin && x + entry_width > width) {
        x = margin;
        y += legend_height;
      }
      if (entry.style.width > 0) pen_.line(fmt::format("M{} {}h24", px(x), px(y)), entry.style);
      Style style = entry.style;
      if (style.marker == Marker::speck) style.marker = Marker::dot;  // alone it could not be seen
      style.opacity = 1;
      pen_.marker({x + 12, y}, style);
      pen_.text(x + 30, y + legend_px * 0.36, legend_text(entry), legend_px, "start", "#333333");
      x += entry_width;
    }
  }

  void caption() {
    for (std::size_t i = 0; i < layout_.caption_lines.size(); ++i)
      pen_.text(margin, layout_.grid_bottom + sizes_.caption + line_height * static_cast<double>(i),
                layout_.caption_lines[i], caption_px, "start", "#5e5e5e");
  }

  void panel(std::size_t index) {
    const Panel& panel = figure_.panels[index];
    const Viewport& view = layout_.panels[index].view;
    if (is_small_) panel_head(panel, view);
    for (const Zone& zone : panel.zones)
      pen_.fill(path(zone.outline, view), zone.ink, zone.opacity);
    grid(view);
    for (const Series& series : panel.series)
      if (series.style.width > 0 && series.points.size() > 1)
        pen_.line(path(series.points, view), series.style);
    add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#333333"/>)",
        px(view.left), px(view.top), px(view.width), px(view.height));
    for (const Series& series : panel.series)
      if (series.style.marker != Marker::none) marks(series, view);
    for (const PlacedLabel& placed : layout_.panels[index].labels)
      label(panel.labels[placed.label], placed, view);
    axes(index, view);
    axis_titles(index, view);
  }

  void panel_head(const Panel& panel, const Viewport& view) {
    std::string title = panel.title;
    for (int columns = display_width(title);
         columns > 1 && text_width_px(title, legend_px * 1.1) > view.width + 30;)
      title = elide_middle(panel.title, --columns);
    pen_.text(view.left, view.top - 19, title, legend_px, "start", "#1a1a1a",
              R"( font-weight="bold")");
    pen_.text(view.left, view.top - 6, panel.note, sizes_.tick_px, "start", "#5e5e5e");
  }

  static std::string path(const std::vector<XY>& points, const Viewport& view) {
    std::string d;
    for (const XY& point : points) {
      const XY at = view.screen(point);
      d += fmt::format("{}{} {}", d.empty() ? "M" : " L", px(at.x), px(at.y));
    }
    return d;
  }

  void grid(const Viewport& view) {
    std::string d;
    for (const Tick& tick : x_ticks(view))
      if (!tick.label.empty())
        d += fmt::format("M{0} {1}V{2}", px(view.screen_x(tick.value)), px(view.top),
                         px(view.bottom()));
    for (const Tick& tick : y_ticks(view))
      if (!tick.label.empty())
        d += fmt::format("M{0} {1}H{2}", px(view.left), px(view.screen_y(tick.value)),
                         px(view.right()));
    add(R"(<path d="{}" stroke="#000000" stroke-opacity="0.08" fill="none"/>)", d);
  }

  void marks(const Series& series, const Viewport& view) {
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const XY at = view.screen(series.points[i]);
      const std::string faint = series.style.opacity < 1 ? fmt::format(R"( stroke-opacity="{}")",
                                                                       px(series.style.opacity))
                                                         : "";
      if (i < series.y_intervals.size()) {
        const Interval& interval = series.y_intervals[i];
        add(R"(<path d="M{0} {1}V{2}M{3} {1}H{4}M{3} {2}H{4}" stroke="{5}"{6} fill="none"/>)",
            px(at.x), px(view.screen_y(interval.low)), px(view.screen_y(interval.high)),
            px(at.x - 3), px(at.x + 3), color_of(series.style.ink).line, faint);
      }
      if (i < series.x_intervals.size()) {
        const Interval& interval = series.x_intervals[i];
        add(R"(<path d="M{1} {0}H{2}M{1} {3}V{4}M{2} {3}V{4}" stroke="{5}"{6} fill="none"/>)",
            px(at.y), px(view.screen_x(interval.low)), px(view.screen_x(interval.high)),
            px(at.y - 3), px(at.y + 3), color_of(series.style.ink).line, faint);
      }
      if (i < series.areas.size())
        pen_.bubble(at, series.areas[i], series.style.ink);
      else
        pen_.marker(at, series.style);
    }
  }

  void label(const Label& label, const PlacedLabel& placed, const Viewport& view) {
    const InkColor color = color_of(label.ink);
    const bool in_margin = label.place == LabelPlace::right_margin;
    if (placed.leader)
      add(R"(<path d="M{} {}L{} {}" stroke="{}" stroke-width="0.8" fill="none"/>)",
          px(placed.leader->from.x), px(placed.leader->from.y),
          px(placed.leader->to.x - (in_margin ? 3 : 0)), px(placed.leader->to.y), color.line);
    std::string more = label.emphasis ? R"( font-weight="bold")" : "";
    if (label.place == LabelPlace::left_of || label.place == LabelPlace::right_of)
      more += R"( font-style="italic")";
    // A white rim keeps a label readable where a line runs behind it.
    if (!in_margin)
      more += fmt::format(
          R"( stroke="#ffffff" stroke-width="{}" stroke-linejoin="round" paint-order="stroke")",
          px(sizes_.rim));
    const Box& box = placed.box;
    if (box.along.y != 0)
      more += fmt::format(R"x( transform="rotate({} {} {})")x",
                          px(std::atan2(box.along.y, box.along.x) * 180 / 3.14159265358979323846),
                          px(box.center.x), px(box.center.y));
    // The width is an estimate: text that stands beside a thing begins or ends there.
    const double left = box.center.x - box.width / 2, right = box.center.x + box.width / 2;
    const double thing = view.screen_x(label.anchor.x);
    const bool is_upright = label.place == LabelPlace::beside && box.along.y == 0;
    const bool from_left = in_margin || (is_upright && left > thing);
    const bool to_right = is_upright && right < thing;
    pen_.text(from_left  ? left
              : to_right ? right
                         : box.center.x,
              box.center.y + sizes_.label_px * 0.36, placed.text, sizes_.label_px,
              from_left  ? "start"
              : to_right ? "end"
                         : "middle",
              color.text, more);
  }

  static std::vector<Tick> x_ticks(const Viewport& view) {
    return ticks_of(view.x, view.width, 46);
  }
  static std::vector<Tick> y_ticks(const Viewport& view) {
    return ticks_of(view.y, view.height, 26);
  }

  // Shared axes are labelled in the lowest panel of a column and in the first of a row.
  void axes(std::size_t index, const Viewport& view) {
    const auto columns = static_cast<std::size_t>(figure_.columns);
    const bool is_lowest = index + columns >= figure_.panels.size();
    const bool is_leftmost = index % columns == 0;
    const bool has_neighbour = figure_.shared_y && (index + 1) % columns != 0;
    std::string d;
    for (const Tick& tick : x_ticks(view)) {
      const double x = view.screen_x(tick.value);
      d += fmt::format("M{} {}v{}", px(x), px(view.bottom()), tick_length(tick));
      if (!is_lowest || tick.label.empty()) continue;
      // The label at the right edge would touch the first one of the next panel.
      const bool at_edge = is_small_ && x > view.right() - 3;
      if (at_edge && has_neighbour) continue;
      pen_.text(x, view.bottom() + sizes_.tick_below, tick.label, sizes_.tick_px,
                at_edge ? "end" : "middle", "#333333");
    }
    for (const Tick& tick : y_ticks(view)) {
      const double y = view.screen_y(tick.value);
      d += fmt::format("M{} {}h{}", px(view.left), px(y), -tick_length(tick));
      if ((is_leftmost || !figure_.shared_y) && !tick.label.empty())
        pen_.text(view.left - sizes_.tick_left, y + sizes_.tick_px * 0.36, tick.label,
                  sizes_.tick_px, "end", "#333333");
    }
    add(R"(<path d="{}" stroke="#333333" fill="none"/>)", d);
  }

  int tick_length(const Tick& tick) const {
    return tick.label.empty() ? sizes_.short_tick : sizes_.long_tick;
  }

  // The title of a shared axis stands once, in the middle of all panels.
  void axis_titles(std::size_t index, const Viewport& view) {
    const bool is_last = index + 1 == figure_.panels.size();
    if (is_last) {
      const double left = layout_.panels.front().view.left;
      const auto columns =
          std::min(static_cast<std::size_t>(figure_.columns), layout_.panels.size());
      const Viewport& end = layout_.panels[columns - 1].view;
      pen_.text((left + end.right()) / 2, view.bottom() + sizes_.axis_title, axis_title(view.x),
                axis_px, "middle", "#1a1a1a");
    }
    if (view.y.title.empty() || (figure_.shared_y && !is_last)) return;
    const double middle = figure_.shared_y ? (layout_.grid_top + layout_.grid_bottom) / 2
                                           : view.top + view.height / 2;
    pen_.text(margin + 8, middle, axis_title(view.y), axis_px, "middle", "#1a1a1a",
              fmt::format(R"x( transform="rotate(-90 {} {})")x", px(margin + 8), px(middle)));
  }

  static std::string axis_title(const Axis& axis) {
    return axis.unit.empty() ? axis.title : fmt::format("{} [{}]", axis.title, axis.unit);
  }

  const Figure& figure_;
  const SvgLayout layout_;
  const SvgPanelSizes& sizes_;
  const bool is_small_;
  SvgPen pen_;
};

}  // namespace

std::string svg(const Figure& figure) { return SvgDrawing(figure).run(); }

}  // namespace ridgeline
