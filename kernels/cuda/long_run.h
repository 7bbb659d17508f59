// A tuned kernel that runs on and on, for a power sensor to watch.
// The sensor and the mean of its readings are kernels/power_meter.h's.
#pragma once

#include "kernels/cuda/bench.h"
#include "kernels/power_meter.h"

namespace ridgeline::cuda {

// Bursts of a trial; they say how many bytes they moved. The bench must outlive them.
PowerMeter::Burst long_run(Bench& bench, std::size_t index);

}  // namespace ridgeline::cuda
