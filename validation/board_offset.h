// The power that a measuring rig adds to a module: carrier board, supply, whatever its sensor
// includes. One number per source and device, estimated from probes of that source; without probes
// the priors of offset and loss count. The sensor of a graphics card needs none.
#pragma once

#include "validation/predictor.h"

namespace ridgeline {

bool needs_board_offset(const Observation& row);

struct EstimatedOffset {
  double power_w = 0;
  double sigma_w = 0;
  int rows = 0;  // with power
};

// Median of measured power above the power predicted without an offset. Below zero if the model
// predicts too much: the rig then reads less than the module, or the model is wrong by that.
EstimatedOffset estimate_board_offset(const MachineModel& model, Observations probes,
                                      const Predictor& predictor);

// Replaces the wall offset too, but not the loss of the supply.
MachineModel with_board_offset(MachineModel model, const EstimatedOffset& offset);

// The parameters that say what a rig adds.
bool is_of_rig(const Parameter& parameter);

}  // namespace ridgeline
