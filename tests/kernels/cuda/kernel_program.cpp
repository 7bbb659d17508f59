// Families of kernels with the numbers of their loops, and the walk of device/memory.cuh replayed
// with ranges of addresses in place of threads.
#include "tests/kernels/cuda/kernel_program.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace ridgeline::testing {
namespace {

// FLOP of a warp's instruction: 2 per lane and FMA, 2·m·n·k of a matrix product.
struct ArithmeticFamily {
  std::string_view name;
  double flop_each;
  std::map<int, int> instructions;  // by chains, as the names end
};

const std::vector<ArithmeticFamily>& arithmetic_families() {
  static const std::vector<ArithmeticFamily> families{
      {"fma_fp64", 64, {{4, 128}, {8, 128}}},
      {"fma_fp32", 64, {{4, 512}, {8, 512}, {16, 512}}},
      {"fma_fp16", 128, {{4, 512}, {8, 512}}},
      {"fma_bf16", 128, {{4, 512}, {8, 512}}},
      {"mad_int32", 64, {{4, 192}, {8, 192}}},
      {"dp4a_int8", 256, {{4, 192}, {8, 192}}},
      {"mma_fp16_k4", 4 * 2 * 8 * 8 * 4, {{4, 40}, {8, 48}}},
      {"mma_fp16_fp16_k4", 4 * 2 * 8 * 8 * 4, {{4, 80}, {8, 80}}},
      {"wmma_int8", 2 * 16 * 16 * 16, {{4, 40}, {8, 48}}},
      {"mma_fp16_k8", 2 * 16 * 8 * 8, {{4, 160}, {8, 160}}},
      {"mma_fp16_fp16_k8", 2 * 16 * 8 * 8, {{4, 160}, {8, 160}}},
      {"mma_int8_k16", 2 * 8 * 8 * 16, {{4, 160}, {8, 160}}},
      {"mma_int4_k32", 2 * 8 * 8 * 32, {{4, 160}, {8, 160}}},
      {"mma_fp16", 2 * 16 * 8 * 16, {{4, 160}, {8, 160}}},
      {"mma_fp16_fp16", 2 * 16 * 8 * 16, {{4, 160}, {8, 160}}},
      {"mma_bf16", 2 * 16 * 8 * 16, {{4, 160}, {8, 160}}},
      {"mma_tf32", 2 * 16 * 8 * 8, {{4, 160}, {8, 160}}},
      {"mma_fp64", 2 * 8 * 8 * 4, {{4, 48}, {8, 48}}},
      {"mma_fp64_k16", 2 * 16 * 8 * 16, {{2, 32}, {4, 32}}},
      {"mma_int8", 2 * 16 * 8 * 32, {{4, 160}, {8, 160}}},
      {"mma_int4", 2 * 16 * 8 * 64, {{4, 160}, {8, 160}}},
      {"mma_fp8", 2 * 16 * 8 * 32, {{4, 160}, {8, 160}}},
      {"mma_fp8_fp16", 2 * 16 * 8 * 32, {{4, 160}, {8, 160}}},
      // A quarter of a product of four warps.
      {"wgmma_fp16", 2 * 16 * 128 * 16, {{1, 32}}},
      {"wgmma_fp16_fp16", 2 * 16 * 128 * 16, {{1, 32}}},
      {"wgmma_bf16", 2 * 16 * 128 * 16, {{1, 32}}},
      {"wgmma_tf32", 2 * 16 * 128 * 8, {{1, 32}}},
      {"wgmma_fp8", 2 * 16 * 128 * 32, {{1, 32}}},
      {"wgmma_fp8_fp16", 2 * 16 * 128 * 32, {{1, 32}}},
      {"wgmma_int8", 2 * 16 * 128 * 32, {{1, 32}}},
      // Likewise, of 128 × 256.
      {"tcgen05_fp16", 2 * 32 * 256 * 16, {{1, 32}}},
      {"tcgen05_fp16_fp16", 2 * 32 * 256 * 16, {{1, 32}}},
      {"tcgen05_bf16", 2 * 32 * 256 * 16, {{1, 32}}},
      {"tcgen05_tf32", 2 * 32 * 256 * 8, {{1, 32}}},
      {"tcgen05_fp8", 2 * 32 * 256 * 32, {{1, 32}}},
      {"tcgen05_fp8_fp16", 2 * 32 * 256 * 32, {{1, 32}}},
      {"tcgen05_int8", 2 * 32 * 256 * 32, {{1, 32}}},
      {"tcgen05_mxfp8", 2 * 32 * 256 * 32, {{1, 32}}},
      {"tcgen05_mxfp4", 2 * 32 * 256 * 64, {{1, 32}}},
      {"tcgen05_nvfp4", 2 * 32 * 256 * 64, {{1, 32}}},
      {"mma_mxfp8", 2 * 16 * 8 * 32, {{4, 160}, {8, 160}}},
      {"mma_mxfp4", 2 * 16 * 8 * 64, {{4, 160}, {8, 160}}},
      {"mma_nvfp4", 2 * 16 * 8 * 64, {{4, 160}, {8, 160}}},
      {"sparse_fp16", 2 * 16 * 8 * 32, {{4, 160}, {8, 160}}},
      {"sparse_bf16", 2 * 16 * 8 * 32, {{4, 160}, {8, 160}}},
      {"sparse_tf32", 2 * 16 * 8 * 16, {{4, 160}, {8, 160}}},
      {"sparse_int8", 2 * 16 * 8 * 64, {{4, 160}, {8, 160}}},
      {"sparse_fp8", 2 * 16 * 8 * 64, {{4, 160}, {8, 160}}},
  };
  return families;
}

KernelProgram stream(Reach reach, std::vector<ArrayAccesses> arrays, int in_flight) {
  KernelProgram program;
  program.reach = reach;
  program.arrays = std::move(arrays);
  program.in_flight = in_flight;
  program.registers = 80;
  return program;
}

KernelProgram sweep(int fma_per_element, int loads) {
  KernelProgram program = stream(Reach::streaming, {{loads, 0}}, loads);
  if (fma_per_element == 0) return program;
  program.pipe = "fma_fp32";
  program.flop_each = 64;
  program.chains = 4 * loads;  // one per element
  program.instructions = program.chains * fma_per_element;
  program.other = 8;
  return program;
}

// A warp's tile of four times eight products, four steps deep; so many bytes of operands a step.
KernelProgram fed(std::string pipe, double flop_each, int step_bytes) {
  KernelProgram program;
  program.pipe = std::move(pipe);
  program.flop_each = flop_each;
  program.chains = 32;
  program.instructions = 4 * 32;
  program.near_accesses = 4 * step_bytes / 512;
  program.shared_bytes = 4 * std::uint64_t(step_bytes);
  program.registers = 204;
  return program;
}

std::map<std::string, KernelProgram, std::less<>> all_programs() {
  std::map<std::string, KernelProgram, std::less<>> all;
  for (const ArithmeticFamily& family : arithmetic_families())
    for (const auto& [chains, instructions] : family.instructions) {
      KernelProgram program;
      program.pipe = family.name;
      program.flop_each = family.flop_each;
      program.chains = chains;
      program.instructions = instructions;
      program.registers = 24 + 4 * chains;
      if (family.name.starts_with("wgmma")) {
        program.registers = 96;
        program.shared_bytes = 12 * 1024;
      }
      if (family.name.starts_with("tcgen05")) {
        program.registers = 64;
        program.shared_bytes = 25 * 1024;
        program.most_threads = 128;
        const bool scaled = family.name.find("mx") != family.name.npos ||
                            family.name.find("nv") != family.name.npos;
        program.tensor_columns = scaled ? 512 : 256;  // scales lie beside the sums
      }
      all[std::string(family.name) + "_" + std::to_string(chains)] = program;
    }
  constexpr int fragments_a = 4, fragments_b = 8;
  const int whole = fragments_a * 512 + fragments_b * 256;  // 16 and 8 rows of 32 bytes
  all["fed_fp16_32"] = fed("mma_fp16", 2 * 16 * 8 * 16, whole);
  all["fed_bf16_32"] = fed("mma_bf16", 2 * 16 * 8 * 16, whole);
  all["fed_tf32_32"] = fed("mma_tf32", 2 * 16 * 8 * 8, whole);
  all["fed_int8_32"] = fed("mma_int8", 2 * 16 * 8 * 32, whole);
  all["fed_fp8_32"] = fed("mma_fp8", 2 * 16 * 8 * 32, whole);
  all["fed_fp16_k8_32"] = fed("mma_fp16_k8", 2 * 16 * 8 * 8, whole / 2);
  all["fed_int8_k16_32"] = fed("mma_int8_k16", 2 * 8 * 8 * 16, 12 * 128);
  all["read_dram"] = stream(Reach::streaming, {{16, 0}}, 15);
  all["write_dram"] = stream(Reach::streaming, {{0, 16}}, 16);
  all["copy_dram"] = stream(Reach::streaming, {{0, 16}, {16, 0}}, 16);
  all["update_dram"] = stream(Reach::streaming, {{16, 16}}, 16);
  all["triad_dram"] = stream(Reach::streaming, {{0, 12}, {12, 0}, {12, 0}}, 16);
  all["random_dram"] = stream(Reach::sectors, {{16, 0}}, 11);
  all["read_l2"] = stream(Reach::l2, {{16, 0}}, 15);
  all["read_l1"] = stream(Reach::l1, {{16, 0}}, 15);
  all["read_shared"] = stream(Reach::shared, {{16, 0}}, 8);
  all["read_shared"].shared_bytes = 32 * 1024;
  for (const auto& [n, loads] : {std::pair{0, 16},
                                 {1, 16},
                                 {2, 16},
                                 {4, 16},
                                 {8, 12},
                                 {16, 6},
                                 {32, 3},
                                 {64, 4},
                                 {128, 2},
                                 {256, 1}})
    all["sweep_" + std::to_string(n)] = sweep(n, loads);
  all["chase"] = stream(Reach::chain, {{64, 0}}, 1);
  all["chase_pages"] = stream(Reach::far_chain, {{64, 0}}, 1);
  all["empty"] = {};
  return all;
}

struct Range {
  std::uint64_t begin, end;
};

std::vector<Range> merged(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::begin);
  std::vector<Range> result;
  for (const Range& range : ranges)
    if (!result.empty() && range.begin <= result.back().end)
      result.back().end = std::max(result.back().end, range.end);
    else
      result.push_back(range);
  return result;
}

