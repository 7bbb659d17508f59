// Looking up a kernel by name in this architecture's table.
// The tables themselves are in x86/ and aarch64/.
#include "kernels/cpu/kernel.h"

#include <algorithm>

namespace ridgeline::cpu {

const Kernel* find_kernel(std::string_view name) {
  const auto table = kernel_table();
  const auto found = std::ranges::find(table, name, &Kernel::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace ridgeline::cpu
