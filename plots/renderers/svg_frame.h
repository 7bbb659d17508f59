// What SVG pages are made of: the inside of a plot, the legend, the caption.
// Where they go on a page is decided by svg_layout.h, svg_panels.h and svg_stack.h.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"
#include "plots/label_layout.h"
#include "plots/renderers/svg_pen.h"
#include "plots/viewport.h"

namespace ridgeline {

// One plot from back to front. Without x labels it still has the ticks: a plot below has the same.
void draw_frame(SvgPen& pen, const Figure& figure, const Viewport& view,
                const std::vector<PlacedLabel>& labels, bool with_x_labels = true);

void draw_legend(SvgPen& pen, const std::vector<LegendEntry>& legend, double top);
void draw_caption(SvgPen& pen, const std::vector<std::string>& lines, double first_line);

}  // namespace ridgeline
