// Options of a training step: --train and what belongs to it.
// Shared by every command that takes a MODEL; the step itself is analyzer/training.h's.
#pragma once

#include <optional>

#include "analyzer/training.h"
#include "cli/command.h"

namespace ridgeline::cli {

void add_training_options(OptionsDescription& options);

// Absent without --train; then its companions are usage errors.
std::optional<TrainingOptions> training_options(const Options& options);

}  // namespace ridgeline::cli
