// The sum, its parts, and what they are compared with.
#include "report/memory.h"

#include <fmt/format.h>

#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {

std::string memory_line(const std::optional<MemoryFit>& fit, int width) {
  if (!fit) return "";
  const RunMemory& network = fit->network;
  const std::string unshared =
      network.unshared > network.activations
          ? fmt::format("; activations without reuse {}", format_si(network.unshared, "B"))
          : "";
  return wrap(fmt::format("memory: {}: {}{}; usable: {}, {}", memory_range_text(fit->needed),
                          parts_text(*fit), unshared, memory_range_text(fit->usable.bytes),
                          fit->usable.origin),
              width, 2) +
         "\n";
}

}  // namespace ridgeline
