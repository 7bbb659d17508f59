// The families of x86-64 kernels: each is one file that holds bodies and their rows.
// A new kernel is a row in its family; a new family is a file and a line here and in table.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/kernel.h"

namespace ridgeline::cpu::x86 {

std::span<const Kernel> compute_scalar_sse();
std::span<const Kernel> compute_avx2();
std::span<const Kernel> compute_avx512();
std::span<const Kernel> compute_dot();
std::span<const Kernel> compute_amx();
std::span<const Kernel> memory_sse();
std::span<const Kernel> memory_avx2();
std::span<const Kernel> memory_avx512();
std::span<const Kernel> sweep();
std::span<const Kernel> latency();

}  // namespace ridgeline::cpu::x86
