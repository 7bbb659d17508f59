// Compares the loop of a CUDA kernel, as machine code and as PTX, with what its row declares.
// Pure functions: the code is read elsewhere (machine_code.h).
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/kernel.h"
#include "tests/kernels/cuda/machine_code.h"

namespace ridgeline::testing {

// Instructions of the loop, for the table in docs/cuda-kernels.md.
struct LoopCensus {
  int arithmetic = 0, loads = 0, stores = 0, combines = 0;
  int other = 0;           // instructions that the row does not declare
  int padding = 0;         // NOPs
  int in_flight = 0;       // loads that are issued before the first one is waited for
  double other_share = 0;  // issue cycles of the others over those of the bound unit
};

struct CodeProof {
  std::vector<std::string> problems;  // empty = the declaration holds
  LoopCensus census;
};

CodeProof prove_code(const cuda::Kernel& kernel, const GpuCode& code);

std::vector<std::string> prove_ptx(const cuda::Kernel& kernel,
                                   const std::vector<std::vector<std::string>>& loops);

}  // namespace ridgeline::testing
