// What one architecture knows of an instruction set: its feature bits and a trial instruction.
// Implemented once per architecture (x86/, aarch64/); isa.cpp combines the two.
#pragma once

#include <string>

#include "kernels/cpu/isa.h"

namespace ridgeline::cpu {

// Empty where CPU and operating system list the instruction set, else the reason why not.
std::string missing_feature(Isa isa);

// Executes one instruction of the set; a fault ends the calling process.
void execute_trial(Isa isa);

// Asks the kernel for state that is not granted by default (AMX tiles); false where refused.
bool request_permission(Isa isa);

}  // namespace ridgeline::cpu
