// Streaming kernels with 512-bit accesses: read, write, non-temporal write, copy, update, triad.
// A read trip covers 16 KiB: shorter trips train the stride prefetcher, which then takes a tenth
// of the L1 bandwidth for lines that are there already.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

#define ROUNDS_16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"

RIDGELINE_STREAM_BODY(read_avx512, "",
                      ".irp k," ROUNDS_16 "\n.irp i," RIDGELINE_LIST_16
                      "\n vmovaps 64*(16*\\k+\\i)(%[p]), %%zmm\\i\n"
                      ".endr\n.endr\n",
                      "16384", "vzeroupper\n")

// The values written are the array's own first block.
#define FILL_REGISTERS ".irp i," RIDGELINE_LIST_16 "\n vmovaps 64*\\i(%[d]), %%zmm\\i\n.endr\n"
RIDGELINE_STREAM_BODY(write_avx512, FILL_REGISTERS,
                      ".irp i," RIDGELINE_LIST_16 "\n vmovaps %%zmm\\i, 64*\\i(%[p])\n.endr\n",
                      "1024", "vzeroupper\n")
RIDGELINE_STREAM_BODY(nt_write_avx512, FILL_REGISTERS,
                      ".irp i," RIDGELINE_LIST_16 "\n vmovntps %%zmm\\i, 64*\\i(%[p])\n.endr\n",
                      "1024",
                      "sfence\n"
                      "vzeroupper\n")

// First array ← second array.
RIDGELINE_STREAM_BODY(copy_avx512, "",
                      ".irp i," RIDGELINE_LIST_16
                      "\n vmovaps 64*\\i(%[p],%[q]), %%zmm\\i\n"
                      "vmovaps %%zmm\\i, 64*\\i(%[p])\n.endr\n",
                      "1024", "vzeroupper\n")

RIDGELINE_STREAM_BODY(update_avx512, "",
                      ".irp i," RIDGELINE_LIST_16
                      "\n vmovaps 64*\\i(%[p]), %%zmm\\i\n"
                      "vmovaps %%zmm\\i, 64*\\i(%[p])\n.endr\n",
                      "1024", "vzeroupper\n")

// First array ← second array + 3 · third array, FP32.
RIDGELINE_STREAM_BODY(triad_avx512,
                      "mov $0x40400000, %%eax\n"
                      "vmovd %%eax, %%xmm31\n"
                      "vbroadcastss %%xmm31, %%zmm31\n",
                      ".irp i," RIDGELINE_LIST_8
                      "\n vmovaps 64*\\i(%[p],%[q],2), %%zmm\\i\n"
                      "vfmadd213ps 64*\\i(%[p],%[q]), %%zmm31, %%zmm\\i\n"
                      "vmovaps %%zmm\\i, 64*\\i(%[p])\n.endr\n",
                      "512", "vzeroupper\n")

// Five loads per imul of three cycles keep two load ports 83 % busy.
void clock_load_avx512(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {
  std::uint64_t chain = 3;
  asm volatile(
      ".p2align 6\n"
      "1:\n"
      ".irp k,0,5,10,15\n"
      "imul %[c], %[c]\n"
      ".irp i,0,1,2,3,4\n vmovaps 64*(\\k+\\i)(%[s]), %%zmm\\i\n.endr\n"
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
          .isa = Isa::avx512f,
          .role = Role::memory,
          .issue = direction == Direction::read ? Issue::load_512 : Issue::none,
          .direction = direction,
          .loads = loads,
          .stores = stores,
          .access_bytes = 64,
          .registers = "zmm",
          .arrays = arrays,
          .probe = "clock_load_avx512",
          .body = body};
}

constexpr Kernel triad_row() {
  Kernel kernel = row("triad_avx512", Direction::triad, 3, 16, 8, triad_avx512);
  kernel.arithmetic = 8;
  kernel.mnemonics = "vfmadd213ps";
  kernel.flop_each = 32;
  return kernel;
}

constexpr Kernel rows[] = {
    row("read_avx512", Direction::read, 1, 256, 0, read_avx512),
    row("write_avx512", Direction::write, 1, 0, 16, write_avx512),
    row("nt_write_avx512", Direction::nt_write, 1, 0, 16, nt_write_avx512),
    row("copy_avx512", Direction::copy, 2, 16, 16, copy_avx512),
    row("update_avx512", Direction::update, 1, 16, 16, update_avx512),
    triad_row(),
    {.name = "clock_load_avx512",
     .isa = Isa::avx512f,
     .role = Role::clock,
     .loads = 20,
     .access_bytes = 64,
     .registers = "zmm",
     .cycles = 4 * 3,
     .body = clock_load_avx512},
};

}  // namespace

std::span<const Kernel> memory_avx512() { return rows; }

}  // namespace ridgeline::cpu::x86
