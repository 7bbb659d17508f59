// What a compute kernel starts from, and what it must end with: registers of one warp, on the host.
// The steps are those of the device's own loop bodies (bodies.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/kernel.h"

namespace ridgeline::cuda {

// Start values of `warps` warps in the layout that kernels read: by warp, by register, by lane.
// Chains of a thread start differently; values stay finite, normal and below overflow for ever.
std::vector<std::byte> start_registers(const Kernel& kernel, std::size_t warps, std::uint64_t seed);

// Takes `trips` trips with the registers of one warp.
void run_reference(const Kernel& kernel, std::uint32_t trips, std::span<std::byte> warp_registers);

}  // namespace ridgeline::cuda
