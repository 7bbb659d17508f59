// The families of x86-64 kernels: each is one file that holds bodies and their rows.
// A new kernel is a row in its family; a new family is a file and a line here and in table.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/kernel.h"

namespace ridgeline::cpu::x86 {

// A row of a compute kernel: what its family has in common, and what is its own.
constexpr Kernel compute_row(Kernel family, std::string_view name, std::string_view probe,
                             Issue issue, DType dtype, std::string_view mnemonics, int flop_each,
                             Body body) {
  family.name = name;
  family.probe = probe;
  family.role = Role::compute;
  family.issue = issue;
  family.dtype = dtype;
  family.accumulate = dtype;
  family.mnemonics = mnemonics;
  family.flop_each = flop_each;
  family.body = body;
  return family;
}

std::span<const Kernel> compute_scalar_sse();
std::span<const Kernel> compute_avx2();
std::span<const Kernel> compute_avx512();
std::span<const Kernel> compute_dot();
std::span<const Kernel> compute_amx();
std::span<const Kernel> memory();
std::span<const Kernel> sweep();
std::span<const Kernel> latency();

}  // namespace ridgeline::cpu::x86
