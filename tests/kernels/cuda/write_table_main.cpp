// Writes docs/cuda-kernels.md; fails if a kernel differs from its row. Without an older toolkit the
// page's second part stays as it is.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/atomic_file.h"
#include "base/text_file.h"
#include "tests/kernels/cuda/code_table.h"

namespace {

using namespace ridgeline;
using namespace ridgeline::testing;

bool holds(const CodeTable& table) {
  bool all = true;
  for (const auto& [name, proofs] : table.proofs)
    for (const auto& [architecture, proof] : proofs)
      for (const std::string& problem : proof.problems) {
        std::fprintf(stderr, "%s on sm_%d: %s\n", name.c_str(), architecture, problem.c_str());
        all = false;
      }
  return all;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: ridgeline_cuda_table docs/cuda-kernels.md\n", stderr);
    return 2;
  }
  try {
    const CodeTable table = compile_all({RIDGELINE_NVCC, RIDGELINE_NVCC_HOST});
    bool all = holds(table);
    std::string older = older_part(read_text_file(arguments[1]));
    const Toolkit old{variable("RIDGELINE_OLD_NVCC"), variable("RIDGELINE_OLD_CXX")};
    if (!old.nvcc.empty()) {
      const CodeTable rest = compile_all(old, table.architectures);
      all = holds(rest) && all;
      older = older_markdown(rest);
    }
    write_file_atomically(arguments[1], to_markdown(table) + older);
    return all ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
