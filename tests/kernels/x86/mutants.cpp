// Mutations of AVX-512 kernels, each next to an honest twin that the proof must accept.
// Bodies use the skeletons of the real ones, so that only the mistake differs.
#include "tests/kernels/mutants.h"

#include <cstdint>

#include "kernels/cpu/x86/asm.h"

namespace ridgeline::testing {
namespace {

#define LIST_15 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"
#define FMA(LIST) ".irp i," LIST "\n vfmadd213pd %%zmm31, %%zmm\\i, %%zmm\\i\n.endr\n"
#define THREE_ROUNDS FMA(RIDGELINE_LIST_16) FMA(RIDGELINE_LIST_16) FMA(RIDGELINE_LIST_16)

#define LOOP(function, BODY)                                                       \
  void function(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) { \
    asm volatile("1:\n" BODY "dec %[n]\n jnz 1b\n vzeroupper\n"                    \
                 : [n] "+r"(repeats), [s] "+r"(data)                               \
                 :                                                                 \
                 : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);                     \
  }

LOOP(fma_honest, THREE_ROUNDS FMA(RIDGELINE_LIST_16))
LOOP(fma_missing, THREE_ROUNDS FMA(LIST_15))
LOOP(fma_more, THREE_ROUNDS FMA(RIDGELINE_LIST_16) FMA("0"))
LOOP(fma_merged, FMA(LIST_15 ",14") FMA(LIST_15 ",14") FMA(LIST_15 ",14") FMA(LIST_15 ",14"))
LOOP(fma_uneven, THREE_ROUNDS FMA(LIST_15 ",14"))
LOOP(fma_narrow, THREE_ROUNDS FMA(LIST_15) "vfmadd213pd %%ymm31, %%ymm15, %%ymm15\n")
LOOP(fma_other_type, THREE_ROUNDS FMA(LIST_15) "vfmadd213ps %%zmm31, %%zmm15, %%zmm15\n")
LOOP(fma_spills, THREE_ROUNDS FMA(RIDGELINE_LIST_16) "vmovups %%zmm0, (%[s])\n"
                                                     "vmovups (%[s]), %%zmm0\n")
LOOP(fma_folds, THREE_ROUNDS FMA(LIST_15) "vfmadd213pd (%[s]), %%zmm15, %%zmm15\n")
LOOP(fma_moves, THREE_ROUNDS FMA(RIDGELINE_LIST_16) "vmovaps %%zmm0, %%zmm20\n")
LOOP(fma_masked, THREE_ROUNDS FMA(LIST_15) "vfmadd213pd %%zmm31, %%zmm15, %%zmm15%{%%k1%}\n")

#define LOAD(i, at) "vmovaps 64*" #at "(%[p],%[q]), %%zmm" #i "\n"
#define STORE(LIST) ".irp i," LIST "\n vmovaps %%zmm\\i, 64*\\i(%[p])\n.endr\n"
#define LOADS(LIST) ".irp i," LIST "\n vmovaps 64*\\i(%[p],%[q]), %%zmm\\i\n.endr\n"
#define COPY(function, BLOCK, STEP) RIDGELINE_STREAM_BODY(function, "", BLOCK, STEP, "vzeroupper\n")

COPY(copy_honest, LOADS(RIDGELINE_LIST_16) STORE(RIDGELINE_LIST_16), "1024")
COPY(copy_narrow, LOADS(LIST_15) "vmovaps 960(%[p],%[q]), %%ymm15\n" STORE(RIDGELINE_LIST_16),
     "1024")
COPY(copy_broadcasts,
     LOADS(LIST_15) "vbroadcastss 960(%[p],%[q]), %%zmm15\n" STORE(RIDGELINE_LIST_16), "1024")
COPY(copy_drops_a_load, LOADS(LIST_15) STORE(RIDGELINE_LIST_16), "1024")
COPY(copy_repeats_a_load, LOADS(LIST_15) LOAD(15, 14) STORE(RIDGELINE_LIST_16), "1024")
COPY(copy_leaves_a_gap, LOADS(LIST_15) LOAD(15, 16) STORE(RIDGELINE_LIST_16), "1024")
COPY(copy_stores_more,
     LOADS(RIDGELINE_LIST_16) STORE(RIDGELINE_LIST_16) "vmovaps %%zmm0, 1024(%[p])\n", "1024")
COPY(copy_steps_too_far, LOADS(RIDGELINE_LIST_16) STORE(RIDGELINE_LIST_16), "2048")
COPY(copy_stands_still,
     ".irp i," RIDGELINE_LIST_16 "\n vmovaps 64*\\i(%[d],%[q]), %%zmm\\i\n.endr\n"  //
     STORE(RIDGELINE_LIST_16),
     "1024")
COPY(write_through_cache, STORE(RIDGELINE_LIST_16), "1024")

// r11 is neither of the two operands; this body is disassembled, not run.
LOOP(chase_one_address, ".rept 16\n mov (%[s]), %%r11\n.endr\n")

#define TICKS(count) ".rept " #count "\n imul %[s], %[s]\n.endr\n"
LOOP(clock_honest, FMA(RIDGELINE_LIST_6) FMA(RIDGELINE_LIST_6) TICKS(6))
LOOP(clock_short, FMA(RIDGELINE_LIST_6) FMA(RIDGELINE_LIST_6) TICKS(5))

cpu::Kernel with_body(std::string_view name, cpu::Body body) {
  cpu::Kernel kernel = *cpu::find_kernel(name);
  kernel.body = body;
  return kernel;
}

}  // namespace

std::vector<Mutant> mutants() {
  const auto fma = [](cpu::Body body) { return with_body("fma_avx512_fp64", body); };
  const auto copy = [](cpu::Body body) { return with_body("copy_avx512", body); };
  return {
      {"honest FMA", "", fma(fma_honest)},
      {"one FMA is missing", "arithmetic instructions", fma(fma_missing)},
      {"one FMA is too many", "arithmetic instructions", fma(fma_more)},
      {"two chains are one register", "chains", fma(fma_merged)},
      {"one step goes to another chain", "instructions of chain", fma(fma_uneven)},
      {"one FMA is 256 bits wide", "other registers", fma(fma_narrow)},
      {"one FMA is of another type", "not declared", fma(fma_other_type)},
      {"a register is spilled", "stores", fma(fma_spills)},
      {"an operand comes from memory", "loads", fma(fma_folds)},
      {"a register is copied", "not declared", fma(fma_moves)},
      {"one FMA is masked", "not whole", fma(fma_masked)},
      {"honest copy", "", copy(copy_honest)},
      {"one load is 256 bits wide", "other registers", copy(copy_narrow)},
      {"one load is a broadcast", "not a plain access", copy(copy_broadcasts)},
      {"one load is missing", "loads", copy(copy_drops_a_load)},
      {"one line is loaded twice, one never", "accessed twice", copy(copy_repeats_a_load)},
      {"one line of the block is skipped", "does not cover", copy(copy_leaves_a_gap)},
      {"one store is too many", "stores", copy(copy_stores_more)},
      {"the step skips every other block", "step of", copy(copy_steps_too_far)},
      {"the source does not move", "does not move", copy(copy_stands_still)},
      {"stores go through the caches", "not a plain access",
       with_body("nt_write_avx512", write_through_cache)},
      {"loads do not depend on each other", "next address", with_body("chase", chase_one_address)},
      {"honest clock", "", with_body("clock_fma_avx512_fp64", clock_honest)},
      {"the clock chain is too short", "cycles", with_body("clock_fma_avx512_fp64", clock_short)},
  };
}

}  // namespace ridgeline::testing
