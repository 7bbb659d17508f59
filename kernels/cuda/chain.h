// Chains of pointers for the latency kernels: one cycle through all lines of a set, in an order
// that neither prefetchers nor open pages of DRAM help with.
#pragma once

#include <cstdint>

#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/gpu.h"

namespace ridgeline::cuda {

struct Chain {
  static constexpr std::uint64_t line_bytes = 128, page_bytes = std::uint64_t{2} << 20;

  std::uint64_t lines = 0;  // a power of two
  std::uint64_t stride = line_bytes;

  std::uint64_t bytes() const { return lines * stride; }
  // Offset of a line. Lines that are far apart differ in their place within a page too: otherwise
  // they would compete for the same few sets of a cache.
  std::uint64_t place(std::uint64_t line) const;
  std::uint64_t next(std::uint64_t line) const;  // the line that the chain goes on with

  friend bool operator==(const Chain&, const Chain&) = default;
};

// Writes the chain. The word behind the first pointer is where the kernel goes on, and it leaves
// there where it stopped: a chain that began anew with each launch would find its first lines in
// the caches.
void fill_chain(Gpu& gpu, const DeviceBuffer& data, const Chain& chain);

// Offset of the line that the chain has come to.
std::uint64_t chain_position(Gpu& gpu, const DeviceBuffer& data);

}  // namespace ridgeline::cuda
