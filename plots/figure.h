// Figure: a picture as a value — a grid of panels with axes, zones, series and labels, and the
// title, legend and caption around it. Renderers are functions of it; it has no pixels.
#pragma once

#include <string>
#include <vector>

namespace ridgeline {

enum class Scale { linear, log };

struct Axis {
  std::string title;         // "Arithmetic intensity"
  std::string unit;          // "FLOP/byte"
  Scale scale = Scale::log;  //
  double low = 1;
  double high = 10;
  bool si_prefixes = false;  // ticks as "10 G" instead of "10000000000"
  double unit_size = 1;      // of `unit` in data units: 1e-3 where seconds are shown in ms
  bool has_ticks = true;     // false: the places have no meaning of their own, as those of bars
};

struct XY {
  double x = 0;
  double y = 0;
};

// Three palettes, so that a colour means one thing: blue to sky (Okabe and Ito) are data types and
// what is alike, indigo to sand (Tol's muted) what limits a layer, and ramp_1 to ramp_5 (dark to
// light) the steps of a quantity. tests/plots/palette_test.cpp checks each for every kind of colour
// vision and for grey print.
enum class Ink {
  black,
  grey,
  pale,
  blue,
  vermillion,
  green,
  purple,
  orange,
  sky,
  indigo,
  wine,
  teal,
  rose,
  sand,
  ramp_1,
  ramp_2,
  ramp_3,
  ramp_4,
  ramp_5
};
enum class Dash { solid, long_dash, dashed, dotted, dash_dot };
// A speck is one of very many: no label gives way to it.
enum class Marker { none, speck, dot, ring, square, diamond, open_diamond, star };

struct Style {
  Ink ink = Ink::black;
  Dash dash = Dash::solid;
  double width = 1.5;  // of the line; 0 = no line
  Marker marker = Marker::none;
  double opacity = 1;  // of markers that lie on each other
};

struct Interval {
  double low = 0;
  double high = 0;
};

struct Series {
  std::string name;                     // what the data is, for readers of the file
  std::vector<XY> points;               // in data units, within the axes
  Style style;                          //
  std::vector<Interval> y_intervals;    // empty, or one per point
  std::vector<double> areas{};          // empty, or one per point: bubbles, 1 = the whole
  std::vector<Interval> x_intervals{};  // empty, or one per point
};

// Where a label belongs; label_layout.h finds the place.
enum class LabelPlace {
  right_margin,  // outside the frame at the height of the anchor
  along,         // on the line from anchor to end, in its direction
  above_end,     // over a line that ends at the anchor
  beside,        // next to the anchor
  above,         // over the anchor
  left_of,       // ends at the anchor, moves up where it is taken
  right_of,      // begins at the anchor, moves up where it is taken
};

struct Label {
  std::string text;
  std::string short_text;  // where space is scarce; may be empty
  LabelPlace place = LabelPlace::beside;
  XY anchor;
  XY end;  // of the line, for `along`
  Ink ink = Ink::black;
  bool emphasis = false;  // the main line of the picture
};

struct Zone {
  std::string name;
  std::vector<XY> outline;  // closed polygon in data units
  Ink ink = Ink::grey;
  double opacity = 0.09;
};

struct LegendEntry {
  std::string text;
  Style style;
};

// One plot.
struct Panel {
  std::string title;  // of a small panel: "30W"
  std::string note;   // below it: "8 SM, GPU 612 MHz, memory 3.2 GHz"
  Axis x;
  Axis y;
  std::vector<Zone> zones;
  std::vector<Series> series;
  std::vector<Label> labels;  // of a small panel the more important first: later ones give way
  double height = 1;          // relative to the large panels above and below
};

// Large panels fill the page. Small ones are many, for comparison: each has a title, and its text
// is smaller.
enum class PanelSize { large, small };

struct Figure {
  std::string title;
  std::string stamp;          // a warning about all of it, right below the title; mostly empty
  std::string description;    // one or two sentences for those who cannot see the picture
  std::vector<Panel> panels;  // row by row; all have the same x axis, labelled at the bottom
  int columns = 1;
  PanelSize size = PanelSize::large;
  bool shared_y = false;  // all have the same y axis, labelled at the left
  std::vector<LegendEntry> legend;
  std::string caption;  // device, mode, date, sources
};

}  // namespace ridgeline