// The union of all ranges, each shifted by 0, step, 2·step …
std::vector<Range> repeated(const std::vector<Range>& ranges, std::uint64_t step,
                            std::uint64_t times) {
  const auto covers = [&](const Range& range) { return step <= range.end - range.begin; };
  std::vector<Range> result;
  if (std::ranges::all_of(ranges, covers)) {
    for (Range range : ranges) {
      range.end += (times - 1) * step;
      result.push_back(range);
    }
    return merged(std::move(result));
  }
  if (ranges.size() * times > 4'000'000)
    throw std::logic_error("a walk that the simulated GPU cannot follow: too many pieces");
  for (std::uint64_t i = 0; i < times; ++i)
    for (const Range& range : ranges)
      result.push_back({range.begin + i * step, range.end + i * step});
  return merged(std::move(result));
}

std::uint64_t total(const std::vector<Range>& ranges) {
  std::uint64_t bytes = 0;
  for (const Range& range : ranges) bytes += range.end - range.begin;
  return bytes;
}

}  // namespace

int KernelProgram::accesses() const {
  int sum = 0;
  for (const ArrayAccesses& array : arrays) sum += array.loads + array.stores;
  return sum;
}

const KernelProgram& program_of(std::string_view kernel) {
  static const auto programs = all_programs();
  const auto found = programs.find(kernel);
  if (found == programs.end())
    throw std::logic_error("the simulated GPU has no program " + std::string(kernel));
  return found->second;
}

