// Whether a run fits into the memory of the machine: --free-memory, and the refusal that says which
// batch, context, type, option or device would fit. What is needed and usable: see
// roofline/model/memory.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analyzer/training/training.h"
#include "cli/command.h"
#include "cli/requests/values.h"
#include "roofline/model/machine.h"
#include "roofline/model/memory.h"
#include "workloads/network.h"

namespace ridgeline::cli {

void add_free_memory_option(OptionsDescription& options);
std::optional<Given<double>> free_memory(const Options& options);

// A run that does not fit.
struct RefusedRun {
  NetworkRequest network;
  std::optional<TrainingOptions> training;
  Runtime runtime = Runtime::torch_eager;
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  std::string batch_option = "--batch";
  std::string length_option = {};  // that states the tokens; empty: --seq or --context
  std::string beside = {};         // the network that runs at the same time; empty: none
  MemoryFit fit{};
  // The fit of a variant of this network, with what runs beside it. `usable` is that of the machine
  // or of another device.
  std::function<MemoryFit(const RunMemory& memory, const MemoryAmount& usable)> fit_of{};
};

// Names the need, the usable memory, the largest batch that fits and, if none does, the longest
// context; the fix has only changes that were found to be enough. ExitCode::infeasible.
Error memory_error(const RefusedRun& run, const MachineSource& machine);

}  // namespace ridgeline::cli
