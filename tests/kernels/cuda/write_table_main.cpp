// Prints docs/cuda-kernels.md; fails where a kernel does not hold what it declares.
#include <cstdio>
#include <exception>

#include "tests/kernels/cuda/code_table.h"

int main() {
  try {
    const auto table = ridgeline::testing::compile_all(RIDGELINE_NVCC);
    bool holds = true;
    for (const auto& [name, proofs] : table.proofs)
      for (const auto& [architecture, proof] : proofs)
        for (const std::string& problem : proof.problems) {
          std::fprintf(stderr, "%s on sm_%d: %s\n", name.c_str(), architecture, problem.c_str());
          holds = false;
        }
    std::fputs(ridgeline::testing::to_markdown(table).c_str(), stdout);
    return holds ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
