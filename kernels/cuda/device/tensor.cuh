// Kernels and their list from a table of tensor-core rows. The including file says which table
// (RIDGELINE_TABLE) and what the list is called (RIDGELINE_FUNCTIONS).
#include "kernels/cuda/device/entry.cuh"

namespace ridgeline::cuda {

#define RIDGELINE_CHAINS(name, Arithmetic, chains, rounds) \
  RIDGELINE_GLOBAL name(Arguments arguments) { run_chains<Arithmetic, chains, rounds>(arguments); }
#define RIDGELINE_TENSOR(name, Arithmetic, chains, rounds, first, last) \
  RIDGELINE_GLOBAL name(Arguments arguments) { run_mma<Arithmetic, chains, rounds>(arguments); }
#define RIDGELINE_FED(name, Arithmetic, rows, columns, rounds, first, last) \
  RIDGELINE_GLOBAL name(Arguments arguments) {                              \
    run_fed<Arithmetic, rows, columns, rounds>(arguments);                  \
  }
#include RIDGELINE_TABLE
#undef RIDGELINE_CHAINS
#undef RIDGELINE_TENSOR
#undef RIDGELINE_FED

#define RIDGELINE_CHAINS(name, ...) {#name, reinterpret_cast<const void*>(name)},
#define RIDGELINE_TENSOR RIDGELINE_CHAINS
#define RIDGELINE_FED RIDGELINE_CHAINS
extern const Function RIDGELINE_FUNCTIONS[];  // a constant would be its file's alone
const Function RIDGELINE_FUNCTIONS[] = {
#include RIDGELINE_TABLE
    {nullptr, nullptr}};

}  // namespace ridgeline::cuda
