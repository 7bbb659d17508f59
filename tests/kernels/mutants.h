// Kernels that are wrong on purpose: bodies that do otherwise than the honest row beside them says.
// They are disassembled and never run; one file per architecture (x86/, aarch64/).
#pragma once

#include <string_view>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace ridgeline::testing {

struct Mutant {
  std::string_view what;    // the mistake
  std::string_view reason;  // part of what the proof must say; "" for an honest twin
  cpu::Kernel kernel;       // the honest row, with the mutated body
};

std::vector<Mutant> mutants();

}  // namespace ridgeline::testing
