// Options of MODEL: sizes, type and control flow as a NetworkRequest, --train and what belongs to
// it as TrainingOptions. Shared by every command that takes a MODEL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/training/training.h"
#include "base/machine_model.h"
#include "base/runtime.h"
#include "cli/command.h"
#include "workloads/network.h"

namespace ridgeline::cli {

void add_network_options(OptionsDescription& options);

// What only an engine has: --onnx and --opt-profile. Those above include it.
void add_engine_options(OptionsDescription& options);

// Measured times of an engine, for commands that show them.
void add_times_option(OptionsDescription& options);

NetworkRequest network_request(const Options& options, const std::string& word);

// The same for a command where --batch and --dtype are lists: without both.
NetworkRequest network_request_without_lists(Options options, const std::string& word);

// --weights and --kv: what is stored in fewer bits than it is computed in.
void add_stored_types(OptionsDescription& options);
void read_stored_types(const Options& options, NetworkRequest& request);

// Within the limits that networks known by name have; an error names --batch.
std::int64_t parse_batch(const std::string& text);

// The model to predict this network with: with the network's own scales if the model was fitted to
// it. Networks in files are not fitted.
MachineModel model_for(const MachineModel& model, const NetworkRequest& request, Task task,
                       Runtime runtime);

// --train as a switch, and its companions.
void add_training_options(OptionsDescription& options);

// The companions alone: --optimizer, --mixed-precision, --checkpoint, --freeze-until.
void add_training_details(OptionsDescription& options);

// Absent without --train; then its companions are usage errors.
std::optional<TrainingOptions> training_options(const Options& options);

// What the companions say; `wanted` says whether there is training, whatever --train looks like.
std::optional<TrainingOptions> training_details(const Options& options, bool wanted);

}  // namespace ridgeline::cli
