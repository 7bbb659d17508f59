// Streaming kernels with 128-, 256- and 512-bit accesses: read, write, non-temporal write, copy,
// update, triad. The three instruction sets differ in names and widths only.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// A read trip covers 16 KiB in rounds of 16 loads: shorter trips train the stride prefetcher,
// which then takes a tenth of the L1 bandwidth for lines that are there already.
#define ROUNDS_16 RIDGELINE_LIST_16
#define ROUNDS_32 ROUNDS_16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
#define ROUNDS_64                                                \
  ROUNDS_32                                                      \
  ",32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51" \
  ",52,53,54,55,56,57,58,59,60,61,62,63"

#define FOR_EACH_16(text) ".irp i," RIDGELINE_LIST_16 "\n" text ".endr\n"
#define FOR_EACH_8(text) ".irp i," RIDGELINE_LIST_8 "\n" text ".endr\n"

// `move` and `stream` are the plain and the non-temporal move of register class `reg` with `width`
// bytes; `block` is 16 and `half` 8 of them. Copy: first array ← second. Triad: first ← second +
// 3 · third, FP32; FACTOR fills a register with the 3 and TRIAD adds the second array. A write
// repeats the array's own first block. The clock kernel does five loads per imul of three cycles:
// two load ports are 83 % busy.
#define MEMORY_BODIES(set, move, stream, reg, width, block, half, ROUNDS, FACTOR, TRIAD, TAIL)    \
  RIDGELINE_STREAM_BODY(read_##set, "",                                                           \
                        ".irp k," ROUNDS "\n" FOR_EACH_16(                                        \
                            move " " width "*(16*\\k+\\i)(%[p]), %%" reg "\\i\n") ".endr\n",      \
                        "16384", TAIL)                                                            \
  RIDGELINE_STREAM_BODY(write_##set, FOR_EACH_16(move " " width "*\\i(%[d]), %%" reg "\\i\n"),    \
                        FOR_EACH_16(move " %%" reg "\\i, " width "*\\i(%[p])\n"), block, TAIL)    \
  RIDGELINE_STREAM_BODY(nt_write_##set, FOR_EACH_16(move " " width "*\\i(%[d]), %%" reg "\\i\n"), \
                        FOR_EACH_16(stream " %%" reg "\\i, " width "*\\i(%[p])\n"), block,        \
                        "sfence\n" TAIL)                                                          \
  RIDGELINE_STREAM_BODY(copy_##set, "",                                                           \
                        FOR_EACH_16(move " " width "*\\i(%[p],%[q]), %%" reg "\\i\n" move         \
                                         " %%" reg "\\i, " width "*\\i(%[p])\n"),                 \
                        block, TAIL)                                                              \
  RIDGELINE_STREAM_BODY(update_##set, "",                                                         \
                        FOR_EACH_16(move " " width "*\\i(%[p]), %%" reg "\\i\n" move " %%" reg    \
                                         "\\i, " width "*\\i(%[p])\n"),                           \
                        block, TAIL)                                                              \
  RIDGELINE_STREAM_BODY(triad_##set, "mov $0x40400000, %%eax\n" FACTOR,                           \
                        FOR_EACH_8(move " " width "*\\i(%[p],%[q],2), %%" reg "\\i\n" TRIAD move  \
                                        " %%" reg "\\i, " width "*\\i(%[p])\n"),                  \
                        half, TAIL)                                                               \
  void clock_load_##set(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {        \
    std::uint64_t chain = 3;                                                                      \
    asm volatile(                                                                                 \
        ".p2align 6\n"                                                                            \
        "1:\n"                                                                                    \
        ".irp k,0,2,4,6\n"                                                                        \
        "imul %[c], %[c]\n"                                                                       \
        ".irp i,0,1\n" move " " width "*(\\k+\\i)(%[s]), %%" reg                                  \
        "\\i\n.endr\n"                                                                            \
        ".endr\n"                                                                                 \
        "dec %[n]\n"                                                                              \
        "jnz 1b\n" TAIL                                                                           \
        : [n] "+r"(repeats), [c] "+r"(chain)                                                      \
        : [s] "r"(data)                                                                           \
        : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);                                             \
  }

