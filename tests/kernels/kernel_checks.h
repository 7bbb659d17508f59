// Runs a kernel's body and compares the memory it leaves behind with the expected result.
// Standard library and POSIX only: the same checks run natively and under an emulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace ridgeline::testing {

// The problems found; empty = correct. The CPU must support the kernel's instruction set.
//   compute: the state after 1, 2 and 7 trips equals the reference's, bit for bit
//   memory, sweep: results, nothing else written, nothing accessed outside, whole range walked
//   latency: follows the chain
//   clock: ends, and leaves its state unchanged
std::vector<std::string> check_results(const cpu::Kernel& kernel);

// After many trips of a compute kernel all values are finite, none is subnormal, and chains and
// lanes have not fallen into one orbit.
std::vector<std::string> check_values_stay_honest(const cpu::Kernel& kernel, std::uint64_t trips);

}  // namespace ridgeline::testing
