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
  return kind == KernelKind::convolution || kind == KernelKind::convolution_gradient ||
         kind == KernelKind::linear || kind == KernelKind::product ||
         kind == KernelKind::attention || kind == KernelKind::recurrent;
}

double unfamiliar_scale(const KernelLoad& kernel, const Coefficients& coefficients) {
  const UnfamiliarScales& scales = coefficients.unfamiliar;
  return (kernel.subject ? scales.subject[index_of(*kernel.subject)] : 1.0) *
         (is_product(kernel.kind) ? scales.dtype[index_of(kernel.dtype)] : 1.0);
}

// Products are computed in tiles of this size, each by one SM (NVIDIA's matrix product guide).
constexpr double tile_m = 128;
constexpr double convolution_tile_n = 64;
constexpr double matmul_tile_n = 128;

// Channels that a kernel takes at once from a pixel: 16 bytes. Input channels are padded to it.
double channel_alignment(DType dtype) {
  const bool is_narrow =
      dtype == DType::int8 || dtype == DType::fp8 || dtype == DType::fp4 || dtype == DType::int4;
  return is_narrow ? 16 : 8;
}

// Operations of a product's tiles over those of the product itself: last waves that do not fill the
// machine, edges of the result, padded channels.
// Gradients of convolutions are split along their longest dimension until the machine is full.
double padding_of(const KernelLoad& kernel, DType dtype, double units, const Engine& engine) {
  if (!kernel.gemm || kernel.matrix_ops <= 0 || kernel.kind == KernelKind::attention ||
      kernel.kind == KernelKind::recurrent || kernel.kind == KernelKind::convolution_gradient)
    return 1;
  const Gemm& gemm = *kernel.gemm;
  const bool convolution = kernel.kind == KernelKind::convolution;
  const double tile_n = convolution ? convolution_tile_n : matmul_tile_n;
  const double m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n);
  const double k = static_cast<double>(gemm.k), batch = static_cast<double>(gemm.batch);
  const double tiles = std::ceil(m / tile_m) * std::ceil(n / tile_n) * batch;
  double operations = std::ceil(tiles / units) * units * tile_m * tile_n * 2 * k;
  const double channels = k / static_cast<double>(gemm.taps);
  if (convolution) {
    const double aligned = channel_alignment(dtype);
    operations *= std::ceil(channels / aligned) * aligned / channels;
  }
  const double most = convolution ? engine.convolution_padding : engine.matmul_padding;
  return std::clamp(operations / kernel.matrix_ops, 1.0, std::max(1.0, most));
}

// Share of the units that have a tile to compute, on average over the waves. The library splits
// products further if fewer tiles would cost more than its kernels' padding does.
double filled_share(const KernelLoad& kernel, double units, double padding) {
  if (!kernel.gemm || padding <= 1) return 1;
  const double tile_n = kernel.kind == KernelKind::convolution ? convolution_tile_n : matmul_tile_n;
  const double tiles = std::ceil(static_cast<double>(kernel.gemm->m) / tile_m) *
                       std::ceil(static_cast<double>(kernel.gemm->n) / tile_n) *
                       static_cast<double>(kernel.gemm->batch);
  return std::max(1 / padding, tiles / (std::ceil(tiles / units) * units));
}

double library_efficiency(const Engine& engine, KernelKind kind, DType dtype) {
  const std::size_t i = index_of(dtype);
  if (kind == KernelKind::convolution || kind == KernelKind::convolution_gradient)
    return std::min(1.0, engine.convolution_efficiency[i]);
  if (kind == KernelKind::attention) return std::min(1.0, engine.attention_efficiency[i]);
  return std::min(1.0, engine.matmul_efficiency[i]);
}

// Operations per unit and clock that the library's kernels reach. Feeding the unit limits them to a
// share of its fastest rate; if it sums in fp32 at a lower rate (consumer cards), that limits too.
double reached_rate(const Engine& engine, KernelKind kind, const Arithmetic& arithmetic) {
  const std::size_t dtype = index_of(arithmetic.dtype);
  double rate = arithmetic.rate * library_efficiency(engine, kind, arithmetic.dtype);
  if (const double wide = engine.wide_sum_rate[dtype]; arithmetic.unit == Unit::matrix && wide > 0)
    rate = std::min(rate, wide * std::min(1.0, engine.wide_sum_efficiency));
  const bool is_gradient = kind == KernelKind::convolution_gradient;
  return is_gradient ? rate * std::min(1.0, engine.gradient_efficiency) : rate;
}

