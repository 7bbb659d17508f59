// Sweeps written by hand: modes with their clocks and what a batch costs in each, so that every
// choice can be worked out by hand. There are no draws: probabilities are 0 or 1.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "planner/choice.h"
#include "planner/sweep.h"
#include "planner/sweep_draws.h"

namespace ridgeline::testing {

struct HandMode {
  double gpu_hz = 0;
  double time_s = 0, power_w = 0, idle_w = 0;
  double memory_hz = 2e9;
  double cpu_hz = 1e9;
  int cores = 4;
  std::string label = "";  // a stock mode has one
  Reach reach = Reach::live;
  bool allowed = true;
};

struct Handmade {
  PlanProblem problem;
  Sweep swept;
  SweepDraws draws;
  Chooser chooser;

  // A batch of several samples takes as many times as long and the same power.
  explicit Handmade(const std::vector<HandMode>& modes,
                    const std::vector<std::int64_t>& batches = {1}, Reach reach = Reach::reboot,
                    bool stock_only = false)
      : problem(problem_of(modes, batches, reach)),
        swept(sweep_of(problem, modes)),
        draws(problem, swept, {}),
        chooser(problem, swept, draws, reach, stock_only) {}
  Handmade(const Handmade&) = delete;
  Handmade& operator=(const Handmade&) = delete;

  // The rows of the choices, the best first.
  static std::vector<std::size_t> rows(const std::vector<Choice>& choices) {
    std::vector<std::size_t> result;
    for (const Choice& choice : choices) result.push_back(choice.row);
    return result;
  }

 private:
  static PlanProblem problem_of(const std::vector<HandMode>& modes,
                                const std::vector<std::int64_t>& batches, Reach reach) {
    PlanProblem problem;
    problem.machine = "a board";
    problem.network = "a network";
    problem.candidates.reach = reach;
    for (const HandMode& mode : modes) {
      OperatingPoint point;
      point.label = mode.label;
      point.gpu_hz = mode.gpu_hz;
      point.memory_hz = mode.memory_hz;
      point.cpu_hz = {mode.cpu_hz};
      point.cpu_cores = mode.cores;
      problem.candidates.modes.push_back(
          {point, mode.reach, !mode.label.empty(), mode.allowed, {}});
    }
    for (const std::int64_t batch : batches) {
      PlanVariant variant;
      variant.batch = batch;
      problem.variants.push_back(variant);
    }
    return problem;
  }

  static Sweep sweep_of(const PlanProblem& problem, const std::vector<HandMode>& modes) {
    Sweep result;
    result.modes = modes.size();
    for (const PlanVariant& variant : problem.variants) {
      double least_s = INFINITY;
      std::size_t fastest = 0;
      for (std::size_t mode = 0; mode < modes.size(); ++mode) {
        BatchCost cost;
        cost.time_s = static_cast<double>(variant.batch) * modes[mode].time_s;
        cost.power_w = modes[mode].power_w;
        cost.idle_w = modes[mode].idle_w;
        if (problem.candidates.is_eligible(mode) && cost.time_s < least_s) {
          least_s = cost.time_s;
          fastest = result.costs.size();
        }
        result.costs.push_back(cost);
      }
      result.fastest_s.push_back(least_s);
      result.fastest.push_back(fastest);
    }
    return result;
  }
};

}  // namespace ridgeline::testing
