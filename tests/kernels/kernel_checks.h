// Runs a kernel's body and compares all that it leaves in memory with what it must compute.
// Standard library and POSIX only: the same checks run natively and under an emulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace ridgeline::testing {

// What is wrong; empty = correct. The CPU must run the kernel's instruction set.
//   compute: the state after 1, 2 and 7 trips is the reference's, bit for bit
//   memory, sweep: results, nothing else touched, no byte outside, the whole range walked
//   latency: follows the chain
//   clock: ends, and leaves its state alone
std::vector<std::string> check_results(const cpu::Kernel& kernel);

// After many trips of a compute kernel all values are finite, none is subnormal, and chains and
// lanes have not fallen into one orbit.
std::vector<std::string> check_values_stay_honest(const cpu::Kernel& kernel, std::uint64_t trips);

}  // namespace ridgeline::testing
