// What every CUDA kernel is handed and what it hands back beside its data: plain structs.
// C++17 without the standard library's containers: device code of CUDA 11.4 includes it too.
#pragma once

#include <cstdint>

namespace ridgeline::cuda {

// One thread of each block notes when it began and ended, in cycles of its multiprocessor and in
// nanoseconds: the clock under load, without asking any library.
struct Stamp {
  std::uint64_t begin_cycles, end_cycles;
  std::uint64_t begin_ns, end_ns;
  std::uint32_t multiprocessor, reserved;
};

// All kernels share one signature. A compute kernel takes `trips` trips on the registers at `data`;
// a memory kernel walks from the place of its block, `trips` trips per pass.
struct Arguments {
  void* data;                // registers of all threads, or the first array
  Stamp* stamps;             // one per block
  std::uint64_t pitch;       // bytes from one array to the next
  std::uint64_t block_step;  // bytes from the place of one block to that of the next …
  std::uint64_t window;      // … modulo this
  std::uint64_t trip_step;   // bytes from one trip to the next; 0 reads the same again
  std::uint32_t trips;
  std::uint32_t passes;
  std::uint32_t zero;  // is 0, which no compiler knows
  float scale;         // of update and triad
};

}  // namespace ridgeline::cuda
