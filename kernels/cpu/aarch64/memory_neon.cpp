// Streaming kernels with pairs of 128-bit accesses: read, write, non-temporal write, copy, update,
// triad. A pair is one instruction and counts as two accesses, which is what the ports see.
#include "kernels/cpu/aarch64/asm.h"
#include "kernels/cpu/aarch64/families.h"

namespace ridgeline::cpu::aarch64 {
namespace {

#define ACCESS(a, b, instruction, at) instruction " q" #a ", q" #b ", [" at "+16*" #a "]\n"
#define EIGHT_PAIRS(instruction, at) RIDGELINE_FOR_8_PAIRS(ACCESS, instruction, at)

RIDGELINE_STREAM_BODY(read_neon, "",
                      EIGHT_PAIRS("ldp", "%[p], #0") EIGHT_PAIRS("ldp", "%[p], #256")
                          EIGHT_PAIRS("ldp", "%[p], #512") EIGHT_PAIRS("ldp", "%[p], #768"),
                      "add %[p], %[p], #1024\n", "")

// The values written are the array's own first block.
#define FILL_REGISTERS EIGHT_PAIRS("ldp", "%[d], #0")
RIDGELINE_STREAM_BODY(write_neon, FILL_REGISTERS, EIGHT_PAIRS("stp", "%[p], #0"),
                      "add %[p], %[p], #256\n", "")
// stnp is a hint that the line is not needed again; a core may allocate it all the same.
RIDGELINE_STREAM_BODY(nt_write_neon, FILL_REGISTERS, EIGHT_PAIRS("stnp", "%[p], #0"),
                      "add %[p], %[p], #256\n", "")

// First array ← second array.
RIDGELINE_STREAM_BODY(copy_neon, "", EIGHT_PAIRS("ldp", "%[u], #0") EIGHT_PAIRS("stp", "%[p], #0"),
                      "add %[p], %[p], #256\n add %[u], %[u], #256\n", "")

RIDGELINE_STREAM_BODY(update_neon, "",
                      EIGHT_PAIRS("ldp", "%[p], #0") EIGHT_PAIRS("stp", "%[p], #0"),
                      "add %[p], %[p], #256\n", "")

// First array ← second array + 3 · third array, FP32.
#define TRIAD_PAIR(b0, b1, c0, c1, at)   \
  "ldp q" #c0 ", q" #c1 ", [%[v], #" #at \
  "]\n"                                  \
  "ldp q" #b0 ", q" #b1 ", [%[u], #" #at \
  "]\n"                                  \
  "fmla v" #b0 ".4s, v" #c0              \
  ".4s, v31.4s\n"                        \
  "fmla v" #b1 ".4s, v" #c1              \
  ".4s, v31.4s\n"                        \
  "stp q" #b0 ", q" #b1 ", [%[p], #" #at "]\n"
RIDGELINE_STREAM_BODY(triad_neon, "fmov v31.4s, #3.0\n",
                      TRIAD_PAIR(0, 1, 16, 17, 0) TRIAD_PAIR(2, 3, 18, 19, 32)
                          TRIAD_PAIR(4, 5, 20, 21, 64) TRIAD_PAIR(6, 7, 22, 23, 96)
                              TRIAD_PAIR(8, 9, 24, 25, 128) TRIAD_PAIR(10, 11, 26, 27, 160)
                                  TRIAD_PAIR(12, 13, 28, 29, 192) TRIAD_PAIR(14, 15, 16, 17, 224),
                      "add %[p], %[p], #256\n add %[u], %[u], #256\n add %[v], %[v], #256\n", "")

// Four loads per five additions of a cycle each keep one load port four fifths busy.
#define TICK "add %[c], %[c], %[c]\n"
#define TICKS_AND_LOADS(a, b, at) \
  TICK "ldr q" #a ", [%[s], #" at "+16*" #a "]\n" TICK "ldr q" #b ", [%[s], #" at "+16*" #b "]\n"
#define FIVE_TICKS(at) TICKS_AND_LOADS(0, 1, at) TICKS_AND_LOADS(2, 3, at) TICK
RIDGELINE_COMPUTE_BODY(clock_load_neon, "",
                       FIVE_TICKS("0") FIVE_TICKS("64") FIVE_TICKS("128") FIVE_TICKS("192")
                           FIVE_TICKS("256"),
                       "1", "")

constexpr Kernel row(std::string_view name, Direction direction, int arrays, int loads, int stores,
                     Body body) {
  return {.name = name,
          .isa = Isa::neon,
          .role = Role::memory,
          .issue = direction == Direction::read ? Issue::load_128 : Issue::none,
          .direction = direction,
          .loads = loads,
          .stores = stores,
          .access_bytes = 16,
          .registers = "q",
          .arrays = arrays,
          .probe = "clock_load_neon",
          .body = body};
}

constexpr Kernel triad_row() {
  Kernel kernel = row("triad_neon", Direction::triad, 3, 32, 16, triad_neon);
  kernel.arithmetic = 16;
  kernel.mnemonics = "fmla";
  kernel.flop_each = 8;
  kernel.registers = "q|v.4s";
  return kernel;
}

constexpr Kernel rows[] = {
    row("read_neon", Direction::read, 1, 64, 0, read_neon),
    row("write_neon", Direction::write, 1, 0, 16, write_neon),
    row("nt_write_neon", Direction::nt_write, 1, 0, 16, nt_write_neon),
    row("copy_neon", Direction::copy, 2, 16, 16, copy_neon),
    row("update_neon", Direction::update, 1, 16, 16, update_neon),
    triad_row(),
    {.name = "clock_load_neon",
     .isa = Isa::neon,
     .role = Role::clock,
     .loads = 20,
     .access_bytes = 16,
     .registers = "q",
     .cycles = 25,
     .body = clock_load_neon},
};

}  // namespace

std::span<const Kernel> memory_neon() { return rows; }

}  // namespace ridgeline::cpu::aarch64
