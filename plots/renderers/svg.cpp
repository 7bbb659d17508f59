// The page of one plot: title, legend, frame, caption, as svg_layout.cpp places them.
// How a plot is drawn is svg_frame.h's.
#include "plots/renderers/svg.h"

#include "plots/renderers/svg_frame.h"
#include "plots/renderers/svg_layout.h"
#include "plots/renderers/svg_pen.h"

namespace ridgeline {

using namespace svg_page;

std::string svg(const Figure& figure) {
  const SvgLayout layout = svg_layout(figure);
  SvgPen pen;
  pen.open(layout.width, layout.height, figure.title, figure.description + " " + figure.caption);
  pen.text(margin, 24, figure.title, title_px, "start", "#1a1a1a", R"( font-weight="bold")");
  for (std::size_t i = 0; i < layout.stamp_lines.size(); ++i)
    pen.text(margin, 24 + stamp_height * static_cast<double>(i + 1), layout.stamp_lines[i], axis_px,
             "start", color_of(Ink::vermillion).text, R"( font-weight="bold")");
  draw_frame(pen, figure, layout.view, layout.labels);
  draw_legend(pen, figure.legend, layout.legend_top);
  draw_caption(pen, layout.caption_lines, layout.view.bottom() + 62);
  return pen.close();
}

}  // namespace ridgeline
