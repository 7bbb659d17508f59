// Ticks of an axis: where they stand and what they say, as many as the length has room for.
// Labels carry SI prefixes or plain numbers; the unit stands in the axis title.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"

namespace ridgeline {

struct Tick {
  double value = 0;
  std::string label;  // empty for a minor tick
};

// `min_gap` is the least distance between labelled ticks, in the unit of `length`.
// Without UTF-8 powers of ten are spelled "1e-6".
// An axis of less than a decade is labelled at round steps, so that it always has numbers.
std::vector<Tick> ticks_of(const Axis& axis, double length, double min_gap, bool utf8 = true);

// Shows the axis in the prefixed unit that suits its middle: 0.002 … 0.05 s become 2 … 50 ms.
void choose_prefix(Axis& axis);

}  // namespace ridgeline
