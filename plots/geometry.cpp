// Data to screen on linear and logarithmic axes; boxes by the separating axis theorem, where
// rounding errors below a thousandth of a unit are forgiven.
#include "plots/geometry.h"

#include <algorithm>
#include <cmath>

namespace ridgeline {
namespace {

constexpr double forgiven = 1e-3;

// 0 at the low end of the axis, 1 at the high end.
double position(const Axis& axis, double value) {
  if (axis.scale == Scale::linear) return (value - axis.low) / (axis.high - axis.low);
  return std::log(value / axis.low) / std::log(axis.high / axis.low);
}

// Whether the boxes are apart when seen along one direction.
bool apart(const std::array<XY, 4>& a, const std::array<XY, 4>& b, XY direction) {
  const auto extent = [&](const std::array<XY, 4>& corners) {
    Interval range{INFINITY, -INFINITY};
    for (const XY& corner : corners) {
      const double along = corner.x * direction.x + corner.y * direction.y;
      range = {std::min(range.low, along), std::max(range.high, along)};
    }
    return range;
  };
  const Interval range_a = extent(a), range_b = extent(b);
  return range_a.high <= range_b.low + forgiven || range_b.high <= range_a.low + forgiven;
}

}  // namespace

double Viewport::screen_x(double value) const { return left + width * position(x, value); }

double Viewport::screen_y(double value) const { return top + height * (1 - position(y, value)); }

std::array<XY, 4> Box::corners() const {
  const XY u{along.x * width / 2, along.y * width / 2};
  const XY v{-along.y * height / 2, along.x * height / 2};
  return {{{center.x - u.x - v.x, center.y - u.y - v.y},
           {center.x + u.x - v.x, center.y + u.y - v.y},
           {center.x + u.x + v.x, center.y + u.y + v.y},
           {center.x - u.x + v.x, center.y - u.y + v.y}}};
}

Box segment_box(XY from, XY to) {
  const double dx = to.x - from.x, dy = to.y - from.y;
  const double length = std::sqrt(dx * dx + dy * dy);
  const XY along = length > 0 ? XY{dx / length, dy / length} : XY{1, 0};
  return {{(from.x + to.x) / 2, (from.y + to.y) / 2}, length, 0, along};
}

bool overlap(const Box& a, const Box& b) {
  // Most pairs are far apart or upright; the general test is for the rest.
  const double dx = std::abs(a.center.x - b.center.x), dy = std::abs(a.center.y - b.center.y);
  if (a.along.y == 0 && b.along.y == 0)
    return dx < (a.width + b.width) / 2 - forgiven && dy < (a.height + b.height) / 2 - forgiven;
  const double reach = (a.width + a.height + b.width + b.height) / 2;
  if (dx > reach || dy > reach) return false;
  const auto corners_a = a.corners(), corners_b = b.corners();
  for (const XY& along : {a.along, b.along})
    if (apart(corners_a, corners_b, along) || apart(corners_a, corners_b, {-along.y, along.x}))
      return false;
  return true;
}

bool inside(const Box& box, double left, double top, double right, double bottom) {
  for (const XY& corner : box.corners())
    if (corner.x < left - forgiven || corner.x > right + forgiven || corner.y < top - forgiven ||
        corner.y > bottom + forgiven)
      return false;
  return true;
}

XY nearest_on(const Box& box, XY point) {
  return {std::clamp(point.x, box.center.x - box.width / 2, box.center.x + box.width / 2),
          std::clamp(point.y, box.center.y - box.height / 2, box.center.y + box.height / 2)};
}

}  // namespace ridgeline