MEMORY_BODIES(sse4, "movaps", "movntps", "xmm", "16", "256", "128", ROUNDS_64,
              "movd %%eax, %%xmm15\n shufps $0, %%xmm15, %%xmm15\n",
              "mulps %%xmm15, %%xmm\\i\n addps 16*\\i(%[p],%[q]), %%xmm\\i\n", "")
MEMORY_BODIES(avx2, "vmovaps", "vmovntps", "ymm", "32", "512", "256", ROUNDS_32,
              "vmovd %%eax, %%xmm15\n vbroadcastss %%xmm15, %%ymm15\n",
              "vfmadd213ps 32*\\i(%[p],%[q]), %%ymm15, %%ymm\\i\n", "vzeroupper\n")
MEMORY_BODIES(avx512, "vmovaps", "vmovntps", "zmm", "64", "1024", "512", ROUNDS_16,
              "vmovd %%eax, %%xmm31\n vbroadcastss %%xmm31, %%zmm31\n",
              "vfmadd213ps 64*\\i(%[p],%[q]), %%zmm31, %%zmm\\i\n", "vzeroupper\n")

// Non-temporal writes in other orders than one line after the other; kernels/cpu/write_pattern.h
// chooses among them. All stores hold the array's own first line, in `line` registers. Several
// streams take turns line by line; `ahead` writes a page per trip and touches the next one, whose
// translation is then there when the stores arrive.
#define LINES_8 RIDGELINE_LIST_8
#define LINES_64                                                                                 \
  "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33," \
  "34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63"
#define FOR_EACH_LINE(lines, text) ".irp k," lines "\n" text ".endr\n"
#define WRITE_LINE(stream, reg, width, line, at) \
  ".irp i," line "\n" stream " %%" reg "\\i, 64*\\k+" width "*\\i(" at ")\n.endr\n"

#define WRITE_BODIES(set, move, stream, reg, width, line, TAIL)                                 \
  RIDGELINE_STREAM_BODY(                                                                        \
      nt_write_2_##set, ".irp i," line "\n" move " " width "*\\i(%[d]), %%" reg "\\i\n.endr\n", \
      FOR_EACH_LINE(LINES_8, WRITE_LINE(stream, reg, width, line, "%[p]")                       \
                                 WRITE_LINE(stream, reg, width, line, "%[p],%[q]")),            \
      "512", "sfence\n" TAIL)                                                                   \
  RIDGELINE_STREAM_BODY(                                                                        \
      nt_write_4_##set,                                                                         \
      "lea (%[q],%[q],2), %%rax\n.irp i," line "\n" move " " width "*\\i(%[d]), %%" reg         \
      "\\i\n.endr\n",                                                                           \
      FOR_EACH_LINE(LINES_8, WRITE_LINE(stream, reg, width, line, "%[p]")                       \
                                 WRITE_LINE(stream, reg, width, line, "%[p],%[q]")              \
                                     WRITE_LINE(stream, reg, width, line, "%[p],%[q],2")        \
                                         WRITE_LINE(stream, reg, width, line, "%[p],%%rax")),   \
      "512", "sfence\n" TAIL)                                                                   \
  RIDGELINE_STREAM_BODY(nt_write_ahead_##set,                                                   \
                        ".irp i," line "\n" move " " width "*\\i(%[d]), %%" reg "\\i\n.endr\n", \
                        "prefetcht0 4096(%[p])\n" FOR_EACH_LINE(                                \
                            LINES_64, WRITE_LINE(stream, reg, width, line, "%[p]")),            \
                        "4096", "sfence\n" TAIL)

