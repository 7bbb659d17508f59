// Where everything goes on an SVG page: panels, labels, legend and caption.
// Apart from the drawing, so that tests can look at the boxes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plots/figure.h"
#include "plots/geometry.h"
#include "plots/label_layout.h"

namespace ridgeline {

// Sizes of the page and its text, in pixels.
namespace svg_page {
inline constexpr double width = 800;
inline constexpr double margin = 14;
inline constexpr double title_px = 15, axis_px = 12.5, legend_px = 11.5, caption_px = 10.5;
inline constexpr double line_height = 14, legend_height = 18, stamp_height = 18, title_height = 19;
inline constexpr double largest_bubble = 48;  // radius
}  // namespace svg_page

// Sizes that depend on how large the panels are, in pixels.
struct SvgPanelSizes {
  double head;                      // room above a panel for its title and note
  double label_px, tick_px;         // text
  double rim;                       // white, around labels
  int long_tick, short_tick;        //
  double tick_below, tick_left;     // from the frame to the text of a tick
  double axis_title;                // from the lowest frame to the title of the x axis
  double caption;                   // and to the caption's first line
  double end;                       // and to the end of a page without caption
  double below_legend, right_room;  //
};
const SvgPanelSizes& svg_panel_sizes(PanelSize size);

struct SvgPanel {
  Viewport view;  // the frame
  std::vector<PlacedLabel> labels;
};

struct SvgLayout {
  double width = 0;   // of the whole picture
  double height = 0;  //
  double legend_top = 0;
  double grid_top = 0;     // of the panels
  double grid_bottom = 0;  //
  std::vector<SvgPanel> panels;
  std::vector<std::string> title_lines;
  std::vector<std::string> stamp_lines;
  std::vector<std::string> caption_lines;
};

SvgLayout svg_layout(const Figure& figure);

// Width of UTF-8 text in a sans-serif of this size; errs on the wide side.
double text_width_px(std::string_view text, double font_px);

// As much of an entry's text as the page has room for.
std::string legend_text(const LegendEntry& entry);
// Space that an entry of the legend takes, with the gap behind it.
double legend_entry_width(const LegendEntry& entry);

}  // namespace ridgeline
