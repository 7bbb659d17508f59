// How much a choice hangs on its limits: which of them binds, and whether 1 % more or less of one
// would lead to a mode that is far away.
#pragma once

#include <string>
#include <vector>

#include "planner/choice.h"

namespace ridgeline {

// A limit without which a better row could be had.
struct BindingLimit {
  Limit limit;
  double gain = 0;  // of the objective without it: 0.1 = 10 % less
};

// The one that costs most first.
std::vector<BindingLimit> binding_limits(Chooser& chooser, const Objective& objective,
                                         const Choice& chosen);

// One sentence for each limit and direction that flips the choice.
std::vector<std::string> flips(Chooser& chooser, const Objective& objective, const Choice& chosen);

}  // namespace ridgeline
