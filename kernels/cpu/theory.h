// The rate that ports, width and clock allow: what a measured rate is compared with.
// Absent where the microarchitecture table has no number; nothing is guessed.
#pragma once

#include <optional>

#include "devices/machine/microarchitecture.h"
#include "kernels/cpu/kernel.h"

namespace ridgeline::cpu {

// Work per cycle and core: FLOP (OP) for compute kernels, bytes for reads from L1.
std::optional<double> theory_per_cycle(const Kernel& kernel, const Microarchitecture* core);

}  // namespace ridgeline::cpu
