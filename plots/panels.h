// Panels: small multiples as a value — one little plot per mode, all with the same axes.
// Nothing of pixels; svg_panels.h draws them.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"

namespace ridgeline {

// A text on a line of a panel.
struct PanelLabel {
  enum class Place { above_end, along };

  std::string text;
  Place place = Place::above_end;  // over the right end of a roof, or on a slope in its direction
  XY from;                         // of the line
  XY to;                           //
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
  Axis y;
  std::vector<Panel> panels;
  std::vector<LegendEntry> legend;
  std::string caption;
};

}  // namespace ridgeline
