// Options of a training step: --train and what belongs to it.
// Shared by every command that takes a MODEL; the step itself is analyzer/training/training.h's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/training/training.h"
#include "cli/command.h"

namespace ridgeline::cli {

// --train as a switch, and its companions.
void add_training_options(OptionsDescription& options);

// The companions alone: --optimizer, --mixed-precision, --checkpoint, --freeze-until.
void add_training_details(OptionsDescription& options);

// Absent without --train; then its companions are usage errors.
std::optional<TrainingOptions> training_options(const Options& options);

// What the companions say; `wanted` tells whether there is training, whatever --train looks like.
std::optional<TrainingOptions> training_details(const Options& options, bool wanted);

// What a training step leaves out, in words.
std::vector<std::string> warnings_of(const Training& training);

}  // namespace ridgeline::cli
