// Why a mode was not chosen: the limit that it breaks, or by how much another is better.
#pragma once

#include <string>
#include <vector>

#include "planner/choice.h"

namespace ridgeline {

struct WhyNot {
  std::size_t row = 0;     // the mode with the variant that serves it best
  bool is_chosen = false;  //
  double probability = 0;  // that all limits hold there
  double score_ratio = 1;  // of its score to the chosen one's
  std::vector<std::string> reasons;
};

WhyNot why_not(Chooser& chooser, const Objective& objective, const Choice& chosen,
               std::size_t mode);

}  // namespace ridgeline
