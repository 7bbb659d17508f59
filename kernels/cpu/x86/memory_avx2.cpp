// Streaming kernels with 256-bit accesses: read, write, non-temporal write, copy, update, triad.
// A read trip covers 16 KiB: shorter trips train the stride prefetcher, which then takes a tenth
// of the L1 bandwidth for lines that are there already.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

#define ROUNDS_32                          \
  "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15," \
  "16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"

RIDGELINE_STREAM_BODY(read_avx2, "",
                      ".irp k," ROUNDS_32 "\n.irp i," RIDGELINE_LIST_16
                      "\n vmovaps 32*(16*\\k+\\i)(%[p]), %%ymm\\i\n"
                      ".endr\n.endr\n",
                      "16384", "vzeroupper\n")

// The values written are the array's own first block.
#define FILL_REGISTERS ".irp i," RIDGELINE_LIST_16 "\n vmovaps 32*\\i(%[d]), %%ymm\\i\n.endr\n"
RIDGELINE_STREAM_BODY(write_avx2, FILL_REGISTERS,
                      ".irp i," RIDGELINE_LIST_16 "\n vmovaps %%ymm\\i, 32*\\i(%[p])\n.endr\n",
                      "512", "vzeroupper\n")
RIDGELINE_STREAM_BODY(nt_write_avx2, FILL_REGISTERS,
                      ".irp i," RIDGELINE_LIST_16 "\n vmovntps %%ymm\\i, 32*\\i(%[p])\n.endr\n",
                      "512",
                      "sfence\n"
                      "vzeroupper\n")

// First array ← second array.
RIDGELINE_STREAM_BODY(copy_avx2, "",
                      ".irp i," RIDGELINE_LIST_16
                      "\n vmovaps 32*\\i(%[p],%[q]), %%ymm\\i\n"
                      "vmovaps %%ymm\\i, 32*\\i(%[p])\n.endr\n",
                      "512", "vzeroupper\n")

RIDGELINE_STREAM_BODY(update_avx2, "",
                      ".irp i," RIDGELINE_LIST_16
                      "\n vmovaps 32*\\i(%[p]), %%ymm\\i\n"
                      "vmovaps %%ymm\\i, 32*\\i(%[p])\n.endr\n",
                      "512", "vzeroupper\n")

// First array ← second array + 3 · third array, FP32.
RIDGELINE_STREAM_BODY(triad_avx2,
                      "mov $0x40400000, %%eax\n"
                      "vmovd %%eax, %%xmm15\n"
                      "vbroadcastss %%xmm15, %%ymm15\n",
                      ".irp i," RIDGELINE_LIST_8
                      "\n vmovaps 32*\\i(%[p],%[q],2), %%ymm\\i\n"
                      "vfmadd213ps 32*\\i(%[p],%[q]), %%ymm15, %%ymm\\i\n"
                      "vmovaps %%ymm\\i, 32*\\i(%[p])\n.endr\n",
                      "256", "vzeroupper\n")

// Five loads per imul of three cycles keep two load ports 83 % busy.
void clock_load_avx2(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {
  std::uint64_t chain = 3;
  asm volatile(
      ".p2align 6\n"
      "1:\n"
      ".irp k,0,5,10,15\n"
      "imul %[c], %[c]\n"
      ".irp i,0,1,2,3,4\n vmovaps 32*(\\k+\\i)(%[s]), %%ymm\\i\n.endr\n"
      ".endr\n"
      "dec %[n]\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : [n] "+r"(repeats), [c] "+r"(chain)
      : [s] "r"(data)
      : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);
}

constexpr Kernel row(std::string_view name, Direction direction, int arrays, int loads, int stores,
                     Body body) {
  return {.name = name,
          .isa = Isa::avx2_fma,
          .role = Role::memory,
          .issue = direction == Direction::read ? Issue::load_256 : Issue::none,
          .direction = direction,
          .loads = loads,
          .stores = stores,
          .access_bytes = 32,
          .registers = "ymm",
          .arrays = arrays,
          .probe = "clock_load_avx2",
          .body = body};
}

constexpr Kernel triad_row() {
  Kernel kernel = row("triad_avx2", Direction::triad, 3, 16, 8, triad_avx2);
  kernel.arithmetic = 8;
  kernel.mnemonics = "vfmadd213ps";
  kernel.flop_each = 16;
  return kernel;
}

constexpr Kernel rows[] = {
    row("read_avx2", Direction::read, 1, 512, 0, read_avx2),
    row("write_avx2", Direction::write, 1, 0, 16, write_avx2),
    row("nt_write_avx2", Direction::nt_write, 1, 0, 16, nt_write_avx2),
    row("copy_avx2", Direction::copy, 2, 16, 16, copy_avx2),
    row("update_avx2", Direction::update, 1, 16, 16, update_avx2),
    triad_row(),
    {.name = "clock_load_avx2",
     .isa = Isa::avx2_fma,
     .role = Role::clock,
     .loads = 20,
     .access_bytes = 32,
     .registers = "ymm",
     .cycles = 4 * 3,
     .body = clock_load_avx2},
};

}  // namespace

std::span<const Kernel> memory_avx2() { return rows; }

}  // namespace ridgeline::cpu::x86
