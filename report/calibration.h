// A calibration and the suggested next probe as text.
#pragma once

#include <string>

#include "validation/calibration.h"
#include "validation/probes.h"

namespace ridgeline {

std::string calibration_text(const Calibration& calibration, int width);
std::string suggestion_text(const Suggestion& suggestion, int width);

}  // namespace ridgeline
