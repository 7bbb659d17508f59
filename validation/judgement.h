// Whether a measured row can be true, by what the model says of it.
// A doubt is a sentence; bending the model to such a row would be worse than leaving it out.
#pragma once

#include <string>

#include "validation/validation.h"

namespace ridgeline {

enum class Doubt { none, contradiction, wrong_unit };

struct Judgement {
  Doubt doubt = Doubt::none;
  std::string reason;
};

// `least_time_s` is the roof's bound: no run is faster.
Judgement judge(const Observation& row, const Forecast& forecast, double least_time_s);

}  // namespace ridgeline