// As arithmetic_of, for inputs of this type.
Arithmetic arithmetic_in(DType dtype, const Engine& engine, const KernelLoad& kernel,
                         Runtime runtime) {
  // Other arithmetic without a rate of its own never limits a kernel: memory does.
  if (!is_product(kernel.kind)) return {Unit::vector, dtype, engine.vector_rate[index_of(dtype)]};
  // cuDNN may use TF32 by default, cuBLAS may not; TensorRT allows both. Inputs of other types that
  // are computed in fp32 keep their bits.
  const bool may_use_tf32 =
      dtype == DType::fp32 &&
      (kernel.kind == KernelKind::convolution || kernel.kind == KernelKind::convolution_gradient ||
       runtime == Runtime::tensorrt);
  Arithmetic chosen{Unit::vector, DType::fp32, 0};
  double fastest = 0;
  each_unit_for({dtype, true, may_use_tf32}, [&](Unit unit, DType type) {
    if (unit == Unit::scalar) return false;  // no library uses it
    const double rate =
        (unit == Unit::matrix ? engine.matrix_rate : engine.vector_rate)[index_of(type)];
    const double reached = rate * library_efficiency(engine, kernel.kind, type);
    const bool is_better = runtime == Runtime::tensorrt && reached > fastest;  // by timing them
    if (rate > 0 && (chosen.rate == 0 || is_better)) {
      chosen = {unit, type, rate};
      fastest = reached;
    }
    return rate > 0;
  });
  return chosen;
}

// One way to run a kernel.
struct Variant {
  DType dtype;
  double activation_bytes, weight_bytes, pointwise_bytes;
  int launches;
};

Variant as_asked(const KernelLoad& kernel) {
  return {kernel.dtype, kernel.activation_bytes, kernel.weight_bytes, kernel.pointwise_bytes,
          kernel.launches};
}

// An activation function that is a kernel of its own in int8 may be part of this one in fp16.
Variant in_fp16(const KernelLoad& kernel) {
  const bool joins = kernel.pointwise_bytes > 0 && !(kernel.fp16_pointwise_bytes > 0);
  return {DType::fp16, kernel.fp16_activation_bytes, 2 * kernel.weight_bytes,
          kernel.fp16_pointwise_bytes, kernel.launches - (joins ? 1 : 0)};
}

// Kernels that the library runs around this one: conversions of layout, the sum with a bias, an
// activation function, the conversion of the network's input.
struct Helpers {
  double bytes = 0;
  double time_s = 0;
};

Helpers helpers_of(const KernelLoad& kernel, const Variant& variant, const Engine& engine,
                   const DevicePoint& point, double conversion, double traffic) {
  Helpers helpers;
  // Each is limited by memory or by its own arithmetic, whichever takes longer.
  const auto add = [&](double bytes, double elements, double per_clock) {
    helpers.bytes += bytes;
    const double memory_s = point.bytes_per_s > 0 ? bytes / point.bytes_per_s : 0;
    const double compute_s = per_clock > 0 ? elements / (point.units * point.hz * per_clock) : 0;
    helpers.time_s += std::max(memory_s, compute_s);
  };
  add((conversion * kernel.layout_bytes + kernel.bias_bytes) * traffic, 0, 0);
  if (variant.pointwise_bytes > 0)
    add(variant.pointwise_bytes * traffic, kernel.pointwise_elements, engine.activations_per_clock);
  constexpr double bytes_of_input = 4;  // fp32, unless an engine is built for another type
  if (kernel.input_elements > 0 && engine.reformats_per_clock > 0) {
    add(bytes_of_input * kernel.input_elements, kernel.input_elements, engine.reformats_per_clock);
    helpers.time_s += engine.further_kernel_clocks / point.hz;
  }
  return helpers;
}

