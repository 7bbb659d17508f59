// Matrix-unit kernels: AMX tile products, BF16 into FP32 and INT8 into INT32.
// Six accumulator tiles cover the latency (52 cycles) of a unit that starts one per 16 cycles.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// State: 64 bytes of tile configuration, then tiles of 1 KiB: A (tmm6), B (tmm7), C (0 … 5).
#define LOAD_TILES                             \
  "ldtilecfg (%[s])\n"                         \
  "tileloadd 64(%[s],%[row],1), %%tmm6\n"      \
  "tileloadd 64+1024(%[s],%[row],1), %%tmm7\n" \
  ".irp i," RIDGELINE_LIST_6 "\n tileloadd 64+1024*(\\i+2)(%[s],%[row],1), %%tmm\\i\n.endr\n"
#define TILE_BODY(function, mnemonic)                                              \
  void function(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) { \
    asm volatile(LOAD_TILES                                                        \
                 ".p2align 6\n"                                                    \
                 "1:\n"                                                            \
                 ".rept 8\n"                                                       \
                 ".irp i," RIDGELINE_LIST_6 "\n " mnemonic                         \
                 " %%tmm7, %%tmm6, %%tmm\\i\n"                                     \
                 ".endr\n"                                                         \
                 ".endr\n"                                                         \
                 "dec %[n]\n"                                                      \
                 "jnz 1b\n"                                                        \
                 ".irp i," RIDGELINE_LIST_6                                        \
                 "\n tilestored %%tmm\\i, 64+1024*(\\i+2)(%[s],%[row],1)\n.endr\n" \
                 "tilerelease\n"                                                   \
                 : [n] "+r"(repeats)                                               \
                 : [s] "r"(data), [row] "r"(std::uint64_t{64})                     \
                 : "memory", "cc");                                                \
  }

TILE_BODY(tile_amx_bf16, "tdpbf16ps")
TILE_BODY(tile_amx_int8, "tdpbssd")

// Per tile product (16 cycles) six imuls (18 cycles): the clock of a core whose tile unit is
// nine tenths busy.
void clock_amx(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {
  std::uint64_t chain = 3;
  asm volatile(LOAD_TILES
               ".p2align 6\n"
               "1:\n"
               ".irp i," RIDGELINE_LIST_6
               "\n tdpbf16ps %%tmm7, %%tmm6, %%tmm\\i\n"
               ".rept 6\n imul %[c], %[c]\n.endr\n"
               ".endr\n"
               "dec %[n]\n"
               "jnz 1b\n"
               "tilerelease\n"
               : [n] "+r"(repeats), [c] "+r"(chain)
               : [s] "r"(data), [row] "r"(std::uint64_t{64})
               : "memory", "cc");
}

constexpr Kernel row(std::string_view name, Isa isa, DType dtype, DType accumulate,
                     Recurrence recurrence, std::string_view mnemonic, int depth, Body body) {
  return {.name = name,
          .isa = isa,
          .role = Role::compute,
          .issue = Issue::tile,
          .unit = Unit::matrix,
          .dtype = dtype,
          .accumulate = accumulate,
          .recurrence = recurrence,
          .chains = 6,
          .arithmetic = 6 * 8,
          .mnemonics = mnemonic,
          .flop_each = 2 * 16 * 16 * depth,
          .access_bytes = 1024,
          .registers = "tmm",
          .probe = "clock_amx",
          .body = body};
}

constexpr Kernel rows[] = {
    row("tile_amx_bf16", Isa::amx_bf16, DType::bf16, DType::fp32, Recurrence::tile_bf16,
        "tdpbf16ps", 32, tile_amx_bf16),
    row("tile_amx_int8", Isa::amx_int8, DType::int8, DType::int32, Recurrence::tile_int8, "tdpbssd",
        64, tile_amx_int8),
    {.name = "clock_amx",
     .isa = Isa::amx_bf16,
     .role = Role::clock,
     .unit = Unit::matrix,
     .dtype = DType::bf16,
     .accumulate = DType::fp32,
     .recurrence = Recurrence::tile_bf16,
     .chains = 6,
     .arithmetic = 6,
     .mnemonics = "tdpbf16ps",
     .access_bytes = 1024,
     .registers = "tmm",
     .cycles = 6 * 6 * 3,
     .body = clock_amx},
};

}  // namespace

std::span<const Kernel> compute_amx() { return rows; }

}  // namespace ridgeline::cpu::x86
