// Compiles every code group for every architecture that nvcc has and proves each kernel: the table
// of docs/cuda-kernels.md. Takes a minute.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/kernels/cuda/code_proof.h"

namespace ridgeline::testing {

struct CodeTable {
  std::string toolkit;             // "13.0"
  std::vector<int> architectures;  // that were compiled for, ascending
  // By kernel, then by architecture; absent where the kernel does not run.
  std::map<std::string, std::map<int, CodeProof>> proofs;
};

// Throws std::runtime_error with nvcc's own words where it fails.
CodeTable compile_all(const std::string& nvcc);

// The whole page.
std::string to_markdown(const CodeTable& table);

}  // namespace ridgeline::testing
