// The table of all x86-64 kernels, made of the families' rows.
// A new family is one more line.
#include <vector>

#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu {

std::span<const Kernel> kernel_table() {
  static const std::vector<Kernel> table = [] {
    std::vector<Kernel> all;
    for (const auto& family :
         {x86::compute_scalar_sse(), x86::compute_avx2(), x86::compute_avx512(), x86::compute_dot(),
          x86::compute_amx(), x86::memory(), x86::sweep(), x86::latency()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return table;
}

}  // namespace ridgeline::cpu
