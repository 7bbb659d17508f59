// Where everything goes on the SVG page: frame, legend, caption and labels.
// Apart from the drawing, so that tests can look at the boxes.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"
#include "plots/label_layout.h"
#include "plots/viewport.h"

namespace ridgeline {

// Sizes of the page and its text, in pixels.
namespace svg_page {
inline constexpr double width = 800;
inline constexpr double margin = 14;
inline constexpr double frame_left = 72;  // room for the y axis
inline constexpr double title_px = 15, label_px = 11.5, tick_px = 11, axis_px = 12.5,
                        caption_px = 10.5;
inline constexpr double line_height = 14, legend_height = 18, stamp_height = 18;
}  // namespace svg_page

struct SvgLayout {
  double width = 0;   // of the whole picture
  double height = 0;  //
  Viewport view;      // the frame
  double legend_top = 0;
  std::vector<std::string> stamp_lines;
  std::vector<std::string> caption_lines;
  std::vector<PlacedLabel> labels;
};

SvgLayout svg_layout(const Figure& figure);

// Space that an entry of the legend takes, with the gap behind it.
double legend_entry_width(const LegendEntry& entry);
int legend_rows(const std::vector<LegendEntry>& legend, double width);

// Space for the labels right of the frame.
double right_margin(const Figure& figure);

// What the label layout must know of this page's text, for a frame that stands there.
LabelMetrics svg_label_metrics(const Viewport& view);

}  // namespace ridgeline