WRITE_BODIES(sse4, "movaps", "movntps", "xmm", "16", "0,1,2,3", "")
WRITE_BODIES(avx2, "vmovaps", "vmovntps", "ymm", "32", "0,1", "vzeroupper\n")
WRITE_BODIES(avx512, "vmovaps", "vmovntps", "zmm", "64", "0", "vzeroupper\n")

// What the rows of one instruction set have in common.
constexpr Kernel form(Isa isa, std::string_view registers, int register_bytes,
                      std::string_view probe) {
  return {.isa = isa,
          .role = Role::memory,
          .access_bytes = register_bytes,
          .registers = registers,
          .probe = probe};
}

constexpr Kernel row(Kernel kernel, std::string_view name, Direction direction, int arrays,
                     int loads, int stores, Body body) {
  kernel.name = name;
  kernel.direction = direction;
  kernel.arrays = arrays;
  kernel.loads = loads;
  kernel.stores = stores;
  kernel.body = body;
  return kernel;
}

// `lines` of 64 bytes in each of `streams`.
constexpr Kernel write_row(const Kernel& common, std::string_view name, int streams, int lines,
                           int prefetches, Body body) {
  Kernel kernel = row(common, name, Direction::nt_write, streams, 0,
                      streams * lines * 64 / common.access_bytes, body);
  kernel.prefetches = prefetches;
  return kernel;
}

constexpr Kernel read_row(const Kernel& common, std::string_view name, Issue issue, Body body) {
  Kernel kernel = row(common, name, Direction::read, 1, 16384 / common.access_bytes, 0, body);
  kernel.issue = issue;
  return kernel;
}

constexpr Kernel triad_row(const Kernel& common, std::string_view name, std::string_view mnemonics,
                           int instructions, Body body) {
  Kernel kernel = row(common, name, Direction::triad, 3, 16, 8, body);
  kernel.arithmetic = 8 * instructions;
  kernel.mnemonics = mnemonics;
  kernel.flop_each = 2 * common.access_bytes / 4 / instructions;
  return kernel;
}

constexpr Kernel load_clock_row(const Kernel& common, Body body) {
  Kernel kernel = clock_row(common, 0, 4 * 3, body);
  kernel.loads = 8;
  return kernel;
}

constexpr Kernel sse4 = form(Isa::sse4, "xmm", 16, "clock_load_sse4");
constexpr Kernel avx2 = form(Isa::avx2_fma, "ymm", 32, "clock_load_avx2");
constexpr Kernel avx512 = form(Isa::avx512f, "zmm", 64, "clock_load_avx512");

#define MEMORY_ROWS(set, load_issue, triad_mnemonics, triad_instructions)              \
  read_row(set, "read_" #set, load_issue, read_##set),                                 \
      row(set, "write_" #set, Direction::write, 1, 0, 16, write_##set),                \
      row(set, "nt_write_" #set, Direction::nt_write, 1, 0, 16, nt_write_##set),       \
      write_row(set, "nt_write_2_" #set, 2, 8, 0, nt_write_2_##set),                   \
      write_row(set, "nt_write_4_" #set, 4, 8, 0, nt_write_4_##set),                   \
      write_row(set, "nt_write_ahead_" #set, 1, 64, 1, nt_write_ahead_##set),          \
      row(set, "copy_" #set, Direction::copy, 2, 16, 16, copy_##set),                  \
      row(set, "update_" #set, Direction::update, 1, 16, 16, update_##set),            \
      triad_row(set, "triad_" #set, triad_mnemonics, triad_instructions, triad_##set), \
      load_clock_row(set, clock_load_##set)

constexpr Kernel rows[] = {
    MEMORY_ROWS(sse4, Issue::load_128, "mulps|addps", 2),
    MEMORY_ROWS(avx2, Issue::load_256, "vfmadd213ps", 1),
    MEMORY_ROWS(avx512, Issue::load_512, "vfmadd213ps", 1),
};

}  // namespace

std::span<const Kernel> memory() { return rows; }

}  // namespace ridgeline::cpu::x86
