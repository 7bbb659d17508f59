// Kernels that are wrong on purpose: their bodies differ from the honest row they pose as.
// They are disassembled and never run; one file per architecture (x86/, aarch64/).
#pragma once

#include <string_view>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace ridgeline::testing {

struct Mutant {
  std::string_view what;    // the mistake
  std::string_view reason;  // part of the expected problem; "" for an honest twin
  cpu::Kernel kernel;       // the honest row, with the mutated body
};

std::vector<Mutant> mutants();

}  // namespace ridgeline::testing