KernelTime timed(const KernelLoad& kernel, const Variant& variant, const Coefficients& coefficients,
                 const DevicePoint& point, Runtime runtime) {
  KernelTime time;
  const Engine& engine = coefficients.engine;
  const bool ideal = runtime == Runtime::ideal;
  double conversion = 0;  // share of layout_bytes
  time.dtype = variant.dtype;

  if (is_product(kernel.kind)) {
    const Arithmetic arithmetic = arithmetic_in(variant.dtype, engine, kernel, runtime);
    time.dtype = arithmetic.dtype;
    if (!ideal) time.padding = padding_of(kernel, variant.dtype, point.units, engine);
    if (arithmetic.unit == Unit::matrix) conversion = engine.layout_conversion;
    const double rate = point.units * point.hz * reached_rate(engine, kernel.kind, arithmetic);
    if (kernel.matrix_ops > 0 && !(rate > 0))
      throw Error(kernel.name, "the machine's model has no rate for products in " +
                                   std::string(to_string(kernel.dtype)));
    // A library's efficiency covers the epilogue; the roofline counts all operations.
    const double operations = kernel.matrix_ops + (ideal ? kernel.vector_ops : 0);
    time.compute_s = kernel.matrix_ops > 0 ? operations * time.padding / rate : 0;
  } else {
    const double per_clock = engine.elements_per_clock[index_of(kernel.kind)];
    const double vector_rate = engine.vector_rate[index_of(variant.dtype)];
    if (per_clock > 0)
      time.compute_s = kernel.elements / (point.units * point.hz * per_clock);
    else if (vector_rate > 0)
      time.compute_s =
          (kernel.vector_ops + kernel.matrix_ops) / (point.units * point.hz * vector_rate);
  }

  const double traffic =
      variant.activation_bytes < engine.cache_bytes ? engine.cached_traffic : 1.0;
  time.bytes = variant.weight_bytes + variant.activation_bytes * traffic;
  if (point.bytes_per_s > 0) time.memory_s = time.bytes / point.bytes_per_s;
  if (!ideal) {
    const Helpers helpers = helpers_of(kernel, variant, engine, point, conversion, traffic);
    time.bytes += helpers.bytes;
    time.helper_s = helpers.time_s;
  }
  // Launches after the first are small helpers, such as the sum with a bias.
  time.fixed_s = (engine.kernel_clocks[index_of(kernel.kind)] +
                  engine.further_kernel_clocks * std::max(0, variant.launches - 1)) /
                 point.hz;
  const double scale = coefficients.kernel_scale * unfamiliar_scale(kernel, coefficients);
  time.compute_s *= scale;
  time.memory_s *= scale;
  time.fixed_s *= scale;
  time.helper_s *= scale;
  time.total_s = std::max(time.compute_s, time.memory_s) +
                 (1 - engine.overlap) * std::min(time.compute_s, time.memory_s) + time.helper_s +
                 time.fixed_s;
  time.busy_s = (time.total_s - time.fixed_s) * filled_share(kernel, point.units, time.padding);
  return time;
}

}  // namespace

Arithmetic arithmetic_of(const Engine& engine, const KernelLoad& kernel, Runtime runtime) {
  return arithmetic_in(kernel.dtype, engine, kernel, runtime);
}

double usable_bytes_per_s(const Coefficients& coefficients, double peak_bytes_per_s, double hz) {
  const double by_memory = coefficients.dram_efficiency * peak_bytes_per_s;
  if (coefficients.dram_bytes_per_clock <= 0) return by_memory;
  return std::min(by_memory, coefficients.dram_bytes_per_clock * hz);
}

KernelTime kernel_time(const KernelLoad& kernel, const Coefficients& coefficients,
                       const DevicePoint& point, Runtime runtime) {
  if (kernel.kind == KernelKind::none) return {};
  const KernelTime time = timed(kernel, as_asked(kernel), coefficients, point, runtime);
  if (!(kernel.fp16_activation_bytes > 0)) return time;
  const KernelTime wide = timed(kernel, in_fp16(kernel), coefficients, point, runtime);
  return wide.total_s < time.total_s ? wide : time;
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
