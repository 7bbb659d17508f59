// The page from top to bottom; each frame is drawn as a plot of its own.
// Frames are as wide as the widest label beside any of them allows.
#include "plots/renderers/svg_stack.h"

#include <algorithm>
#include <numeric>

#include "plots/renderers/svg_frame.h"
#include "plots/renderers/svg_layout.h"
#include "plots/text_metrics.h"

namespace ridgeline {
namespace {

using namespace svg_page;

constexpr double all_frames = 640;  // height of the frames together
constexpr double gap = 14;          // between two of them
constexpr double top_room = 32, stack_axis_room = 56;

}  // namespace

std::string svg(const FigureStack& stack) {
  double right = 0;
  for (const Figure& figure : stack.figures) right = std::max(right, right_margin(figure));
  const double whole = std::accumulate(stack.heights.begin(), stack.heights.end(), 0.0);
  const auto caption = wrapped_lines(stack.caption, caption_px, width - 2 * margin);

  std::vector<Viewport> views;
  double y = top_room + legend_height * legend_rows(stack.legend, width - margin) + 10;
  for (std::size_t i = 0; i < stack.figures.size(); ++i) {
    Viewport view;
    view.left = frame_left;
    view.top = y;
    view.width = width - margin - right - view.left;
    view.height = all_frames * stack.heights[i] / whole;
    view.x = stack.figures[i].x;
    view.y = stack.figures[i].y;
    y = view.bottom() + gap;
    views.push_back(view);
  }
  const double bottom = views.back().bottom();

  SvgPen pen;
  pen.open(width, bottom + stack_axis_room + line_height * static_cast<double>(caption.size()) + 6,
           stack.title, stack.description + " " + stack.caption);
  pen.text(margin, 24, stack.title, title_px, "start", "#1a1a1a", R"( font-weight="bold")");
  draw_legend(pen, stack.legend, top_room);
  for (std::size_t i = 0; i < views.size(); ++i)
    draw_frame(pen, stack.figures[i], views[i],
               place_labels(stack.figures[i], views[i], svg_label_metrics(views[i])),
               i + 1 == views.size());
  draw_caption(pen, caption, bottom + stack_axis_room + 6);
  return pen.close();
}

}  // namespace ridgeline
