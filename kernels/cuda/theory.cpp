// The catalog is read once. What it does not hold, since no network needs it, is in a short table.
#include "kernels/cuda/theory.h"

#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "devices/catalog/catalog.h"
#include "kernels/cuda/plan.h"

namespace ridgeline::cuda {
namespace {

using RateKey = std::tuple<int, Unit, DType, DType, bool>;  // architecture … sparse

struct StatedRate {
  int architecture;
  Unit unit;
  DType dtype, accumulate;
  double flop;
};

// What is in neither: nothing states the rate of dp4a from sm_72 on, of integer multiply-adds from
// sm_100 on (NVIDIA says "twice the integer rate" of sm_120 and names no instruction), or of FP64
// tensor cores where they are a token (sm_86, 87, 89, 120); of sm_88 nothing at all, of sm_103 and
// sm_121 little more than their cores.
constexpr auto stated_rates = std::to_array<StatedRate>({
    // 64 integer multiply-adds per clock: CUDA C++ Programming Guide, "Arithmetic Instructions".
    {72, Unit::vector, DType::int32, DType::int32, 128},
    {75, Unit::vector, DType::int32, DType::int32, 128},
    {80, Unit::vector, DType::int32, DType::int32, 128},
    {86, Unit::vector, DType::int32, DType::int32, 128},
    {87, Unit::vector, DType::int32, DType::int32, 128},
    {89, Unit::vector, DType::int32, DType::int32, 128},
    {90, Unit::vector, DType::int32, DType::int32, 128},
    // 128 FP32 lanes: GB300 and GB10 have 128 CUDA cores per multiprocessor (NVIDIA's datasheets).
    {103, Unit::vector, DType::fp32, DType::fp32, 256},
    {121, Unit::vector, DType::fp32, DType::fp32, 256},
    // Sums in FP16: as fast as in FP32 on GV11B and GA100 (whitepapers), and on GA10B as measured
    // by igpu-roofline (97 % of this rate, 97 % with FP32 sums).
    {72, Unit::matrix, DType::fp16, DType::fp16, 1024},
    {80, Unit::matrix, DType::fp16, DType::fp16, 2048},
    {87, Unit::matrix, DType::fp16, DType::fp16, 2048},
    {86, Unit::matrix, DType::fp16, DType::fp16, 1024},
    {89, Unit::matrix, DType::fp16, DType::fp16, 1024},
    {75, Unit::matrix, DType::fp16, DType::fp16, 1024},
    // "NVIDIA Hopper Architecture In-Depth", table 3 (forums.developer.nvidia.com/t/218102 quotes
    // it): BF16 beside tensor cores is twice FP32, and sums in FP16 are as fast as in FP32.
    {90, Unit::vector, DType::bf16, DType::bf16, 512},
    {90, Unit::matrix, DType::fp16, DType::fp16, 4096},
    // Assumed from that: no table that could be read states FP8 with both kinds of sums.
    {90, Unit::matrix, DType::fp8, DType::fp16, 8192},
    // BF16 beside tensor cores as fast as FP32: hmc-tech.com on two cards of this kind (RTX 5050,
    // RTX PRO 5000).
    {120, Unit::vector, DType::bf16, DType::bf16, 256},
    // GB10: 1 PFLOP/s of sparse FP4 (NVIDIA), twice the dense rate, from 48 multiprocessors is that
    // of GeForce at 2.5 GHz.
    {121, Unit::matrix, DType::fp4, DType::fp32, 4096},
});

// "8.7" is 87, "12.0" is 120.
int architecture_of(const std::string& compute_capability) {
  std::string digits;
  for (const char c : compute_capability)
    if (c != '.') digits += c;
  return digits.empty() ? 0 : std::stoi(digits);
}

std::map<RateKey, std::set<double>> read_rates() {
  std::map<RateKey, std::set<double>> rates;
  for (const catalog::IndexRow& row : catalog::index()) {
    const catalog::Device device = catalog::load(row.id);
    if (!device.gpu) continue;
    const int architecture = architecture_of(device.gpu->compute_capability);
    for (const auto& rate : device.gpu->rates)
      rates[{architecture, rate.unit, rate.dtype, rate.accumulate, rate.sparse}].insert(
          rate.per_clock.value);
  }
  for (const StatedRate& rate : stated_rates)
    rates[{rate.architecture, rate.unit, rate.dtype, rate.accumulate, false}].insert(rate.flop);
  return rates;
}

// Load and store units: 128 bytes per clock, on Turing 64 (Jia et al., "Dissecting the NVidia
// Turing T4 GPU via Microbenchmarking", arXiv 1903.07486).
double near_bytes_per_clock(int architecture) { return architecture == 75 ? 64 : 128; }

}  // namespace

std::optional<double> theory_per_cycle(const Kernel& kernel, int architecture) {
  if (kernel.role == Role::memory && (kernel.level == Level::shared || kernel.level == Level::l1))
    return near_bytes_per_clock(architecture);
  if (kernel.role != Role::compute || kernel.fed ||
      !faster_instruction(kernel, architecture).empty())
    return std::nullopt;
  static const auto rates = read_rates();
  const auto agreed = [&](bool sparse, DType sum) -> std::optional<double> {
    const auto found = rates.find({architecture, kernel.unit, kernel.dtype, sum, sparse});
    if (found == rates.end() || found->second.size() != 1) return std::nullopt;
    return *found->second.begin();
  };
  // GeForce halves the rate of plain products with sums in FP32, but not of those with block
  // scales: RTX 5060 Ti, 202 TFLOP/s of MXFP8 beside 102 and 206 of plain FP8 with FP32 and FP16
  // sums (github.com/flashinfer-ai/flashinfer/issues/3628).
  if (kernel.dtype == DType::fp8 && kernel.ptx.find("block_scale") != kernel.ptx.npos)
    if (const auto whole = agreed(false, DType::fp16)) return whole;
  if (!kernel.sparse) return agreed(false, kernel.accumulate);
  if (const auto own = agreed(true, kernel.accumulate)) return own;
  const auto dense = agreed(false, kernel.accumulate);
  return dense ? std::optional(2 * *dense) : std::nullopt;
}

Theory theory_of(const Kernel& kernel, const DeviceFacts& facts) {
  if (kernel.role == Role::memory && kernel.level == Level::dram) {
    // Sectors at random places never fill the bus: no share of it is expected.
    if (kernel.direction == Direction::random) return {};
    return {.rate = facts.memory_bytes_per_s};
  }
  const auto per_cycle = theory_per_cycle(kernel, facts.architecture);
  if (!per_cycle) return {};
  return {.per_hz = *per_cycle * facts.multiprocessors};
}

}  // namespace ridgeline::cuda
