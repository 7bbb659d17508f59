// Plan: the mode, batch and type to use, what they cost, the alternatives, the reasons and how
// certain they are. A value with a JSON form; see planner.h for how it is made.
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
#include "planner/concurrent/planned_concurrency.h"
#include "planner/goal.h"
#include "planner/problem.h"
#include "planner/training/planned_training.h"
#include "roofline/model/memory.h"

namespace ridgeline {

// What the plan is for.
struct PlannedRun {
  std::string network;
  std::string device;   // id in the catalog, or as the model names it
  std::string machine;  // name in texts
  Runtime runtime = Runtime::ideal;
  Objective objective;
  Scenario scenario = Scenario::inference;
  std::size_t modes = 0;  // eligible ones
  std::size_t stock_modes = 0;
  bool leads_with_stock = false;
  std::size_t choices = 0;  // modes × batches × types
};

// One period of one batch, if samples arrive at a rate.
struct PlannedPeriod {
  double period_s = 0;
  double duty = 0;       // of the device
  double latency_s = 0;  // of a sample, with waiting
  std::optional<double> idle_w;
  std::optional<double> energy_j;  // with idle time
  std::optional<double> mean_power_w;
};

// What the mode gives to its user, idle time included; see planner/service.h.
struct PlannedService {
  std::int64_t minibatch = 1;
  double time_s = 0;         // of a batch, a mean epoch, or from one training step to the next
  double latency_s = 0;      // of a sample or request; of training the epoch
  double samples_per_s = 0;  // that can be served; trained if there is training
  std::optional<double> energy_j, mean_power_w,
      peak_power_w;  // energy: what Goal::energy minimises
};

// A language model in one mode: per request, of all sequences of its batch at once.
struct PlannedGeneration {
  double tokens = 0;                       // that each sequence gets
  Estimate first_token_s;                  // the prompt
  Estimate token_s;                        // from one token to the next
  Estimate tokens_per_s;                   // while it generates, of all sequences
  std::optional<Estimate> token_energy_j;  // of one token of one sequence
};

// One mode with a batch and a type, as predicted: time, power and energy of one batch.
struct PlannedMode {
  OperatingPoint point;
  std::string request;  // the vector in the grammar of --mode
  Reach reach = Reach::live;
  bool stock = false;
  std::optional<int> nvpmodel_id;  // of a stock mode
  std::string command;             // that enters it; empty if there is none
  std::string nearest_stock;       // empty if the device has none
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  Estimate time_s;
  std::optional<Estimate> power_w;
  std::optional<Estimate> energy_j;
  BoundBy bound = BoundBy::memory;
  double probability = 1;  // that all limits hold
  std::vector<Unfamiliar> unfamiliar;
  std::optional<PlannedPeriod> period;
  PlannedService service;
  std::optional<PlannedGeneration> generation;  // of a language model that answers a prompt
};

// What a user gets of the chosen mode where samples arrive at a rate or the host has work for each:
// with idle time and host work.
struct PlannedRate {
  Estimate latency_s;      // of a sample
  Estimate samples_per_s;  // that the mode could serve
  std::optional<Estimate> mean_power_w;
  std::optional<Estimate> sample_energy_j;
};

// A limit and how the chosen mode keeps it.
struct PlannedLimit {
  Limit limit;
  double value = 0;        // as predicted
  double probability = 1;  // that it holds
  // How much better the objective would be without the limit: 0.1 = 10 % less. Absent if the limit
  // does not bind.
  std::optional<double> gain_without;
};

// Against another mode with the same batch and type; fractions, negative if the choice costs more.
struct Saving {
  std::string mode;
  std::optional<double> energy;  // per sample: 0.3 = 30 % less
  std::optional<double> energy_low, energy_high;
  double time = 0;
};

// Another mode, and what it saves against the chosen one.
struct PlannedAlternative {
  PlannedMode mode;
  Saving saving;
};

// A point of the Pareto front.
struct FrontPoint {
  OperatingPoint point;  // with a label if it is a stock mode
  std::string request;
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  double time_s = 0;  // of one batch
  double latency_s = 0;
  double samples_per_s = 0;                 // served; trained if there is training
  std::optional<double> power_w, energy_j;  // mean power; energy that Goal::energy minimises
};

struct MeasureNext {
  OperatingPoint point;
  std::string command;  // that enters the mode; empty if there is none
  std::string request;
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  std::string reason;
};

// The mode with one knob one setting away from the choice; changes are fractions, 0.02 = 2 % more.
struct KnobChange {
  std::string knob;
  bool up = false;
  std::string request;
  double time_change = 0;
  std::optional<double> energy_change;  // per sample, with idle time
  double probability = 1;               // that all limits hold there
  bool holds = true;                    // with the required probability
};

// Why another mode was not chosen.
struct PlannedWhy {
  std::string mode;
  PlannedMode run;  // with the batch and type that suit it best
  std::vector<std::string> reasons;
};

struct Plan {
  static constexpr std::string_view schema = "ridgeline.plan/1";
  PlannedRun run;
  PlannedMode chosen;
  std::optional<MemoryFit> memory;   // of the chosen batch and type
  std::optional<PlannedRate> rated;  // of the chosen mode; absent if it is one batch after another
  // The best mode that needs no reboot, if the choice needs one or is at least 1 % worse; the best
  // of all, if it needs a reboot and is better than both.
  std::optional<PlannedAlternative> without_reboot, with_reboot;
  std::optional<PlannedAlternative> narrower_type;  // the plan in fp16 where the choice is fp32
  std::vector<PlannedLimit> limits;
  std::optional<Saving> vs_default, vs_fastest;
  std::vector<FrontPoint> pareto;
  std::vector<PlannedMode> runners_up;
  std::vector<PlannedMode> stock_runs;  // of a language model: it in every stock mode
  std::vector<MeasureNext> measure_next;
  std::vector<KnobChange> knob_changes;
  std::optional<PlannedWhy> why;
  std::optional<PlannedTraining> training;
  std::optional<PlannedConcurrency> concurrent;
  std::vector<std::string> warnings;
};

Json to_json(const PlannedMode& mode);
Json to_json(const Plan& plan);

// The label of a stock mode, else its vector in the grammar of --mode.
const std::string& name_of(const PlannedMode& mode);

}  // namespace ridgeline
