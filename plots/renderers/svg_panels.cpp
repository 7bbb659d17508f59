// Lays the panels out in two or three columns and draws them.
// A label that would touch one that stands already is left out; the table has all numbers.
#include "plots/renderers/svg_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plots/geometry.h"
#include "plots/renderers/svg_frame.h"
#include "plots/renderers/svg_layout.h"
#include "plots/renderers/svg_pen.h"
#include "plots/text_metrics.h"
#include "plots/ticks.h"
#include "plots/viewport.h"

namespace ridgeline {
namespace {

using namespace svg_page;

constexpr double left_room = 72, head = 40, small_px = 9.5, note_px = 10;
constexpr double gap_shared = 16, gap_own = 58;  // between columns, by whose y axis they have
constexpr double axis_room = 46;                 // below the last row: ticks and the axis' title

int columns_for(std::size_t panels) { return panels <= 1 ? 1 : panels <= 4 ? 2 : 3; }

class PanelDrawing {
 public:
  explicit PanelDrawing(const Panels& panels) : panels_(panels) {}

  std::string run() {
    lay_out();
    pen_.open(width, height_, panels_.title, panels_.description + " " + panels_.caption);
    pen_.text(margin, 24, panels_.title, title_px, "start", "#1a1a1a", R"( font-weight="bold")");
    draw_legend(pen_, panels_.legend, 32);
    for (std::size_t i = 0; i < panels_.panels.size(); ++i) panel(i);
    axis_titles();
    draw_caption(pen_, caption_, height_ - line_height * static_cast<double>(caption_.size()) + 4);
    return pen_.close();
  }

 private:
  bool has_own_y() const { return !panels_.column_y.empty(); }

  void lay_out() {
    const auto count = panels_.panels.size();
    columns_ = has_own_y() ? static_cast<int>(panels_.column_y.size()) : columns_for(count);
    gap_x_ = has_own_y() ? gap_own : gap_shared;
    rows_ = static_cast<int>((count + static_cast<std::size_t>(columns_) - 1) /
                             static_cast<std::size_t>(columns_));
    panel_width_ = (width - left_room - margin - gap_x_ * (columns_ - 1)) / columns_;
    panel_height_ = has_own_y() ? 165 : columns_ == 1 ? 360 : columns_ == 2 ? 240 : 190;
    top_ = 32 + legend_height * std::max(1, legend_rows(panels_.legend, width - margin)) + 6;
    bottom_ = top_ + rows_ * (head + panel_height_);
    caption_ = wrapped_lines(panels_.caption, caption_px, width - 2 * margin);
    height_ = bottom_ + axis_room + line_height * static_cast<double>(caption_.size()) + 8;
  }

  Viewport view_of(std::size_t index) const {
    const int row = static_cast<int>(index) / columns_;
    const int column = static_cast<int>(index) % columns_;
    Viewport view;
    view.left = left_room + column * (panel_width_ + gap_x_);
    view.top = top_ + row * (head + panel_height_) + head;
    view.width = panel_width_;
    view.height = panel_height_;
    view.x = panels_.x;
    view.y = has_own_y() ? panels_.column_y[static_cast<std::size_t>(column)] : panels_.y;
    return view;
  }

  void panel(std::size_t index) {
    const Panel& content = panels_.panels[index];
    const Viewport view = view_of(index);
    pen_.text(view.left, view.top - 19, content.title, label_px, "start", "#1a1a1a",
              R"( font-weight="bold")");
    pen_.text(view.left, view.top - 6, content.note, note_px, "start", "#5e5e5e");
    grid(view);
    for (const Series& series : content.series)
      if (series.style.width > 0 && series.points.size() > 1) {
        std::string d;
        for (const XY& point : series.points) {
          const XY at = view.screen(point);
          d += fmt::format("{}{} {}", d.empty() ? "M" : " L", px(at.x), px(at.y));
        }
        pen_.line(d, series.style);
      }
    pen_.element(
        fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#333333"/>)",
                    px(view.left), px(view.top), px(view.width), px(view.height)));
    for (const Series& series : content.series)
      if (series.style.marker != Marker::none)
        for (const XY& point : series.points) pen_.marker(view.screen(point), series.style);
    labels(content, view);
    const bool last_of_column = index + static_cast<std::size_t>(columns_) >= panels_.panels.size();
    const bool has_neighbour = static_cast<int>(index) % columns_ + 1 < columns_;
    ticks(view, has_own_y() || static_cast<int>(index) % columns_ == 0, last_of_column,
          has_neighbour && !has_own_y());
  }

