// Kernels that every architecture has: CUDA cores, memory, intensity sweep, latency, and one that
// does nothing, whose launch is what it costs to launch.
#include "kernels/cuda/device/memory.cuh"

namespace ridgeline::cuda {

#define RIDGELINE_CHAINS(name, Arithmetic, chains, rounds) \
  RIDGELINE_GLOBAL name(Arguments arguments) { run_chains<Arithmetic, chains, rounds>(arguments); }
#define RIDGELINE_BODY(...) __VA_ARGS__
#define RIDGELINE_STREAM(name, body, level, direction, arrays, loads, stores, fma, lop3, share) \
  RIDGELINE_GLOBAL name(Arguments arguments) { RIDGELINE_BODY body(arguments); }
#define RIDGELINE_SWEEP(name, n, loads) \
  RIDGELINE_GLOBAL name(Arguments arguments) { run_sweep<n, loads>(arguments); }
#define RIDGELINE_CHASE(name, cache, loads) \
  RIDGELINE_GLOBAL name(Arguments arguments) { run_chase<Cache::cache, loads>(arguments); }
#include "kernels/cuda/core.inc"
#undef RIDGELINE_CHAINS
#undef RIDGELINE_STREAM
#undef RIDGELINE_SWEEP
#undef RIDGELINE_CHASE

RIDGELINE_GLOBAL empty(Arguments) {}

#define RIDGELINE_CHAINS(name, ...) {#name, reinterpret_cast<const void*>(name)},
#define RIDGELINE_STREAM RIDGELINE_CHAINS
#define RIDGELINE_SWEEP RIDGELINE_CHAINS
#define RIDGELINE_CHASE RIDGELINE_CHAINS
extern const Function core_functions[];  // a constant would be this file's alone
const Function core_functions[] = {
#include "kernels/cuda/core.inc"
    RIDGELINE_CHAINS(empty){nullptr, nullptr}};

}  // namespace ridgeline::cuda
