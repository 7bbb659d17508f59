// Time, energy, power and bound of a network under given conditions, by a MachineModel.
// The formulas are in docs/model.md; intervals come from parameter draws with a fixed seed, made
// here at the edge: everything below computes in plain doubles.
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

// What a prediction says of single kernels. `values` and `intervals` have the same totals; those of
// `none` come from a shorter sum and may differ in the last digits.
enum class RowDetail { none, values, intervals };

struct PredictOptions {
  int draws = 200;  // of the parameters, for the intervals; 0: value only (low = value = high)
  std::uint64_t seed = 1;
  RowDetail rows = RowDetail::intervals;
};

// What the model lacks for the device (an operating point without a clock that the formulas need)
// is an Error that names it. A model without energy parameters predicts time only.
Prediction predict(const MachineModel& model, const NetworkLoad& load, const Conditions& conditions,
                   const PredictOptions& options = {});

// The same for draws that are at hand: coefficient_draws() of this model and runtime.
Prediction predict(const MachineModel& model, const NetworkLoad& load, const Conditions& conditions,
                   std::span<const CoefficientDraw> draws, RowDetail rows);

}  // namespace ridgeline
