// What `plan` is asked: networks, machine, modes and goal, made into a problem of the planner.
// Options in, a problem out; solving it is planner/'s.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/requests/machine.h"
#include "cli/requests/network_variants.h"
#include "planner/make_plan.h"

namespace ridgeline::cli {

// The problem points into the rest of it, so it stays where it is.
struct PlanAsked {
  PlanAsked() = default;
  PlanAsked(const PlanAsked&) = delete;
  PlanAsked& operator=(const PlanAsked&) = delete;

  std::string word;     // the network that is run: trained, or of inference
  std::string trained;  // beside it; empty where nothing is
  MachineSource source;
  Runtime runtime = Runtime::torch_eager;
  Objective objective;
  std::vector<std::string> notes;
  std::unique_ptr<NetworkVariants> networks, training;
  PlanProblem problem;
  DType trained_dtype = DType::fp32;
  std::optional<std::size_t> why;
};

std::unique_ptr<PlanAsked> plan_asked(const Options& options);

}  // namespace ridgeline::cli
