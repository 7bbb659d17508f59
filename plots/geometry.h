// The little plane geometry that label layout needs: turned boxes and whether they touch.
// Screen coordinates, y downwards.
#pragma once

#include <array>

#include "plots/figure.h"

namespace ridgeline {

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
