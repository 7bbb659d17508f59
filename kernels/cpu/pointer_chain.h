// A random cycle of pointers over the cache lines of a buffer, for the latency kernel.
// One cycle through all lines: no shorter loop, no order that a prefetcher could learn.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridgeline::cpu {

// Writes the chain and returns its start. `line_bytes` is the distance of two elements.
void* make_pointer_chain(std::byte* data, std::size_t bytes, std::size_t line_bytes,
                         std::uint64_t seed);

}  // namespace ridgeline::cpu
