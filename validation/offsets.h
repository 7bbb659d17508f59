// The power that a measuring rig adds to a module: carrier board, supply, what its sensor includes.
// One number per source and device, estimated from rows of that source; a card's own sensor needs
// none.
#pragma once

#include <span>
#include <vector>

#include "validation/run.h"

namespace ridgeline {

bool needs_board_offset(const Observation& row);

struct EstimatedOffset {
  double power_w = 0;
  double sigma_w = 0;
  int rows = 0;  // with power
};

// The median of what is measured above the prediction without an offset; zero where it is below.
EstimatedOffset estimate_board_offset(const MachineModel& model, Measurements rows,
                                      const Predictor& predictor);

// The model with this offset and no other, as a wall's in general.
MachineModel with_board_offset(MachineModel model, const EstimatedOffset& offset);
MachineModel without_board_offset(MachineModel model);

}  // namespace ridgeline
