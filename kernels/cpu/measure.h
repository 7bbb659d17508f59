// Measures this CPU: runs a plan through the sampler and turns the series into profile rows.
// It neither prints nor stores.
#pragma once

#include <vector>

#include "base/profile.h"
#include "devices/machine/microarchitecture.h"
#include "devices/machine/topology.h"
#include "kernels/cpu/plan.h"
#include "kernels/power_meter.h"
#include "kernels/sampler.h"

namespace ridgeline::cpu {

// The mode itself is left to the caller, who knows how to read or set it. After an interruption
// the rows measured so far are there and conditions.complete is false. Rows above 102 % of theory
// have status `impossible`; the caller decides what that means. With a meter a part of the time
// goes to the power of the sweep rows and of the machine at rest.
ProfileMode measure(const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
                    const Topology& topology, const Microarchitecture* core,
                    const SamplerWorld& world, PowerMeter* meter = nullptr);

}  // namespace ridgeline::cpu