  void grid(const Viewport& view) {
    std::string d;
    for (const Tick& tick : ticks_of(view.x, view.width, 46))
      if (!tick.label.empty())
        d += fmt::format("M{} {}V{}", px(view.screen_x(tick.value)), px(view.top),
                         px(view.bottom()));
    for (const Tick& tick : ticks_of(view.y, view.height, 26))
      if (!tick.label.empty())
        d += fmt::format("M{} {}H{}", px(view.left), px(view.screen_y(tick.value)),
                         px(view.right()));
    pen_.element(
        fmt::format(R"(<path d="{}" stroke="#000000" stroke-opacity="0.08" fill="none"/>)", d));
  }

  void labels(const Panel& content, const Viewport& view) {
    std::vector<Box> taken;
    const std::string rim =
        R"( stroke="#ffffff" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke")";
    for (const PanelLabel& label : content.labels)
      for (const Box& box : candidates(label, view)) {
        if (!inside(box, view.left, view.top, view.right(), view.bottom()) ||
            std::any_of(taken.begin(), taken.end(),
                        [&](const Box& other) { return overlap(box, other); }))
          continue;
        std::string more = rim;
        if (box.along.y != 0)
          more +=
              fmt::format(R"x( transform="rotate({} {} {})")x",
                          px(std::atan2(box.along.y, box.along.x) * 180 / 3.14159265358979323846),
                          px(box.center.x), px(box.center.y));
        pen_.text(box.center.x, box.center.y + small_px * 0.36, label.text, small_px, "middle",
                  color_of(label.ink).text, more);
        taken.push_back(box);
        break;
      }
  }

  // Where a label may stand, the best place first.
  static std::vector<Box> candidates(const PanelLabel& label, const Viewport& view) {
    const double label_width = text_width_px(label.text, small_px);
    const XY from = view.screen(label.from), to = view.screen(label.to);
    Box box{{}, label_width, small_px, {1, 0}};
    if (label.place == PanelLabel::Place::above_end) {
      box.center = {to.x - 5 - label_width / 2, to.y - 3 - small_px / 2};
      return {box};
    }
    if (label.place != PanelLabel::Place::along) {
      const bool above = label.place == PanelLabel::Place::above;
      std::vector<Box> boxes;
      for (const XY side : {above ? XY{0, -1.4} : XY{1, 1}, XY{-1, -1}, XY{1, -1}, XY{-1, 1}}) {
        box.center = {to.x + side.x * (6 + label_width / 2), to.y + side.y * (4 + small_px / 2)};
        boxes.push_back(box);
      }
      return boxes;
    }
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < label_width + 12) return {};
    box.along = {(to.x - from.x) / length, (to.y - from.y) / length};
    // Under the line and near its foot: above it may run the dashed peak, at its top the roofs.
    const double way = std::max(0.3 * length, label_width / 2 + 10);
    box.center = {from.x + box.along.x * way - box.along.y * 8,
                  from.y + box.along.y * way + box.along.x * 8};
    return {box};
  }

  // The label at the right edge would touch the first one of the next panel.
  void ticks(const Viewport& view, bool left, bool below, bool has_neighbour) {
    std::string d;
    for (const Tick& tick : ticks_of(view.x, view.width, 46)) {
      const double x = view.screen_x(tick.value);
      d += fmt::format("M{} {}v{}", px(x), px(view.bottom()), tick.label.empty() ? 2 : 4);
      const bool at_edge = x > view.right() - 3;
      if (below && !(at_edge && has_neighbour) && !tick.label.empty())
        pen_.text(x, view.bottom() + 15, tick.label, note_px, at_edge ? "end" : "middle",
                  "#333333");
    }
    for (const Tick& tick : ticks_of(view.y, view.height, 26)) {
      const double y = view.screen_y(tick.value);
      d += fmt::format("M{} {}h{}", px(view.left), px(y), tick.label.empty() ? -2 : -4);
      if (left && !tick.label.empty())
        pen_.text(view.left - 7, y + note_px * 0.36, tick.label, note_px, "end", "#333333");
    }
    pen_.element(fmt::format(R"(<path d="{}" stroke="#333333" fill="none"/>)", d));
  }

  void axis_titles() {
    pen_.text(left_room + (width - left_room - margin) / 2, bottom_ + 34,
              fmt::format("{} [{}]", panels_.x.title, panels_.x.unit), axis_px, "middle",
              "#1a1a1a");
    if (has_own_y()) return;  // the panels' titles say it
    const double middle = (top_ + bottom_) / 2;
    pen_.text(margin + 8, middle, fmt::format("{} [{}]", panels_.y.title, panels_.y.unit), axis_px,
              "middle", "#1a1a1a",
              fmt::format(R"x( transform="rotate(-90 {} {})")x", px(margin + 8), px(middle)));
  }

  const Panels& panels_;
  int columns_ = 1, rows_ = 1;
  double gap_x_ = 0, panel_width_ = 0, panel_height_ = 0, top_ = 0, bottom_ = 0, height_ = 0;
  std::vector<std::string> caption_;
  SvgPen pen_;
};

}  // namespace

std::string svg(const Panels& panels) { return PanelDrawing(panels).run(); }

}  // namespace ridgeline
