// The ceilings of a machine model at one operating point: rates × units × clock and bus × memory
// clock, as in the datasheet, and the bandwidth that a slow GPU clock lets through, which is fitted
// and marked as such. With a runtime also launch cost, energies and powers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ceilings.h"
#include "base/estimate.h"
#include "base/machine_model.h"
#include "base/operating_point.h"
#include "base/runtime.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {

// Pure. A peak is absent if the model lacks the rate or the point lacks the clock or the units.
Ceilings datasheet_ceilings(const MachineModel& model, const OperatingPoint& point);

// Adds launch cost, energy per operation and byte, idle and busy power, as far as the model has
// them.
Ceilings model_ceilings(const MachineModel& model, const OperatingPoint& point, Runtime runtime);

// Peaks of the DLAs, the accelerators beside the GPU. Operating points lack their clock.
std::vector<Peak> datasheet_dla_peaks(const MachineModel& model, double dla_hz);

// min(efficiency × peak, bytes per GPU clock × clock) with its 90 % interval; nullopt if the model
// lacks these terms.
std::optional<Estimate> usable_bandwidth(const MachineModel& model, const OperatingPoint& point);

// The roofline of these ceilings; `machine` is its display name.
Roofline datasheet_roofline(const MachineModel& model, const OperatingPoint& point,
                            const std::string& machine, const RooflineOptions& options);

}  // namespace ridgeline
