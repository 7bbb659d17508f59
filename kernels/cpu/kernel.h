// The descriptor of a CPU kernel: what one trip of its innermost loop does, and the machine code.
// Nothing here measures; tests prove each declaration against the disassembly and a reference.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/tokens.h"
#include "kernels/cpu/isa.h"

namespace ridgeline::cpu {

enum class Role {
  compute,  // arithmetic in registers
  memory,   // streams through a working set
  sweep,    // loads with n FMA per element
  latency,  // a chain of dependent loads
  clock,    // a chain of known latency under the load of a kernel: cycles per second
};

// Which column of the microarchitecture table bounds a kernel
// (devices/machine/microarchitecture.h).
enum class Issue {
  none,
  fma_scalar,
  fma_128,
  fma_256,
  fma_512,
  muladd_scalar,  // separate multiplications and additions, equally many
  muladd_128,
  fma_fp16_128,
  fma_fp16_512,
  dot_int8_128,
  dot_int8_256,
  dot_int8_512,
  dot_bf16_512,
  tile,
  load_128,
  load_256,
  load_512,
};

// The recurrence that each chain of a compute kernel computes (tests/kernels/reference.h).
enum class Recurrence {
  none,
  fma,             // x ← fma(x, x, c)
  mul_add,         // x ← round(x·x) + c
  fma_accumulate,  // x ← fma(x, x, x), then x ← fma(a, b, x), in turn
  dot_u8s8,        // x ← x + Σ₄ a·b, a unsigned, b signed, two operand pairs in turn
  dot_s8s8,        // the same, both signed
  dot_bf16,        // x ← x + Σ₂ a·b
  tile_int8,       // C ← C + A·B on 16×64 by 64×16 tiles
  tile_bf16,       // C ← C + A·B on 16×32 by 32×16 tiles
};

// All kernels share one signature.
//   compute, clock: `repeats` trips on the state at `data`
//   memory, sweep:  `repeats` passes over arrays of `bytes` bytes each, `pitch` bytes apart
//   latency:        `repeats` trips through a pointer chain; *data is the position, before and
//   after
using Body = void (*)(std::uint64_t repeats, void* data, std::uint64_t bytes, std::uint64_t pitch);

struct Kernel {
  std::string_view name = {};
  Isa isa = Isa::baseline;
  Role role = Role::compute;
  Issue issue = Issue::none;
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  Direction direction = Direction::read;
  Recurrence recurrence = Recurrence::none;

  // Declared work of one trip of the innermost loop.
  int chains = 0;                   // independent accumulators
  int arithmetic = 0;               // counted arithmetic instructions
  std::string_view mnemonics = {};  // their names, separated by '|'
  int flop_each = 0;                // FLOP (OP for integers) of one of them
  int loads = 0;                    // data loads …
  int stores = 0;                   // … and stores
  int prefetches = 0;               // hints for later trips; they count no bytes
  int access_bytes = 0;             // bytes of one load or store, and of one register
  std::string_view registers = {};  // register class of the counted instructions: "zmm"
  int arrays = 0;                   // memory: arrays that a pass walks through
  int fma_per_element = 0;          // sweep
  int cycles = 0;                   // clock: cycles of a trip by latency
  std::string_view probe = {};      // clock kernel that runs under the same load
  Body body = nullptr;

  constexpr double flop_per_trip() const { return double(arithmetic) * flop_each; }
  constexpr double bytes_per_trip() const { return double(loads + stores) * access_bytes; }
  // Bytes of each array that one trip covers.
  constexpr int block_bytes() const {
    return arrays == 0 ? 0 : int(bytes_per_trip()) / (arrays + (updates_in_place() ? 1 : 0));
  }
  constexpr bool updates_in_place() const { return direction == Direction::update; }
};

// The row of the clock kernel that probes under the load of `kernel`: `steps` of its arithmetic
// instructions run per trip of `cycles` cycles.
constexpr Kernel clock_row(Kernel kernel, int steps, int cycles, Body body) {
  kernel.name = kernel.probe;
  kernel.probe = {};
  kernel.role = Role::clock;
  kernel.issue = Issue::none;
  kernel.arithmetic = steps;
  kernel.cycles = cycles;
  kernel.body = body;
  return kernel;
}

// Every kernel of this architecture, one row each (x86/table.cpp, aarch64/table.cpp).
std::span<const Kernel> kernel_table();

inline const Kernel* find_kernel(std::string_view name) {
  for (const Kernel& kernel : kernel_table())
    if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace ridgeline::cpu
