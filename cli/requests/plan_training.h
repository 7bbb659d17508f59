// What the options of `plan` say of training: which networks, the dataset and its way to the
// device, the requests that are served meanwhile. Facts that nobody gave are assumed, and listed.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/requests/machine.h"
#include "planner/sweep.h"

namespace ridgeline::cli {

void add_plan_training_options(OptionsDescription& options);

// Which task the options ask for; those of another one are usage errors.
Scenario task_of(const Options& options);

// Dataset, storage, decoding and workers. With --strict an assumed fact is an Error with
// ExitCode::incomplete.
TrainingRun training_run(const Options& options, const MachineSource& source);

// The requests, and the input of training where --dataset is given.
ConcurrentRun concurrent_run(const Options& options, const MachineSource& source);

}  // namespace ridgeline::cli
