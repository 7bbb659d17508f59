// Sattolo's shuffle, done in place on the pointers themselves: a uniformly random single cycle.
#include "kernels/cpu/pointer_chain.h"

#include <algorithm>
#include <utility>

namespace ridgeline::cpu {

void* make_pointer_chain(std::byte* data, std::size_t bytes, std::size_t line_bytes,
                         std::uint64_t seed) {
  const std::size_t lines = std::max<std::size_t>(bytes / line_bytes, 1);
  const auto element = [&](std::size_t i) -> void*& {
    return *reinterpret_cast<void**>(data + i * line_bytes);
  };
  for (std::size_t i = 0; i < lines; ++i) element(i) = data + i * line_bytes;
  std::uint64_t state = seed | 1;
  for (std::size_t i = lines - 1; i > 0; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(element(i), element(static_cast<std::size_t>(state >> 33) % i));
  }
  return data;
}

}  // namespace ridgeline::cpu
