// The table of kernels, made from the same lines that device code is made from (*.inc).
// A line says what is done and how often; what follows from that is computed here.
#include <algorithm>

#include "kernels/cuda/arithmetic.h"
#include "kernels/cuda/kernel.h"

namespace ridgeline::cuda {
namespace {

constexpr int lanes = 32;

template <class Arithmetic>
constexpr int constants_of = 1;
template <>
constexpr int constants_of<MadInt32> = 2;  // a factor and a summand

template <class Arithmetic, int chains, int rounds>
constexpr Kernel chain_row(std::string_view name, std::string_view group, int first) {
  Kernel row;
  row.name = name;
  row.group = group;
  row.architectures.first = first;
  row.dtype = Arithmetic::dtype;
  row.accumulate = Arithmetic::accumulate;
  row.chains = chains;
  row.arithmetic = chains * rounds;
  row.opcodes = Arithmetic::opcodes;
  row.ptx = Arithmetic::ptx;
  row.flop_each = lanes * Arithmetic::flop;
  row.constants = constants_of<Arithmetic>;
  row.registers_per_chain = 1;
  row.register_bytes = Arithmetic::register_bytes;
  return row;
}

template <class Arithmetic, int chains, int rounds>
constexpr Kernel tensor_row(std::string_view name, std::string_view group, int first, int last) {
  Kernel row;
  row.name = name;
  row.group = group;
  row.architectures = {first, last, Arithmetic::emulated_first, Arithmetic::emulated_last};
  row.unit = Unit::matrix;
  row.dtype = Arithmetic::dtype;
  row.accumulate = Arithmetic::accumulate;
  row.sparse = Arithmetic::sparse;
  // Each instruction of a split one goes on with registers of its own.
  row.chains = chains * Arithmetic::split;
  row.arithmetic = row.chains * rounds;
  row.opcodes = Arithmetic::opcodes;
  row.ptx = Arithmetic::ptx;
  row.split = Arithmetic::split;
  row.flop_each = Arithmetic::flop / Arithmetic::split;
  row.cycles_each = Arithmetic::cycles;
  row.opaque = Arithmetic::opaque;
  row.warps_together = Arithmetic::warps;
  row.tensor_columns = Arithmetic::allocated;
  row.constants = (Arithmetic::sparse ? 1 : 0) + 2 * Arithmetic::a + 2 * Arithmetic::b;
  row.registers_per_chain = Arithmetic::c / Arithmetic::split;
  row.register_bytes = Arithmetic::register_bytes;
  return row;
}

template <class Arithmetic, int rows, int columns, int rounds>
constexpr Kernel fed_row(std::string_view name, std::string_view group, int first, int last) {
  Kernel row = tensor_row<Arithmetic, rows * columns, rounds>(name, group, first, last);
  row.fed = true;
  row.level = Level::shared;
  row.constants = rounds * (rows * Arithmetic::a + columns * Arithmetic::b);
  row.loads = row.constants / 4;
  return row;
}

constexpr Kernel stream_row(std::string_view name, Level level, Direction direction, int arrays,
                            int loads, int stores, int fma, int combines, int percent) {
  Kernel row;
  row.name = name;
  row.group = "core";
  row.role = Role::memory;
  row.level = level;
  row.direction = direction;
  row.arrays = arrays;
  row.loads = loads;
  row.stores = stores;
  row.arithmetic = fma;
  row.opcodes = FmaFp32::opcodes;
  row.ptx = FmaFp32::ptx;
  row.flop_each = lanes * FmaFp32::flop;
  row.combines = combines;
  row.other_percent = percent;
  return row;
}

constexpr Kernel sweep_row(std::string_view name, int fma_per_element, int loads) {
  const int elements = 4 * loads;
  // Without arithmetic something else must want what is loaded.
  const int combines = fma_per_element == 0 ? 2 * loads : 0;
  Kernel row = stream_row(name, Level::dram, Direction::read, 1, loads, 0,
                          elements * fma_per_element, combines, 3);
  row.role = Role::sweep;
  row.chains = fma_per_element == 0 ? 0 : elements;
  row.fma_per_element = fma_per_element;
  return row;
}

constexpr Kernel chase_row(std::string_view name, Level level, int loads) {
  Kernel row;
  row.name = name;
  row.group = "core";
  row.role = Role::latency;
  row.level = level;
  row.loads = loads;
  return row;
}

constexpr Kernel launch_row(std::string_view name) {
  Kernel row;
  row.name = name;
  row.group = "core";
  row.role = Role::launch;
  return row;
}

#define RIDGELINE_STREAM(name, body, level, direction, arrays, loads, stores, fma, lop3, percent) \
  stream_row(#name, Level::level, Direction::direction, arrays, loads, stores, fma, lop3, percent),
#define RIDGELINE_SWEEP(name, n, loads) sweep_row(#name, n, loads),
#define RIDGELINE_CHASE(name, cache, loads) chase_row(#name, Level::cache, loads),
#define RIDGELINE_CHAINS(name, Arithmetic, chains, rounds) \
  chain_row<Arithmetic, chains, rounds>(#name, group, first_architecture),
#define RIDGELINE_TENSOR(name, Arithmetic, chains, rounds, first, last) \
  tensor_row<Arithmetic, chains, rounds>(#name, group, first, last),
#define RIDGELINE_WGMMA RIDGELINE_TENSOR
#define RIDGELINE_TCGEN05 RIDGELINE_TENSOR
#define RIDGELINE_FED(name, Arithmetic, rows, columns, rounds, first, last) \
  fed_row<Arithmetic, rows, columns, rounds>(#name, group, first, last),

constexpr auto make_table() {
  std::string_view group = "core";
  int first_architecture = 0;
  const auto core = std::to_array<Kernel>({
#include "kernels/cuda/core.inc"
      launch_row("empty"),
  });
  group = "tensor_sm72";
  const auto sm72 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_sm72.inc"
  });
  group = "tensor_sm75";
  const auto sm75 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_sm75.inc"
  });
  group = "tensor_sm80";
  first_architecture = 80;
  const auto sm80 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_sm80.inc"
  });
  group = "tensor_int4";
  const auto int4 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_int4.inc"
  });
  group = "tensor_fp8";
  const auto fp8 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_fp8.inc"
  });
  group = "tensor_sm90";
  const auto sm90 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_sm90.inc"
  });
  group = "tensor_sm100";
  const auto sm100 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_sm100.inc"
  });
  group = "tensor_sm100_int8";
  const auto sm100_int8 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_sm100_int8.inc"
  });
  group = "tensor_sm120";
  const auto sm120 = std::to_array<Kernel>({
#include "kernels/cuda/tensor_sm120.inc"
  });
  std::array<Kernel, core.size() + sm72.size() + sm75.size() + sm80.size() + sm90.size() +
                         int4.size() + fp8.size() + sm100.size() + sm100_int8.size() + sm120.size()>
      all;
  auto end = std::ranges::copy(core, all.begin()).out;
  end = std::ranges::copy(sm72, end).out;
  end = std::ranges::copy(sm75, end).out;
  end = std::ranges::copy(sm80, end).out;
  end = std::ranges::copy(int4, end).out;
  end = std::ranges::copy(fp8, end).out;
  // Last: what an older form does is listed by its name.
  end = std::ranges::copy(sm90, end).out;
  end = std::ranges::copy(sm100, end).out;
  end = std::ranges::copy(sm100_int8, end).out;
  std::ranges::copy(sm120, end);
  return all;
}

#undef RIDGELINE_STREAM
#undef RIDGELINE_SWEEP
#undef RIDGELINE_CHASE
#undef RIDGELINE_CHAINS
#undef RIDGELINE_TENSOR
#undef RIDGELINE_WGMMA
#undef RIDGELINE_TCGEN05
#undef RIDGELINE_FED

constexpr auto table = make_table();

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::compute:
      return "compute";
    case Role::memory:
      return "memory";
    case Role::sweep:
      return "sweep";
    case Role::latency:
      return "latency";
    case Role::launch:
      return "launch";
    case Role::transfer:
      return "transfer";
  }
  return "?";
}

std::span<const Kernel> kernel_table() { return table; }

const Kernel* find_kernel(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Kernel::name);
  return found == table.end() ? nullptr : &*found;
}

bool runs_machine_code(int code, int architecture) {
  // Within a major architecture upwards, but not from desktop chips to Tegra or back (CUDA C++
  // Programming Guide, "Binary Compatibility").
  if (code == architecture) return true;
  const auto tegra = [](int number) { return number == 72 || number == 87 || number == 110; };
  return code / 10 == architecture / 10 && code < architecture && !tegra(code) &&
         !tegra(architecture);
}

}  // namespace ridgeline::cuda
