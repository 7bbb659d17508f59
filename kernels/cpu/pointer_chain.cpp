// Sattolo's shuffle, done in place on the pointers themselves: a uniformly random single cycle.
#include "kernels/cpu/pointer_chain.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace ridgeline::cpu {

void* make_pointer_chain(std::byte* data, std::size_t bytes, std::size_t line_bytes,
                         std::uint64_t seed) {
  const std::size_t lines = std::max<std::size_t>(bytes / line_bytes, 1);
  const auto element = [&](std::size_t i) -> void*& {
    return *reinterpret_cast<void**>(data + i * line_bytes);
  };
  for (std::size_t i = 0; i < lines; ++i) element(i) = data + i * line_bytes;
  Random random{seed};
  for (std::size_t i = lines - 1; i > 0; --i) std::swap(element(i), element(random.below(i)));
  return data;
}

}  // namespace ridgeline::cpu