Footprint footprint_of(const KernelProgram& program, cuda::Grid grid,
                       const cuda::Arguments& arguments) {
  Footprint result;
  const std::uint64_t warps = grid.threads / 32;
  // Trips that all touch the same are passes.
  const std::uint64_t times =
      arguments.trip_step == 0 ? 1 : std::max<std::uint64_t>(arguments.trips, 1);
  if (program.reach == Reach::none) return result;
  if (program.reach == Reach::shared) {
    result.distinct_bytes = program.shared_bytes;
    return result;
  }
  if (program.reach == Reach::sectors) {
    result.distinct_bytes = result.end = arguments.window / 32 * 32;
    return result;
  }
  std::vector<Range> ranges;
  std::uint64_t tiles = 0;
  for (std::size_t i = 0; i < program.arrays.size(); ++i) {
    const ArrayAccesses& array = program.arrays[i];
    const auto places = static_cast<std::uint64_t>(std::max(array.loads, array.stores));
    const std::uint64_t tile = warps * places * 512;
    tiles += tile * grid.blocks * times;
    std::vector<Range> blocks;
    for (std::uint64_t block = 0; block < grid.blocks; ++block) {
      const std::uint64_t place = block * arguments.block_step % arguments.window;
      blocks.push_back({place, place + tile});
    }
    for (const Range& range : repeated(merged(std::move(blocks)), arguments.trip_step, times))
      ranges.push_back({range.begin + i * arguments.pitch, range.end + i * arguments.pitch});
  }
  ranges = merged(std::move(ranges));
  result.distinct_bytes = total(ranges);
  result.end = ranges.back().end;
  result.spread = static_cast<double>(result.distinct_bytes) / static_cast<double>(tiles);
  return result;
}

}  // namespace ridgeline::testing
