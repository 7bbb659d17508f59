// The start values of compute and clock kernels: different in every chain and lane, finite and
// bounded for any number of trips, so that rate and power are those of honest arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/kernel.h"

namespace ridgeline::cpu {

// Bytes of the state that the body of a compute or clock kernel reads and writes.
std::size_t state_bytes(const Kernel& kernel);

// Fills a state (64-byte aligned). The seed differs per thread.
void prepare_state(const Kernel& kernel, void* data, std::uint64_t seed);

}  // namespace ridgeline::cpu
