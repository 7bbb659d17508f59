// What `plan` is asked: networks, machine, modes and goal, made into a problem of the planner.
// Options in, a problem out; solving it is planner/'s.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/requests/machine.h"
#include "cli/requests/network_variants.h"
#include "planner/planner.h"

namespace ridgeline::cli {

struct PlanAsked {
  std::string word;     // the network that is run: trained, or of inference
  std::string trained;  // beside it; empty where nothing is
  MachineSource source;
  Runtime runtime = Runtime::torch_eager;
  Objective objective;
  std::vector<std::string> notes;
  PlanProblem problem;
  std::optional<std::size_t> why;
};

PlanAsked plan_asked(const Options& options);

}  // namespace ridgeline::cli
