// Rates per multiprocessor and clock. Sources: NVIDIA's architecture whitepapers (Turing, GA100,
// GA102, AD102, GH100), Jetson Orin and Xavier technical briefs, Jetson Thor datasheet (FP32).
// Rates that differ between products of one architecture are left out: FP16 with FP32 sums, BF16
// and TF32 on sm_86 and sm_89 are half as fast on GeForce as elsewhere.
#include "kernels/cuda/theory.h"

#include <array>

namespace ridgeline::cuda {
namespace {

struct Rate {
  int architecture;
  Unit unit;
  DType dtype, accumulate;
  double flop;
};

constexpr auto vector_rate = [](int architecture, DType dtype, double flop) {
  return Rate{architecture, Unit::vector, dtype, dtype, flop};
};

constexpr auto rates = std::to_array<Rate>({
    vector_rate(72, DType::fp32, 128),
    vector_rate(72, DType::fp16, 256),
    vector_rate(75, DType::fp32, 128),
    vector_rate(75, DType::fp16, 256),
    vector_rate(80, DType::fp32, 128),
    vector_rate(80, DType::fp16, 512),
    vector_rate(86, DType::fp32, 256),
    vector_rate(86, DType::fp16, 256),
    vector_rate(87, DType::fp32, 256),
    vector_rate(89, DType::fp32, 256),
    vector_rate(89, DType::fp16, 256),
    vector_rate(90, DType::fp32, 256),
    vector_rate(90, DType::fp16, 512),
    vector_rate(110, DType::fp32, 256),
    {72, Unit::matrix, DType::fp16, DType::fp32, 1024},
    {72, Unit::matrix, DType::int8, DType::int32, 2048},
    {75, Unit::matrix, DType::fp16, DType::fp16, 1024},
    {75, Unit::matrix, DType::int8, DType::int32, 2048},
    {80, Unit::matrix, DType::fp16, DType::fp32, 2048},
    {80, Unit::matrix, DType::fp16, DType::fp16, 2048},
    {80, Unit::matrix, DType::bf16, DType::fp32, 2048},
    {80, Unit::matrix, DType::tf32, DType::fp32, 1024},
    {80, Unit::matrix, DType::int8, DType::int32, 4096},
    {86, Unit::matrix, DType::fp16, DType::fp16, 1024},
    {87, Unit::matrix, DType::fp16, DType::fp32, 2048},
    {87, Unit::matrix, DType::int8, DType::int32, 4096},
    {89, Unit::matrix, DType::fp16, DType::fp16, 1024},
    {89, Unit::matrix, DType::int8, DType::int32, 2048},
    {90, Unit::matrix, DType::fp16, DType::fp32, 4096},
    {90, Unit::matrix, DType::bf16, DType::fp32, 4096},
    {90, Unit::matrix, DType::tf32, DType::fp32, 2048},
    {90, Unit::matrix, DType::int8, DType::int32, 8192},
});

}  // namespace

std::optional<double> theory_per_cycle(const Kernel& kernel, int architecture) {
  // Load/store units: 128 bytes per clock on every architecture in the table.
  if (kernel.role == Role::memory && (kernel.level == Level::shared || kernel.level == Level::l1))
    return 128;
  if (kernel.role != Role::compute) return std::nullopt;
  for (const Rate& rate : rates)
    if (rate.architecture == architecture && rate.unit == kernel.unit &&
        rate.dtype == kernel.dtype && rate.accumulate == kernel.accumulate)
      return kernel.sparse ? 2 * rate.flop : rate.flop;
  return std::nullopt;
}

}  // namespace ridgeline::cuda
