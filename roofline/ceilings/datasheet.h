// The ceilings of a machine at one operating point, by its model. Those of the datasheet: rates ×
// units × clock, bus × memory clock, and the one number that no datasheet has, how much of the
// bandwidth a slow GPU clock lets through, which comes from a fit and is marked so. With a runtime
// also launch cost, energies and powers.
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

// Pure. A peak is absent where the model lacks the rate or the point lacks the clock or the units.
Ceilings datasheet_ceilings(const MachineModel& model, const OperatingPoint& point);

// The same with launch cost, energy per operation and byte, idle and busy power. Absent where the
// model is silent.
Ceilings model_ceilings(const MachineModel& model, const OperatingPoint& point, Runtime runtime);

// Peaks of the accelerators beside the GPU, whose clock an operating point does not have.
std::vector<Peak> datasheet_dla_peaks(const MachineModel& model, double dla_hz);

// min(efficiency × peak, bytes per GPU clock × clock), with its 90 % interval; nullopt where the
// model lacks these terms.
std::optional<Estimate> usable_bandwidth(const MachineModel& model, const OperatingPoint& point);

// The picture of these ceilings; `machine` is the name for people.
Roofline datasheet_roofline(const MachineModel& model, const OperatingPoint& point,
                            const std::string& machine, const RooflineOptions& options);

}  // namespace ridgeline
