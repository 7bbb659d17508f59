// Panels: small multiples as a value — little plots, one or a row of them per mode, all with the
// same x axis; the y axis is shared by all of them or by a column.
// Nothing of pixels; svg_panels.h draws them.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"

namespace ridgeline {

// A text on a line of a panel.
struct PanelLabel {
  enum class Place { above_end, along, beside, above };

  std::string text;
  // Over the right end of a roof, on a slope in its direction, next to or over the point `to`.
  Place place = Place::above_end;
  XY from;  // of the line
  XY to;    //
  Ink ink = Ink::black;
};

struct Panel {
  std::string title;  // "30W"
  std::string note;   // "8 SM, GPU 612 MHz, memory 3.2 GHz"
  std::vector<Series> series;
  std::vector<PanelLabel> labels;  // the more important first: later ones give way
};

struct Panels {
  std::string title;
  std::string description;
  Axis x;
  Axis y;                      // of all panels, unless columns have their own
  std::vector<Axis> column_y;  // empty, or one per column: panels then go row by row
  std::vector<Panel> panels;
  std::vector<LegendEntry> legend;
  std::string caption;
};

}  // namespace ridgeline
