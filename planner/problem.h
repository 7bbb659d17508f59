// PlanProblem: which network runs on which machine, in which modes, batches and types it could run,
// and whether it is served, trained or both. A value that owns all of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/conditions.h"
#include "base/machine_model.h"
#include "base/tokens.h"
#include "planner/candidates.h"
#include "planner/concurrent/run.h"
#include "planner/service.h"
#include "planner/training/run.h"
#include "roofline/model/memory.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

// The network with one batch size in one type; beside inference, with one minibatch of training.
struct PlanVariant {
  std::shared_ptr<const NetworkLoad> load;
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  std::shared_ptr<const NetworkLoad> trained{};  // training step beside inference; else null
  std::int64_t minibatch = 0;
  double input_bytes = 0;  // of a batch; 0 if unknown
  // For a language model that answers a prompt, which is `load`: one more token, and how many.
  std::shared_ptr<const NetworkLoad> token{};
  double tokens = 0;
  std::optional<MemoryFit> memory{};  // of all that runs; absent if the machine's is unknown
};

// "batch 4, fp16", with the minibatch that is trained beside it.
std::string text_of(const PlanVariant& variant);

// concurrent: training beside inference.
enum class Scenario { inference, training, concurrent };

template <>
struct TokenTable<Scenario> {
  static constexpr std::string_view noun = "task";
  static constexpr std::array<std::pair<Scenario, std::string_view>, 3> rows{
      {{Scenario::inference, "inference"},
       {Scenario::training, "training"},
       {Scenario::concurrent, "concurrent"}}};
};

struct PlanProblem {
  MachineModel model;
  std::string machine;  // its name in texts
  std::string network;  // its name in texts; beside inference: the network that serves
  CandidateModes candidates;
  std::vector<PlanVariant> variants;
  Conditions conditions;  // the operating point is that of each candidate
  Scenario scenario = Scenario::inference;
  HostWork host{};                   // around each sample; of Scenario::inference
  TrainingRun training{};            // of Scenario::training
  ConcurrentRun concurrent{};        // of Scenario::concurrent
  std::vector<std::string> notes{};  // what was assumed; for the plan's warnings
};

// What a batch at this cost is worth in this mode; the only place where the scenarios differ.
Service service_of(const PlanProblem& problem, std::size_t variant, std::size_t mode,
                   const BatchCost& cost, const Objective& objective);

// The time by which a slowdown is measured: of a batch, a mean epoch or a training step.
double pace_s(const PlanProblem& problem, std::size_t variant, std::size_t mode,
              const BatchCost& cost);

// "energy per sample", "energy per epoch", "time per trained sample".
std::string_view goal_text(Scenario scenario, Goal goal);

}  // namespace ridgeline
