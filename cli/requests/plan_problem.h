// From a PlanRequest to a problem of the planner: networks are loaded in their batches and types,
// modes listed, and facts of training that are not given are assumed, with a note.
#pragma once

#include <optional>

#include "cli/requests/plan.h"
#include "planner/planner.h"
#include "roofline/model/machine.h"

namespace ridgeline::cli {

struct PlanSetup {
  std::optional<KnownDevice> device;  // of the catalog
  PlanProblem problem;
  PlanOptions options;
};

// Variants that do not fit into the machine's memory are left out. With --strict an assumed fact is
// an Error with ExitCode::incomplete.
PlanSetup plan_setup(const PlanRequest& request);

}  // namespace ridgeline::cli
