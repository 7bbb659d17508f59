// Loop skeletons shared by the x86-64 kernels, as assembler text.
// The assembler repeats the instructions (.irp, .rept), so that counts hold by construction.
#pragma once

#include <cstdint>

#define RIDGELINE_LIST_6 "0,1,2,3,4,5"
#define RIDGELINE_LIST_8 "0,1,2,3,4,5,6,7"
#define RIDGELINE_LIST_14 "0,1,2,3,4,5,6,7,8,9,10,11,12,13"
#define RIDGELINE_LIST_15 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"
#define RIDGELINE_LIST_16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"

// Only the registers that the baseline ABI knows; the upper ones are never the compiler's.
#define RIDGELINE_VECTOR_CLOBBERS                                                          \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// A compute kernel: HEAD fills registers from the state, STEP is repeated ROUNDS times for each
// chain i of LIST, TAIL writes the accumulators back. The state starts at %[s].
#define RIDGELINE_COMPUTE_BODY(function, HEAD, LIST, STEP, ROUNDS, TAIL)           \
  void function(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) { \
    asm volatile(HEAD                                                              \
                 ".p2align 6\n"                                                    \
                 "1:\n"                                                            \
                 ".rept " ROUNDS                                                   \
                 "\n"                                                              \
                 ".irp i," LIST "\n" STEP                                          \
                 ".endr\n"                                                         \
                 ".endr\n"                                                         \
                 "dec %[n]\n"                                                      \
                 "jnz 1b\n" TAIL                                                   \
                 : [n] "+r"(repeats)                                               \
                 : [s] "r"(data)                                                   \
                 : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);                     \
  }

// A clock kernel: six imuls (3 cycles each on Intel since Nehalem and on AMD Zen) are the critical
// path of a trip; between them STEP runs for each chain i of FIRST, SECOND and THIRD, twice, so
// that the core draws the power of the kernel whose clock is asked for. The lists are short enough
// for the imuls to stay the critical path: two at 512 bits, where Zen 4 starts one per cycle (with
// five its clock came out as 2.2 instead of 3.7 GHz, and every peak as impossible). The state is
// read, not written.
#define RIDGELINE_CLOCK_BODY(function, HEAD, FIRST, SECOND, THIRD, STEP, TAIL)     \
  void function(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) { \
    std::uint64_t chain = 3;                                                       \
    asm volatile(HEAD                                                              \
                 ".p2align 6\n"                                                    \
                 "1:\n"                                                            \
                 ".rept 2\n"                                                       \
                 "imul %[c], %[c]\n.irp i," FIRST "\n" STEP                        \
                 ".endr\n"                                                         \
                 "imul %[c], %[c]\n.irp i," SECOND "\n" STEP                       \
                 ".endr\n"                                                         \
                 "imul %[c], %[c]\n.irp i," THIRD "\n" STEP                        \
                 ".endr\n"                                                         \
                 ".endr\n"                                                         \
                 "dec %[n]\n"                                                      \
                 "jnz 1b\n" TAIL                                                   \
                 : [n] "+r"(repeats), [c] "+r"(chain)                              \
                 : [s] "r"(data)                                                   \
                 : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);                     \
  }

// A streaming kernel: BLOCK works on the bytes at %[p] (and, for further arrays, at
// %[p] + pitch and %[p] + 2·pitch) and STEP is the size of the block; a pass ends at the end of
// the first array. HEAD runs once before, TAIL once after.
#define RIDGELINE_STREAM_BODY(function, HEAD, BLOCK, STEP, TAIL)                               \
  void function(std::uint64_t repeats, void* data, std::uint64_t bytes, std::uint64_t pitch) { \
    std::uint64_t position, end;                                                               \
    asm volatile(HEAD                                                                          \
                 "1:\n"                                                                        \
                 "mov %[d], %[p]\n"                                                            \
                 "lea (%[d],%[b]), %[e]\n"                                                     \
                 ".p2align 6\n"                                                                \
                 "2:\n" BLOCK "add $" STEP                                                     \
                 ", %[p]\n"                                                                    \
                 "cmp %[e], %[p]\n"                                                            \
                 "jb 2b\n"                                                                     \
                 "dec %[n]\n"                                                                  \
                 "jnz 1b\n" TAIL                                                               \
                 : [n] "+r"(repeats), [p] "=&r"(position), [e] "=&r"(end)                      \
                 : [d] "r"(data), [b] "r"(bytes), [q] "r"(pitch)                               \
                 : "memory", "cc", "rax", RIDGELINE_VECTOR_CLOBBERS);                          \
  }
