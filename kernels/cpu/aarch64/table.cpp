// The table of all aarch64 kernels, made of the families' rows.
// A new family is one more line.
#include <vector>

#include "kernels/cpu/aarch64/families.h"

namespace ridgeline::cpu {

std::span<const Kernel> kernel_table() {
  static const std::vector<Kernel> table = [] {
    std::vector<Kernel> all;
    for (const auto& family :
         {aarch64::compute_scalar(), aarch64::compute_neon(), aarch64::compute_dot(),
          aarch64::memory_neon(), aarch64::sweep(), aarch64::latency()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return table;
}

}  // namespace ridgeline::cpu
