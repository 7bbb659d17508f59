// Streaming kernels with 128-bit accesses: read, write, non-temporal write, copy, update, triad.
// A read trip covers 16 KiB: shorter trips train the stride prefetcher, which then takes a tenth
// of the L1 bandwidth for lines that are there already.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

#define ROUNDS_64                                    \
  "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"           \
  "16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31," \
  "32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47," \
  "48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63"

RIDGELINE_STREAM_BODY(read_sse4, "",
                      ".irp k," ROUNDS_64 "\n.irp i," RIDGELINE_LIST_16
                      "\n movaps 16*(16*\\k+\\i)(%[p]), %%xmm\\i\n"
                      ".endr\n.endr\n",
                      "16384", "")

// The values written are the array's own first block.
#define FILL_REGISTERS ".irp i," RIDGELINE_LIST_16 "\n movaps 16*\\i(%[d]), %%xmm\\i\n.endr\n"
RIDGELINE_STREAM_BODY(write_sse4, FILL_REGISTERS,
                      ".irp i," RIDGELINE_LIST_16 "\n movaps %%xmm\\i, 16*\\i(%[p])\n.endr\n",
                      "256", "")
RIDGELINE_STREAM_BODY(nt_write_sse4, FILL_REGISTERS,
                      ".irp i," RIDGELINE_LIST_16 "\n movntps %%xmm\\i, 16*\\i(%[p])\n.endr\n",
                      "256",
                      "sfence\n"
                      "")

// First array ← second array.
RIDGELINE_STREAM_BODY(copy_sse4, "",
                      ".irp i," RIDGELINE_LIST_16
                      "\n movaps 16*\\i(%[p],%[q]), %%xmm\\i\n"
                      "movaps %%xmm\\i, 16*\\i(%[p])\n.endr\n",
                      "256", "")

RIDGELINE_STREAM_BODY(update_sse4, "",
                      ".irp i," RIDGELINE_LIST_16
                      "\n movaps 16*\\i(%[p]), %%xmm\\i\n"
                      "movaps %%xmm\\i, 16*\\i(%[p])\n.endr\n",
                      "256", "")

// First array ← second array + 3 · third array, FP32.
RIDGELINE_STREAM_BODY(triad_sse4,
                      "mov $0x40400000, %%eax\n"
                      "movd %%eax, %%xmm15\n"
                      "shufps $0, %%xmm15, %%xmm15\n",
                      ".irp i," RIDGELINE_LIST_8
                      "\n movaps 16*\\i(%[p],%[q],2), %%xmm\\i\n"
                      "mulps %%xmm15, %%xmm\\i\n addps 16*\\i(%[p],%[q]), %%xmm\\i\n"
                      "movaps %%xmm\\i, 16*\\i(%[p])\n.endr\n",
                      "128", "")

// Five loads per imul of three cycles keep two load ports 83 % busy.
void clock_load_sse4(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {
  std::uint64_t chain = 3;
  asm volatile(
      ".p2align 6\n"
      "1:\n"
      ".irp k,0,5,10,15\n"
      "imul %[c], %[c]\n"
      ".irp i,0,1,2,3,4\n movaps 16*(\\k+\\i)(%[s]), %%xmm\\i\n.endr\n"
      ".endr\n"
      "dec %[n]\n"
      "jnz 1b\n"
      ""
      : [n] "+r"(repeats), [c] "+r"(chain)
      : [s] "r"(data)
      : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);
}

constexpr Kernel row(std::string_view name, Direction direction, int arrays, int loads, int stores,
                     Body body) {
  return {.name = name,
          .isa = Isa::sse4,
          .role = Role::memory,
          .issue = direction == Direction::read ? Issue::load_128 : Issue::none,
          .direction = direction,
          .loads = loads,
          .stores = stores,
          .access_bytes = 16,
          .registers = "xmm",
          .arrays = arrays,
          .probe = "clock_load_sse4",
          .body = body};
}

constexpr Kernel triad_row() {
  Kernel kernel = row("triad_sse4", Direction::triad, 3, 16, 8, triad_sse4);
  kernel.arithmetic = 16;
  kernel.mnemonics = "mulps|addps";
  kernel.flop_each = 4;
  return kernel;
}

constexpr Kernel rows[] = {
    row("read_sse4", Direction::read, 1, 1024, 0, read_sse4),
    row("write_sse4", Direction::write, 1, 0, 16, write_sse4),
    row("nt_write_sse4", Direction::nt_write, 1, 0, 16, nt_write_sse4),
    row("copy_sse4", Direction::copy, 2, 16, 16, copy_sse4),
    row("update_sse4", Direction::update, 1, 16, 16, update_sse4),
    triad_row(),
    {.name = "clock_load_sse4",
     .isa = Isa::sse4,
     .role = Role::clock,
     .loads = 20,
     .access_bytes = 16,
     .registers = "xmm",
     .cycles = 4 * 3,
     .body = clock_load_sse4},
};

}  // namespace

std::span<const Kernel> memory_sse() { return rows; }

}  // namespace ridgeline::cpu::x86
