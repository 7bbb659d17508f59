// The Predictor of the program itself: catalog and priors, the model's predictions, its fits.
#pragma once

#include "cli/validation_run.h"

namespace ridgeline::cli {

Predictor model_predictor();

}  // namespace ridgeline::cli
