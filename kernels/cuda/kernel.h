// The descriptor of a CUDA kernel: what one trip of its innermost loop does, and where it runs.
// Nothing here measures or needs CUDA; tests prove each declaration against the machine code.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/tokens.h"

namespace ridgeline::cuda {

enum class Role {
  compute,   // arithmetic in registers
  memory,    // streams through a working set
  sweep,     // loads from DRAM with n FMA per element
  latency,   // loads that wait for each other
  launch,    // nothing at all
  transfer,  // of no kernel: copies by the copy engines, planned like the others
};
std::string_view to_string(Role role);

// Architectures as NVIDIA numbers them: 87 = sm_87.
struct Architectures {
  int first = 0, last = 0;  // last = 0: the newest too
  int emulated_first = 0, emulated_last = 0;

  constexpr bool include(int architecture) const {
    return architecture >= first && (last == 0 || architecture <= last) &&
           (architecture < emulated_first || architecture > emulated_last);
  }
};

struct Kernel {
  std::string_view name = {};
  std::string_view group = {};  // of code: device/<group>.cu
  Role role = Role::compute;
  Architectures architectures = {};
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  bool sparse = false;
  bool fed = false;  // operands of tensor cores come from shared memory in each step
  Level level = Level::dram;
  Direction direction = Direction::read;

  // Declared work of one trip of the innermost loop, as one warp sees it: instructions.
  int chains = 0;                 // independent accumulators of a thread, or of a warp
  int arithmetic = 0;             // counted arithmetic instructions
  std::string_view opcodes = {};  // their names in machine code, separated by '|'
  std::string_view ptx = {};      // their name in PTX …
  int split = 1;                  // … one of which becomes so many of them
  int flop_each = 0;              // FLOP (OP for integers) of one of them, all 32 lanes
  int cycles_each = 1;            // issue cycles that one keeps its unit busy, at least
  int loads = 0, stores = 0;      // of 16 bytes per lane, of pointers for latency
  int combines = 0;               // LOP3 that consume what was loaded
  int other_percent = 3;          // of the bound unit's cycles that other instructions may take
  int arrays = 0;                 // memory, sweep: arrays that a pass walks through
  int fma_per_element = 0;        // sweep

  // What a compute kernel finds at `data`: constants, then chains.
  bool opaque = false;     // no layout is needed: all elements of an operand are equal
  int warps_together = 1;  // that execute one arithmetic instruction
  int tensor_columns = 0;  // of tensor memory that a block allocates
  int constants = 0, registers_per_chain = 0, register_bytes = 0;

  constexpr double flop_per_trip() const { return double(arithmetic) * flop_each; }
  constexpr int access_bytes() const { return role == Role::latency ? 8 : 16; }  // per lane
  constexpr double bytes_per_trip() const { return 32.0 * access_bytes() * (loads + stores); }
  // Bytes of each array that one trip of a warp covers.
  constexpr std::uint64_t warp_bytes() const {
    const int streams = arrays + (direction == Direction::update ? 1 : 0);
    return streams == 0 ? 0 : 512u * unsigned(loads + stores) / unsigned(streams);
  }
  constexpr int registers() const { return constants + chains * registers_per_chain; }
};

// Every kernel, one row each, whatever this build holds of them.
std::span<const Kernel> kernel_table();

const Kernel* find_kernel(std::string_view name);

// Whether machine code for `code` runs on a device of `architecture`.
bool runs_machine_code(int code, int architecture);

}  // namespace ridgeline::cuda
