// Viewport: the rectangle of the screen that shows the data range of a figure.
// Screen y grows downwards; the length unit is the renderer's (pixel, dot or cell).
#pragma once

#include "plots/figure.h"

namespace ridgeline {

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

}  // namespace ridgeline
