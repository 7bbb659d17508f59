// Time, energy, power and bound of a network under given conditions, predicted by a MachineModel.
// The formulas are in docs/model.md. Intervals come from parameter draws with a fixed seed, made
// only here: everything below computes with plain doubles.
#pragma once

#include <cstdint>
#include <span>

#include "base/conditions.h"
#include "base/demand.h"
#include "base/machine_model.h"
#include "base/prediction.h"
#include "roofline/model/draws.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

// Detail for single kernels. `values` and `intervals` have the same totals; those of `none` come
// from a shorter sum and may differ in the last digits.
enum class RowDetail { none, values, intervals };

struct PredictOptions {
  int draws = 200;  // of the parameters, for the intervals; 0: value only (low = value = high)
  std::uint64_t seed = 1;
  RowDetail rows = RowDetail::intervals;
};

// Throws an Error that names what the model or the operating point lacks, such as a clock. A model
// without energy parameters predicts time only.
Prediction predict(const MachineModel& model, const NetworkLoad& load, const Conditions& conditions,
                   const PredictOptions& options = {});

// The same with existing draws: coefficient_draws() of this model and runtime.
Prediction predict(const MachineModel& model, const NetworkLoad& load, const Conditions& conditions,
                   std::span<const CoefficientDraw> draws, RowDetail rows);

}  // namespace ridgeline
