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
#define TILE_CLOCK_BODY(function, mnemonic)                                        \
  void function(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) { \
    std::uint64_t chain = 3;                                                       \
    asm volatile(LOAD_TILES                                                        \
                 ".p2align 6\n"                                                    \
                 "1:\n"                                                            \
                 ".irp i," RIDGELINE_LIST_6 "\n " mnemonic                         \
                 " %%tmm7, %%tmm6, %%tmm\\i\n"                                     \
                 ".rept 6\n imul %[c], %[c]\n.endr\n"                              \
                 ".endr\n"                                                         \
                 "dec %[n]\n"                                                      \
                 "jnz 1b\n"                                                        \
                 "tilerelease\n"                                                   \
                 : [n] "+r"(repeats), [c] "+r"(chain)                              \
                 : [s] "r"(data), [row] "r"(std::uint64_t{64})                     \
                 : "memory", "cc");                                                \
  }

TILE_CLOCK_BODY(clock_tile_amx_bf16, "tdpbf16ps")
TILE_CLOCK_BODY(clock_tile_amx_int8, "tdpbssd")

constexpr Kernel row(Isa isa, DType accumulate, Recurrence recurrence, std::string_view name,
                     std::string_view probe, DType dtype, std::string_view mnemonic, int depth,
                     Body body) {
  const Kernel family{.isa = isa,
                      .unit = Unit::matrix,
                      .recurrence = recurrence,
                      .chains = 6,
                      .arithmetic = 6 * 8,
                      .access_bytes = 1024,
                      .registers = "tmm"};
  Kernel kernel =
      compute_row(family, name, probe, Issue::tile, dtype, mnemonic, 2 * 16 * 16 * depth, body);
  kernel.accumulate = accumulate;
  return kernel;
}

constexpr Kernel bf16 = row(Isa::amx_bf16, DType::fp32, Recurrence::tile_bf16, "tile_amx_bf16",
                            "clock_tile_amx_bf16", DType::bf16, "tdpbf16ps", 32, tile_amx_bf16);
constexpr Kernel int8 = row(Isa::amx_int8, DType::int32, Recurrence::tile_int8, "tile_amx_int8",
                            "clock_tile_amx_int8", DType::int8, "tdpbssd", 64, tile_amx_int8);

constexpr Kernel rows[] = {
    bf16,
    int8,
    clock_row(bf16, 6, 6 * 6 * 3, clock_tile_amx_bf16),
    clock_row(int8, 6, 6 * 6 * 3, clock_tile_amx_int8),
};

}  // namespace

std::span<const Kernel> compute_amx() { return rows; }

}  // namespace ridgeline::cpu::x86
