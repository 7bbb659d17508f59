// Plane geometry of a picture: where data is on the screen, and turned boxes and whether they
// touch. Screen y grows downwards; the length unit is the renderer's (pixel or terminal cell).
#pragma once

#include <array>

#include "plots/figure.h"

namespace ridgeline {

// The rectangle of the screen that shows the data range of a panel. Nothing is clipped: a panel
// keeps its data within its axes.
struct Viewport {
  double left = 0;
  double top = 0;
  double width = 1;
  double height = 1;
  Axis x;
  Axis y;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
  double screen_x(double value) const;
  double screen_y(double value) const;
  XY screen(XY data) const { return {screen_x(data.x), screen_y(data.y)}; }
};

struct Box {
  XY center;
  double width = 0;
  double height = 0;
  XY along{1, 0};  // unit vector of the width; (1, 0) = upright

  std::array<XY, 4> corners() const;
};

// A line as a box without height, so that one test serves boxes and lines.
Box segment_box(XY from, XY to);

// Touching edges do not count.
bool overlap(const Box& a, const Box& b);

// Whether all corners are within the upright rectangle.
bool inside(const Box& box, double left, double top, double right, double bottom);

// The point of an upright box that is nearest to a point outside it.
XY nearest_on(const Box& box, XY point);

}  // namespace ridgeline
