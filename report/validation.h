// A validation as text and as CSV.
#pragma once

#include <string>

#include "validation/validation.h"

namespace ridgeline {

std::string validation_text(const Validation& validation, int width);
std::string validation_csv(const Validation& validation);  // one line per scored row

}  // namespace ridgeline
