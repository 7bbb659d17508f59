// What the options of `plan` ask for: goal and limits, the modes among which to choose, batches and
// types. Words to values; a number whose unit is missing is asked back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/runtime.h"
#include "cli/command.h"
#include "planner/candidates.h"
#include "planner/goal.h"
#include "planner/sweep.h"

namespace ridgeline::cli {

void add_plan_options(OptionsDescription& options);

// Limits that contradict each other whatever the mode, or that the task does not have, are usage
// errors.
Objective objective_of(const Options& options, const std::vector<std::int64_t>& batches,
                       Scenario task);
CandidateOptions mode_wishes(const Options& options);

// --batch 1,2,4 and --dtype fp16,int8 as lists; empty where not given.
std::vector<std::int64_t> batches_of(const Options& options);
std::vector<DType> dtypes_of(const Options& options);

// The options with another value of one of them, as if it had been typed.
Options with_value(Options options, const char* name, const std::string& value);

}  // namespace ridgeline::cli
