// The power that a measuring rig adds to a module: carrier board, supply, whatever its sensor
// includes. One number per source and device, estimated from the rows of that source; the sensor of
// a graphics card needs none.
#pragma once

#include "validation/predictor.h"

namespace ridgeline {

bool needs_board_offset(const Observation& row);

struct EstimatedOffset {
  double power_w = 0;
  double sigma_w = 0;
  int rows = 0;  // with power
};

// Median of measured power above the power predicted without an offset; not below zero.
EstimatedOffset estimate_board_offset(const MachineModel& model, Observations rows,
                                      const Predictor& predictor);

// Also zeroes the wall offset.
MachineModel with_board_offset(MachineModel model, const EstimatedOffset& offset);
MachineModel without_board_offset(MachineModel model);

}  // namespace ridgeline
