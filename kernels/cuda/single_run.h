// One CUDA kernel alone, with explicit sizes and nothing around it: for a profiler, a disassembler
// or a simulator. Nothing is warmed up, tuned or checked.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/bench.h"

namespace ridgeline::cuda {

struct SingleRunSizes {
  std::uint32_t blocks = 0;         // 0 = one per multiprocessor
  std::uint32_t block_threads = 0;  // 0 = 128
  std::uint32_t iterations = 0;     // trips, or passes of a stream from DRAM; 0 = about 3 ms
  std::uint64_t bytes = 0;          // working set; 0 = 64 MiB
  std::uint64_t samples = 5;
};

struct SingleRun {
  Setup setup;
  std::vector<Timed> samples;
};

// Throws a usage error for sizes that no launch can have.
SingleRun run_alone(Gpu& gpu, const Kernel& kernel, const SingleRunSizes& sizes);

}  // namespace ridgeline::cuda
