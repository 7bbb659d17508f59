// The formulas of docs/model.md, "Kernels". Sums over kernels and waits for the host are in step.h.
#include "roofline/model/kernel_time.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/error.h"
#include "roofline/model/units_for.h"

namespace ridgeline {
namespace {

bool is_product(KernelKind kind) {
  return kind == KernelKind::convolution || kind == KernelKind::linear ||
         kind == KernelKind::product || kind == KernelKind::attention ||
         kind == KernelKind::recurrent;
}

// Products are computed in tiles of this size, each by one SM (NVIDIA's matrix product guide).
constexpr double tile_m = 128;
constexpr double convolution_tile_n = 64;
constexpr double matmul_tile_n = 128;
constexpr double channel_alignment = 8;  // fewer input channels are padded

// Operations of a product's tiles over those of the product itself: last waves that do not fill the
// machine, edges of the result, padded channels.
double padding_of(const KernelLoad& kernel, double units, double most) {
  if (!kernel.gemm || kernel.matrix_ops <= 0) return 1;
  const Gemm& gemm = *kernel.gemm;
  const bool convolution = kernel.kind == KernelKind::convolution;
  const double tile_n = convolution ? convolution_tile_n : matmul_tile_n;
  const double m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n);
  const double k = static_cast<double>(gemm.k), batch = static_cast<double>(gemm.batch);
  const double tiles = std::ceil(m / tile_m) * std::ceil(n / tile_n) * batch;
  double operations = std::ceil(tiles / units) * units * tile_m * tile_n * 2 * k;
  const double channels = k / static_cast<double>(gemm.taps);
  if (convolution && channels < channel_alignment) operations *= channel_alignment / channels;
  return std::clamp(operations / kernel.matrix_ops, 1.0, std::max(1.0, most));
}

}  // namespace

Arithmetic arithmetic_of(const Engine& engine, const KernelLoad& kernel, Runtime runtime) {
  // Other arithmetic without a rate of its own never limits a kernel: memory does.
  if (!is_product(kernel.kind))
    return {Unit::vector, kernel.dtype, engine.vector_rate[index_of(kernel.dtype)]};
  // cuDNN may use TF32 by default, cuBLAS may not; TensorRT allows both. Inputs of other types that
  // are computed in fp32 keep their bits.
  const bool may_use_tf32 =
      kernel.dtype == DType::fp32 &&
      (kernel.kind == KernelKind::convolution || runtime == Runtime::tensorrt);
  Arithmetic chosen{Unit::vector, DType::fp32, 0};
  each_unit_for({kernel.dtype, true, may_use_tf32}, [&](Unit unit, DType dtype) {
    if (unit == Unit::scalar) return false;  // no library uses it
    const double rate =
        (unit == Unit::matrix ? engine.matrix_rate : engine.vector_rate)[index_of(dtype)];
    if (rate > 0 && chosen.rate == 0) chosen = {unit, dtype, rate};
    return rate > 0;
  });
  return chosen;
}

double usable_bytes_per_s(const Coefficients& coefficients, double peak_bytes_per_s, double hz) {
  const double by_memory = coefficients.dram_efficiency * peak_bytes_per_s;
  if (coefficients.dram_bytes_per_clock <= 0) return by_memory;
  return std::min(by_memory, coefficients.dram_bytes_per_clock * hz);
}

KernelTime kernel_time(const KernelLoad& kernel, const Coefficients& coefficients,
                       const DevicePoint& point, Runtime runtime) {
  KernelTime time;
  if (kernel.kind == KernelKind::none) return time;
  const Engine& engine = coefficients.engine;
  const bool ideal = runtime == Runtime::ideal;

  if (is_product(kernel.kind)) {
    const Arithmetic arithmetic = arithmetic_of(engine, kernel, runtime);
    const std::size_t dtype = index_of(arithmetic.dtype);
    const bool convolution = kernel.kind == KernelKind::convolution;
    const double efficiency = convolution ? engine.convolution_efficiency[dtype]
                              : kernel.kind == KernelKind::attention
                                  ? engine.attention_efficiency[dtype]
                                  : engine.matmul_efficiency[dtype];
    if (!ideal && kernel.kind != KernelKind::attention && kernel.kind != KernelKind::recurrent)
      time.padding = padding_of(kernel, point.units,
                                convolution ? engine.convolution_padding : engine.matmul_padding);
    const double rate = point.units * point.hz * arithmetic.rate * std::min(1.0, efficiency);
    if (kernel.matrix_ops > 0 && !(rate > 0))
      throw Error(kernel.name, "the machine's model has no rate for products in " +
                                   std::string(to_string(kernel.dtype)));
    time.compute_s = kernel.matrix_ops > 0 ? kernel.matrix_ops * time.padding / rate : 0;
  } else {
    const double per_clock = engine.elements_per_clock[index_of(kernel.kind)];
    const double vector_rate = engine.vector_rate[index_of(kernel.dtype)];
    if (per_clock > 0)
      time.compute_s = kernel.elements / (point.units * point.hz * per_clock);
    else if (vector_rate > 0)
      time.compute_s =
          (kernel.vector_ops + kernel.matrix_ops) / (point.units * point.hz * vector_rate);
  }

  time.bytes = kernel.weight_bytes +
               kernel.activation_bytes *
                   (kernel.activation_bytes < engine.cache_bytes ? engine.cached_traffic : 1.0);
  time.memory_s = point.bytes_per_s > 0 ? time.bytes / point.bytes_per_s : 0;
  // Launches after the first are small helpers, such as the sum with a bias.
  time.fixed_s = (engine.kernel_clocks[index_of(kernel.kind)] +
                  engine.further_kernel_clocks * std::max(0, kernel.launches - 1)) /
                 point.hz;
  time.compute_s *= coefficients.kernel_scale;
  time.memory_s *= coefficients.kernel_scale;
  time.fixed_s *= coefficients.kernel_scale;
  time.total_s = std::max(time.compute_s, time.memory_s) +
                 (1 - engine.overlap) * std::min(time.compute_s, time.memory_s) + time.fixed_s;
  return time;
}

std::vector<KernelTime> kernel_times(const NetworkLoad& load, const Coefficients& coefficients,
                                     const DevicePoint& point) {
  std::vector<KernelTime> times;
  times.reserve(load.kernels.size());
  for (const KernelLoad& kernel : load.kernels)
    times.push_back(kernel_time(kernel, coefficients, point, load.runtime));
  return times;
}

}  // namespace ridgeline
