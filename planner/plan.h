// Plan: the mode, batch and type to use, what that costs, what else was near, why, and how sure.
// A value with a JSON form; make_plan.h makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/mode_request.h"
#include "base/operating_point.h"
#include "base/prediction.h"
#include "base/runtime.h"
#include "base/tokens.h"
#include "planner/concurrent/concurrent_plan.h"
#include "planner/objective.h"
#include "planner/training/train_plan.h"

namespace ridgeline {

// What the plan is about, in the words of whoever asked.
struct PlannedRun {
  std::string network;
  std::string device;   // id of the catalog, or as the model names it
  std::string machine;  // name for people
  Runtime runtime = Runtime::ideal;
  Objective objective;
  PlanTask task = PlanTask::inference;
  std::size_t modes = 0;    // that were evaluated and may be chosen
  std::size_t choices = 0;  // modes × batches × types
};

// Where work comes at a rate: one period of one batch.
struct PlannedPeriod {
  double period_s = 0;
  double duty = 0;
  double latency_s = 0;  // of a sample, waiting included
  std::optional<double> idle_w;
  std::optional<double> energy_j;  // idle time included
  std::optional<double> mean_power_w;
};

// Of training, or of training beside inference: what an objective looks at.
struct PlannedService {
  std::int64_t minibatch = 1;
  double time_s = 0;         // of a mean epoch, or from one training step to the next
  double latency_s = 0;      // of a request; of training the epoch
  double samples_per_s = 0;  // trained
  std::optional<double> energy_j, mean_power_w, peak_power_w;  // energy as the goal has it
};

// One way to run, as predicted: time, power and energy are those of one batch.
struct PlannedMode {
  OperatingPoint point;
  std::string request;  // the vector in the grammar of --mode
  Reach reach = Reach::live;
  bool stock = false;
  std::string nearest_stock;  // empty where the device has none
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  Estimate time_s;
  std::optional<Estimate> power_w;
  std::optional<Estimate> energy_j;
  BoundBy bound = BoundBy::memory;
  double probability = 1;  // that all limits hold
  std::optional<PlannedPeriod> period;
  std::optional<PlannedService> service;  // absent for inference alone
};

// A limit as it stands for the chosen mode.
struct PlannedLimit {
  Limit limit;
  double value = 0;                    // as predicted
  double probability = 1;              // that it holds
  std::optional<double> gain_without;  // of the objective; absent where it does not bind
};

// Against another mode with the same batch and type; fractions, negative: it costs more.
struct Saving {
  std::string mode;
  std::optional<double> energy;  // per sample: 0.3 = 30 % less
  std::optional<double> energy_low, energy_high;
  double time = 0;
};

// A point of the front.
struct FrontPoint {
  OperatingPoint point;  // with a label where it is a stock mode
  std::string request;
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  double time_s = 0;  // of one batch
  double latency_s = 0;
  double samples_per_s = 0;                 // of training: that are trained
  std::optional<double> power_w, energy_j;  // mean power; energy as the goal has it
};

struct MeasureNext {
  std::string request;
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  std::string reason;
};

// One step of one knob away from the choice; changes are fractions, 0.02 = 2 % more.
struct PlannedStep {
  std::string knob;
  bool up = false;
  std::string request;
  double time_change = 0;
  std::optional<double> energy_change;  // per sample, idle time included
  double probability = 1;               // that all limits hold there
  bool holds = true;                    // with the probability that was asked for
};

struct PlannedWhy {
  std::string mode;
  PlannedMode run;  // with the batch and type that serve it best
  std::vector<std::string> reasons;
};

struct Plan {
  static constexpr std::string_view schema = "ridgeline.plan/1";
  PlannedRun run;
  PlannedMode chosen;
  std::optional<PlannedMode>
      other_reach;  // best without a reboot, or after one: what was not asked
  std::vector<PlannedLimit> limits;
  std::optional<Saving> vs_default, vs_fastest;
  std::vector<FrontPoint> pareto;
  std::vector<PlannedMode> runners_up;
  std::vector<MeasureNext> measure_next;
  std::vector<PlannedStep> steps;
  std::optional<PlannedWhy> why;
  std::optional<PlannedTraining> training;
  std::optional<PlannedConcurrency> concurrent;
  std::vector<std::string> warnings;
};

Json to_json(const Plan& plan);

// The label of a stock mode, else its vector.
const std::string& name_of(const PlannedMode& mode);

}  // namespace ridgeline
