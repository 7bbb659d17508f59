// What the kernels do on a device, as the simulated GPU knows it: read from device/*.cu by hand and
// kept apart from the table in kernels/cuda, so that a wrong declaration there shows up as a wrong
// rate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/arguments.h"
#include "kernels/cuda/gpu.h"

namespace ridgeline::testing {

// Which caches the loads of a kernel may hit.
enum class Reach {
  none,       // no memory in the loop
  streaming,  // L2 and DRAM, walking
  sectors,    // L2 and DRAM, 32 bytes at hashed places
  l2,         // L2 and DRAM; L1 is bypassed
  l1,         // all
  shared,     // a scratchpad of the multiprocessor
  chain,      // all caches, one load after the other
  far_chain,  // likewise, but past L1
};

// Accesses of one warp to one array in one trip, 512 bytes each.
struct ArrayAccesses {
  int loads = 0, stores = 0;
};

struct KernelProgram {
  std::string pipe;      // "fma_fp32", "mma_fp16_k4"; empty = no arithmetic
  int instructions = 0;  // of that pipe, per warp and trip
  double flop_each = 0;  // of one of them, all lanes
  int chains = 0;        // independent ones of a warp
  int other = 4;         // instructions that only take an issue slot, at most
  Reach reach = Reach::none;
  std::vector<ArrayAccesses> arrays;  // first array first
  int in_flight = 0;                  // accesses of a warp that are under way at once
  int registers = 40;                 // of a thread
  std::uint64_t shared_bytes = 0;     // of a block
  int near_accesses = 0;              // of 512 bytes in shared memory, beside the arithmetic
  int most_threads = 1024;            // of a block
  int tensor_columns = 0;             // of 512 that a multiprocessor has; blocks wait for them

  double flop() const { return instructions * flop_each; }  // per warp and trip
  int accesses() const;                                     // likewise, of all arrays
  // A warp's: 16 bytes per lane, of a chain one pointer.
  double bytes() const {
    return (reach == Reach::chain || reach == Reach::far_chain ? 256.0 : 512.0) * accesses();
  }
};

// Throws for a name that it does not know.
const KernelProgram& program_of(std::string_view kernel);

// Addresses that one pass of a launch touches, as offsets from its data.
struct Footprint {
  std::uint64_t distinct_bytes = 0;  // each byte once
  std::uint64_t end = 0;             // behind the last byte
  double spread = 1;                 // 1 = no two blocks or trips share a byte; ½ = all share one
};
Footprint footprint_of(const KernelProgram& program, cuda::Grid grid,
                       const cuda::Arguments& arguments);

}  // namespace ridgeline::testing
