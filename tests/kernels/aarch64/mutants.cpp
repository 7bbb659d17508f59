// Mutations of NEON kernels, each next to an honest twin that the proof must accept.
// Bodies use the skeletons of the real ones, so that only the mistake differs.
#include "tests/kernels/mutants.h"

#include <cstdint>

#include "kernels/cpu/aarch64/asm.h"

namespace ridgeline::testing {
namespace {

#define FMA(i, form) "fmla v" #i "." form ", v" #i "." form ", v" #i "." form "\n"
#define ROUND RIDGELINE_FOR_24(FMA, "4s")
#define LOOP(function, PATTERN) RIDGELINE_COMPUTE_BODY(function, "", PATTERN, "1", "")

LOOP(fma_honest, ROUND ROUND ROUND ROUND)
LOOP(fma_more, ROUND ROUND ROUND ROUND FMA(0, "4s"))
LOOP(fma_missing, ROUND ROUND ROUND)
LOOP(fma_one_register, ".rept 96\n" FMA(0, "4s") ".endr\n")
LOOP(fma_uneven, ROUND ROUND ROUND ".rept 24\n" FMA(0, "4s") ".endr\n")
LOOP(fma_narrow, ".rept 4\n" RIDGELINE_FOR_24(FMA, "2s") ".endr\n")
LOOP(fma_other_type, ".rept 4\n" RIDGELINE_FOR_24(FMA, "2d") ".endr\n")
LOOP(fma_spills, ROUND ROUND ROUND ROUND "str q0, [%[s]]\n ldr q0, [%[s]]\n")
LOOP(fma_moves, ROUND ROUND ROUND ROUND "mov v30.16b, v0.16b\n")

#define PAIR(a, b, instruction, at) instruction " q" #a ", q" #b ", [" at "+16*" #a "]\n"
#define LOADS RIDGELINE_FOR_8_PAIRS(PAIR, "ldp", "%[u], #0")
#define STORES RIDGELINE_FOR_8_PAIRS(PAIR, "stp", "%[p], #0")
#define STEPS "add %[p], %[p], #256\n add %[u], %[u], #256\n"
#define COPY(function, BLOCK, MOVES) RIDGELINE_STREAM_BODY(function, "", BLOCK, MOVES, "")

COPY(copy_honest, LOADS STORES, STEPS)
COPY(copy_streams, RIDGELINE_FOR_8_PAIRS(PAIR, "ldnp", "%[u], #0") STORES, STEPS)
COPY(copy_half, "ldp d16, d17, [%[u]]\n" LOADS STORES, STEPS)
COPY(copy_stores_more, LOADS STORES "str q0, [%[p], #256]\n", STEPS)
COPY(copy_drops_loads, STORES, STEPS)
COPY(copy_steps_too_far, LOADS STORES, STEPS STEPS)
COPY(copy_stands_still, LOADS STORES, "add %[p], %[p], #256\n")
COPY(write_through_cache, STORES, "add %[p], %[p], #256\n")

LOOP(chase_one_address, ".rept 16\n ldr %[c], [%[s]]\n.endr\n")

cpu::Kernel with_body(std::string_view name, cpu::Body body) {
  cpu::Kernel kernel = *cpu::find_kernel(name);
  kernel.body = body;
  return kernel;
}

}  // namespace

std::vector<Mutant> mutants() {
  const auto fma = [](cpu::Body body) { return with_body("fma_neon_fp32", body); };
  const auto copy = [](cpu::Body body) { return with_body("copy_neon", body); };
  return {
      {"honest FMA", "", fma(fma_honest)},
      {"one FMA is too many", "arithmetic instructions", fma(fma_more)},
      {"a round is missing", "arithmetic instructions", fma(fma_missing)},
      {"all chains are one register", "chains", fma(fma_one_register)},
      {"a round goes to one chain", "instructions of chain", fma(fma_uneven)},
      {"FMA are 64 bits wide", "other registers", fma(fma_narrow)},
      {"FMA are of another type", "other registers", fma(fma_other_type)},
      {"a register is spilled", "stores", fma(fma_spills)},
      {"a register is copied", "not declared", fma(fma_moves)},
      {"honest copy", "", copy(copy_honest)},
      {"loads are non-temporal", "not a plain access", copy(copy_streams)},
      {"a pair of 64-bit loads", "other width", copy(copy_half)},
      {"one store is too many", "stores", copy(copy_stores_more)},
      {"loads are missing", "loads", copy(copy_drops_loads)},
      {"the step skips every other block", "step of", copy(copy_steps_too_far)},
      {"the source does not move", "does not move", copy(copy_stands_still)},
      {"stores go through the caches", "not a plain access",
       with_body("nt_write_neon", write_through_cache)},
      {"loads do not depend on each other", "next address", with_body("chase", chase_one_address)},
  };
}

}  // namespace ridgeline::testing
