// Planning problems for workloads on catalog devices.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/choice.h"
#include "planner/planner.h"
#include "planner/sweep.h"
#include "planner/sweep_draws.h"
#include "roofline/model/draws.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {

struct Planned {
  PlanProblem problem;

  Planned(std::string_view device, std::string_view network, Runtime runtime,
          const std::vector<std::int64_t>& batches = {1}, std::string_view options = "",
          const CandidateOptions& candidates = {}) {
    problem.model = model_of(device);
    const catalog::Device entry = catalog::load(device);
    const catalog::Configuration& configuration = catalog::configuration(entry);
    problem.candidates =
        candidate_modes(entry, configuration, default_mode(entry, configuration), candidates);
    problem.conditions.runtime = runtime;
    for (const std::int64_t batch : batches)
      problem.variants.push_back(
          {std::make_shared<const NetworkLoad>(load_of(network, runtime, batch, "fp16", options)),
           batch, DType::fp16});
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;

  PlanResult plan(const Objective& objective, const PlanOptions& options = {}) const {
    return make_plan(problem, objective, options);
  }
};

// The same with what a plan chooses by: the sweep of all modes, and draws of it.
struct Drawn : Planned {
  Sweep swept;
  std::vector<CoefficientDraw> draws;
  SweepDraws sweep_draws;
  Chooser chooser;

  Drawn(int count, std::string_view device, std::string_view network, Runtime runtime,
        const std::vector<std::int64_t>& batches, const CandidateOptions& candidates)
      : Planned(device, network, runtime, batches, "", candidates),
        swept(sweep(problem)),
        draws(coefficient_draws(problem.model, runtime, count, 1)),
        sweep_draws(problem, swept, draws),
        chooser(problem, swept, sweep_draws, Reach::reboot) {}
};

inline Objective least(Goal goal, std::vector<Limit> limits = {}) {
  Objective objective;
  objective.goal = goal;
  objective.limits = std::move(limits);
  return objective;
}

inline Objective at_rate(double per_s, bool at_random = false) {
  Objective objective;
  objective.arrivals = Arrivals{per_s, at_random};
  objective.limits = {{LimitKind::arrivals, 1 / per_s, 0, "--fps"}};
  return objective;
}

}  // namespace ridgeline::testing
