// The options --on, --mode, --jetpack, --threads, --board-offset and --host-cpu as a
// MachineRequest. Which machine they name is decided in roofline/model/machine.h.
#pragma once

#include <string>

#include "cli/options.h"
#include "roofline/model/machine.h"

namespace ridgeline::cli {

// `without` names the machine that is taken if --on is not given.
void add_machine_options(OptionsDescription& options, const std::string& without = "this machine");
void add_board_offset_option(OptionsDescription& options);
void add_host_cpu_option(OptionsDescription& options);

MachineRequest machine_request(const Options& options);

// What a network is usually run with: tensorrt on a GPU, torch-eager on a CPU and for training.
Runtime usual_runtime(const MachineModel& model, bool trains);

}  // namespace ridgeline::cli
