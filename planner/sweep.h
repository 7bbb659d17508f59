// Sweep: one network in every mode, batch and type, at the means of the parameters, in plain
// doubles. No solver and no search: every combination is evaluated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/conditions.h"
#include "base/machine_model.h"
#include "base/tokens.h"
#include "planner/concurrent/run.h"
#include "planner/periodic.h"
#include "planner/plan_modes.h"
#include "planner/training/run.h"
#include "roofline/model/network_load.h"
#include "roofline/model/step.h"

namespace ridgeline {

// The network as it would be run: one batch size in one type.
struct PlanVariant {
  const NetworkLoad* load = nullptr;  // not owned
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  // Beside inference: the training step; not owned.
  const NetworkLoad* trained = nullptr;
  std::int64_t minibatch = 0;
};

// "batch 4, fp16", with the minibatch that is trained beside it.
std::string text_of(const PlanVariant& variant);

enum class PlanTask { inference, training, concurrent };

template <>
struct TokenTable<PlanTask> {
  static constexpr std::string_view noun = "task";
  static constexpr std::array<std::pair<PlanTask, std::string_view>, 3> rows{
      {{PlanTask::inference, "inference"},
       {PlanTask::training, "training"},
       {PlanTask::concurrent, "concurrent"}}};
};

// Who runs what where; all of it outlives what is made of it.
struct PlanProblem {
  const MachineModel* model = nullptr;
  PlanModes modes;
  std::vector<PlanVariant> variants;  // of training: its step; of both: the inference
  Conditions conditions;              // its point is replaced by that of each mode
  PlanTask task = PlanTask::inference;
  TrainingRun training{};                     // where that is the task
  ConcurrentRun concurrent{};                 // where that is the task
  Runtime trained_by = Runtime::torch_eager;  // beside inference
};

// Modes × variants, variant by variant: the index of a row is variant × modes + mode.
struct Sweep {
  std::size_t modes = 0;
  std::vector<RunCost> costs;        // NaN times: the model cannot run there
  std::vector<double> fastest_s;     // per variant, among the modes that are allowed
  std::vector<std::size_t> fastest;  // rows

  std::size_t mode_of(std::size_t row) const { return row % modes; }
  std::size_t variant_of(std::size_t row) const { return row / modes; }
  std::size_t row(std::size_t variant, std::size_t mode) const { return variant * modes + mode; }
};

// An Error of the model is thrown where it holds for every mode.
Sweep sweep(const PlanProblem& problem);

// One combination with given coefficients; the scales of a draw are the caller's.
class CostModel {
 public:
  CostModel(const NetworkLoad& load, const Coefficients& coefficients);
  RunCost at(const Conditions& conditions) const;

 private:
  Coefficients coefficients_;
  StepModel model_;
};

// Adds the step of a network that is trained beside it.
void add_training(RunCost& cost, const RunCost& step);

}  // namespace ridgeline
