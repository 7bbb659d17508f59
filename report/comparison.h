// ComparedRuns as a table for people and as CSV.
#pragma once

#include <string>

#include "planner/comparison.h"

namespace ridgeline {

std::string comparison_text(const ComparedRuns& comparison, int width);
// What one run gives at a rate, or as epochs of training.
std::string served_text(const ComparedRow& row, const Objective& objective, int width);

std::string to_csv(const ComparedRuns& comparison);

}  // namespace ridgeline
