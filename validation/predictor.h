// The Predictor of the program itself: catalog and priors, the model's predictions, its fits.
#pragma once

#include <string>

#include "validation/run.h"

namespace ridgeline {

// A processor is predicted from its own profile: `profile` is its file, empty for the newest one of
// this machine.
Predictor model_predictor(const std::string& profile = {});

}  // namespace ridgeline
