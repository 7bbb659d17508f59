// Loop skeletons shared by the aarch64 kernels, as assembler text.
// The preprocessor and .rept repeat the instructions, so that counts hold by construction.
#pragma once

#include <cstdint>

// clang-format off
// X(i, …) for registers 0 … 23. The preprocessor, as assemblers disagree on how an .irp inside a
// .rept spells v\i.4s.
#define RIDGELINE_FOR_24(X, ...) \
  X(0, __VA_ARGS__) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) \
  X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__) \
  X(8, __VA_ARGS__) X(9, __VA_ARGS__) X(10, __VA_ARGS__) X(11, __VA_ARGS__) \
  X(12, __VA_ARGS__) X(13, __VA_ARGS__) X(14, __VA_ARGS__) X(15, __VA_ARGS__) \
  X(16, __VA_ARGS__) X(17, __VA_ARGS__) X(18, __VA_ARGS__) X(19, __VA_ARGS__) \
  X(20, __VA_ARGS__) X(21, __VA_ARGS__) X(22, __VA_ARGS__) X(23, __VA_ARGS__)

// X(i, i + 1, …) for the eight pairs of registers 0 … 15.
#define RIDGELINE_FOR_8_PAIRS(X, ...) \
  X(0, 1, __VA_ARGS__) X(2, 3, __VA_ARGS__) X(4, 5, __VA_ARGS__) X(6, 7, __VA_ARGS__) \
  X(8, 9, __VA_ARGS__) X(10, 11, __VA_ARGS__) X(12, 13, __VA_ARGS__) X(14, 15, __VA_ARGS__)
// clang-format on

// Instructions beyond ARMv8.0: both compilers take them from the function's attribute, each with
// a spelling of its own.
#if defined(__clang__)
#define RIDGELINE_WITH_FP16 __attribute__((target("fullfp16")))
#define RIDGELINE_WITH_DOTPROD __attribute__((target("dotprod")))
#else
#define RIDGELINE_WITH_FP16 __attribute__((target("arch=armv8.2-a+fp16")))
#define RIDGELINE_WITH_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))
#endif

#define RIDGELINE_VECTOR_CLOBBERS                                                                \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
      "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", \
      "v28", "v29", "v30", "v31"

// A compute kernel: HEAD fills registers from the state, PATTERN is repeated TIMES times, TAIL
// writes the accumulators back. The state starts at %[s]; %[c] is a counter for clock probes.
#define RIDGELINE_COMPUTE_BODY(function, HEAD, PATTERN, TIMES, TAIL)               \
  void function(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) { \
    std::uint64_t chain = 3;                                                       \
    asm volatile(HEAD                                                              \
                 ".p2align 6\n"                                                    \
                 "1:\n"                                                            \
                 ".rept " TIMES "\n" PATTERN                                       \
                 ".endr\n"                                                         \
                 "subs %[n], %[n], #1\n"                                           \
                 "b.ne 1b\n" TAIL                                                  \
                 : [n] "+r"(repeats), [c] "+r"(chain)                              \
                 : [s] "r"(data)                                                   \
                 : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);                     \
  }

// A streaming kernel: BLOCK works on the bytes at %[p] and, for further arrays, at %[u] and
// %[v], pitch and 2·pitch behind it; STEPS moves the pointers that BLOCK uses. A pass ends at
// the end of the first array. HEAD runs once before, TAIL once after.
#define RIDGELINE_STREAM_BODY(function, HEAD, BLOCK, STEPS, TAIL)                               \
  void function(std::uint64_t repeats, void* data, std::uint64_t bytes, std::uint64_t pitch) {  \
    std::uint64_t position, second, third, end;                                                 \
    asm volatile(HEAD                                                                           \
                 "add %[e], %[d], %[b]\n"                                                       \
                 "1:\n"                                                                         \
                 "mov %[p], %[d]\n"                                                             \
                 "add %[u], %[p], %[q]\n"                                                       \
                 "add %[v], %[u], %[q]\n"                                                       \
                 ".p2align 6\n"                                                                 \
                 "2:\n" BLOCK STEPS                                                             \
                 "cmp %[p], %[e]\n"                                                             \
                 "b.lo 2b\n"                                                                    \
                 "subs %[n], %[n], #1\n"                                                        \
                 "b.ne 1b\n" TAIL                                                               \
                 : [n] "+r"(repeats), [p] "=&r"(position), [u] "=&r"(second), [v] "=&r"(third), \
                   [e] "=&r"(end)                                                               \
                 : [d] "r"(data), [b] "r"(bytes), [q] "r"(pitch)                                \
                 : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);                                  \
  }
