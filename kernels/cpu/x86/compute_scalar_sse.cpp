// Peak kernels for CPUs without FMA: scalar and 128-bit multiplications and additions.
// Each chain computes x ← x·x + c, which stays bounded and toggles all mantissa bits.
//
// Zen cores start two multiplications and two additions per cycle, of three cycles each: twelve
// chains are enough if no two of them ever want one pipe. They do: on a Zen 3 eight chains of one
// instruction each reach 87 % of the rate that their latency allows, sixteen (of two threads) 95 %
// of the pipes' (vfpbench, Ryzen 7 5700X). So all registers but the constant's are chains, and
// neighbours are of one kind: if pipes are dealt out in turn as instructions arrive, a sequence of
// one multiplication and one addition in turn leaves half of each kind's pipes without work.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// c is in register 15, chains in 0 … 14; the state holds c and then the chains.
#define LOAD_STATE           \
  "movups (%[s]), %%xmm15\n" \
  ".irp i," RIDGELINE_LIST_15 "\n movups 16*(\\i+1)(%[s]), %%xmm\\i\n.endr\n"
#define MULTIPLY(suffix) "mul" suffix " %%xmm\\i, %%xmm\\i\n"
#define ADD(suffix) "add" suffix " %%xmm15, %%xmm\\i\n"
#define STORE_STATE ".irp i," RIDGELINE_LIST_15 "\n movups %%xmm\\i, 16*(\\i+1)(%[s])\n.endr\n"

// All chains multiply, then all add.
#define MULADD_BODIES(name, suffix)                                                            \
  RIDGELINE_COMPUTE_BODY(muladd_##name, LOAD_STATE, RIDGELINE_LIST_15,                         \
                         MULTIPLY(suffix) ".endr\n.irp i," RIDGELINE_LIST_15 "\n" ADD(suffix), \
                         "4", STORE_STATE)                                                     \
  RIDGELINE_CLOCK_BODY(clock_muladd_##name, LOAD_STATE, "0,1", "2,3", "4,5",                   \
                       MULTIPLY(suffix) ADD(suffix), "")

MULADD_BODIES(scalar_fp64, "sd")
MULADD_BODIES(scalar_fp32, "ss")
MULADD_BODIES(sse4_fp64, "pd")
MULADD_BODIES(sse4_fp32, "ps")

constexpr Kernel family(Isa isa, Unit unit) {
  return {.isa = isa,
          .unit = unit,
          .recurrence = Recurrence::mul_add,
          .chains = 15,
          .arithmetic = 2 * 15 * 4,
          .access_bytes = 16,
          .registers = "xmm"};
}
constexpr Kernel scalar = family(Isa::baseline, Unit::scalar);
constexpr Kernel sse4 = family(Isa::sse4, Unit::vector);

constexpr Kernel scalar_fp64 =
    compute_row(scalar, "muladd_scalar_fp64", "clock_muladd_scalar_fp64", Issue::muladd_scalar,
                DType::fp64, "mulsd|addsd", 1, muladd_scalar_fp64);
constexpr Kernel scalar_fp32 =
    compute_row(scalar, "muladd_scalar_fp32", "clock_muladd_scalar_fp32", Issue::muladd_scalar,
                DType::fp32, "mulss|addss", 1, muladd_scalar_fp32);
constexpr Kernel sse4_fp64 =
    compute_row(sse4, "muladd_sse4_fp64", "clock_muladd_sse4_fp64", Issue::muladd_128, DType::fp64,
                "mulpd|addpd", 2, muladd_sse4_fp64);
constexpr Kernel sse4_fp32 =
    compute_row(sse4, "muladd_sse4_fp32", "clock_muladd_sse4_fp32", Issue::muladd_128, DType::fp32,
                "mulps|addps", 4, muladd_sse4_fp32);

constexpr Kernel rows[] = {
    scalar_fp64,
    scalar_fp32,
    sse4_fp64,
    sse4_fp32,
    clock_row(scalar_fp64, 24, 18, clock_muladd_scalar_fp64),
    clock_row(scalar_fp32, 24, 18, clock_muladd_scalar_fp32),
    clock_row(sse4_fp64, 24, 18, clock_muladd_sse4_fp64),
    clock_row(sse4_fp32, 24, 18, clock_muladd_sse4_fp32),
};

}  // namespace

std::span<const Kernel> compute_scalar_sse() { return rows; }

}  // namespace ridgeline::cpu::x86
