// The latency kernel: a chain of loads, each of which yields the address of the next.
// The chain itself (a random cycle over cache lines) is laid out by kernels/cpu/page_buffer.h.
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// `data` points to the position in the chain, which is written back: the next window goes on
// where this one ended, so that a long chain is never found in a cache.
void chase(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {
  std::uint64_t position;
  asm volatile(
      "mov (%[d]), %[p]\n"
      "1:\n"
      ".rept 16\n mov (%[p]), %[p]\n.endr\n"
      "dec %[n]\n"
      "jnz 1b\n"
      "mov %[p], (%[d])\n"
      : [n] "+r"(repeats), [p] "=&r"(position)
      : [d] "r"(data)
      : "memory", "cc");
}

constexpr Kernel rows[] = {
    {.name = "chase",
     .role = Role::latency,
     .unit = Unit::scalar,
     .chains = 1,
     .loads = 16,
     .access_bytes = 8,
     .registers = "r",
     .body = chase},
};

}  // namespace

std::span<const Kernel> latency() { return rows; }

}  // namespace ridgeline::cpu::x86
