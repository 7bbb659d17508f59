// The latency kernel: a chain of loads, each of which yields the address of the next.
// The chain itself (a random cycle over cache lines) is laid out by kernels/cpu/page_buffer.h.
#include "kernels/cpu/aarch64/families.h"

namespace ridgeline::cpu::aarch64 {
namespace {

// `data` points to the position in the chain, which is written back: the next window goes on
// where this one ended, so that a long chain is never found in a cache.
void chase(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {
  std::uint64_t position;
  asm volatile(
      "ldr %[p], [%[d]]\n"
      "1:\n"
      ".rept 16\n ldr %[p], [%[p]]\n.endr\n"
      "subs %[n], %[n], #1\n"
      "b.ne 1b\n"
      "str %[p], [%[d]]\n"
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
     .registers = "x",
     .body = chase},
};

}  // namespace

std::span<const Kernel> latency() { return rows; }

}  // namespace ridgeline::cpu::aarch64
