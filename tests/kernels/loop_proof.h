// The rule that proves a kernel's row against the machine code of its innermost loop.
// Static only: what the instructions compute is checked by running them (kernel_checks.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/kernel.h"
#include "tests/support/disassembly.h"

namespace ridgeline::testing {

// Differences between the loop and the row; empty = proved.
std::vector<std::string> check_loop(const cpu::Kernel& kernel, const Code& loop);

// The same for the function at an address: it must have one innermost loop.
std::vector<std::string> check_function(const cpu::Kernel& kernel,
                                        const std::map<std::uint64_t, Code>& functions,
                                        std::uint64_t address);

}  // namespace ridgeline::testing
