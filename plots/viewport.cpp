// Data to screen, on linear and logarithmic axes.
// No clipping: a figure keeps its data within its axes.
#include "plots/viewport.h"

#include <cmath>

namespace ridgeline {
namespace {

// 0 at the low end of the axis, 1 at the high end.
double position(const Axis& axis, double value) {
  if (axis.scale == Scale::linear) return (value - axis.low) / (axis.high - axis.low);
  return std::log(value / axis.low) / std::log(axis.high / axis.low);
}

}  // namespace

double Viewport::screen_x(double value) const { return left + width * position(x, value); }

double Viewport::screen_y(double value) const { return top + height * (1 - position(y, value)); }

}  // namespace ridgeline
