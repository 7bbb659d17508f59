// The families of aarch64 kernels: each is one file that holds bodies and their rows.
// A new kernel is a row in its family; a new family is a file and a line here and in table.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/kernel.h"

namespace ridgeline::cpu::aarch64 {

std::span<const Kernel> compute_scalar();
std::span<const Kernel> compute_neon();
std::span<const Kernel> compute_dot();
std::span<const Kernel> memory_neon();
std::span<const Kernel> sweep();
std::span<const Kernel> latency();

}  // namespace ridgeline::cpu::aarch64
