// Computes the numbers that the formulas need from each Demand.
// Counts only; no rates, clocks or costs.
#include "roofline/model/network_load.h"

#include <algorithm>
#include <cmath>

#include "roofline/model/familiarity.h"

namespace ridgeline {
namespace {

double bytes_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 8;
    case DType::fp16:
    case DType::bf16:
    case DType::int16:
      return 2;
    case DType::fp8:
    case DType::int8:
      return 1;
    case DType::fp4:
    case DType::int4:
      return 0.5;
    default:
      return 4;
  }
}

// The (unit, dtype) that does most of the arithmetic.
FlopCount main_arithmetic(const Work& work) {
  FlopCount most;
  for (const FlopCount& count : work.flop)
    if (count.flop > most.flop) most = count;
  return most;
}

double elements_of(const Demand& demand, KernelKind kind, DType dtype) {
  const double outputs = demand.work.bytes_written / bytes_of(dtype);
  if (kind == KernelKind::depthwise || kind == KernelKind::depthwise_gradient)
    return demand.work.macs;  // taps
  if (kind == KernelKind::pool) return std::max(outputs, total_operations(demand.work));
  return outputs;
}

// An attention module that is one node moves the inputs and outputs of its four projections and the
// score matrix, unfused.
double module_bytes(const Gemm& scores, DType dtype) {
  const double m = static_cast<double>(scores.m), n = static_cast<double>(scores.n);
  const double k = static_cast<double>(scores.k), heads = static_cast<double>(scores.batch);
  return heads * (10 * m * k + 4 * m * n) * bytes_of(dtype);
}

// Tensor-core kernels of cuDNN want channels last. With PyTorch's default layout the library
// converts what a convolution reads and writes, in kernels of its own that read and write it once
// more. A convolution of one tap is a plain product in either layout, but not so its gradients.
double layout_bytes(const Demand& demand, double activation_bytes) {
  const bool has_window = demand.gemm && demand.gemm->taps > 1;
  const bool converts = demand.kind == KernelKind::convolution_gradient ||
                        (demand.kind == KernelKind::convolution && has_window);
  return converts ? 2 * activation_bytes : 0;
}

// PyTorch adds a convolution's bias in a kernel of its own, which reads and writes the result.
double bias_bytes(const Demand& demand, Runtime runtime) {
  const bool adds = demand.kind == KernelKind::convolution && demand.launches > 1 &&
                    (walks_one_by_one(runtime) || runtime == Runtime::cuda_graph);
  return adds ? 2 * demand.work.bytes_written : 0;
}

// TensorRT has no int8 kernels for these, so they compute in fp16. They can write int8 for a
// product that reads it.
bool lacks_int8(KernelKind kind) {
  switch (kind) {
    case KernelKind::batch_norm:
    case KernelKind::normalize:
    case KernelKind::softmax:
    case KernelKind::reduce:
    case KernelKind::other:
      return true;
    default:
      return false;
  }
}

double padded(double channels, double multiple) {
  return std::ceil(channels / multiple) * multiple / channels;
}

// Channels of a convolution's input and output, over all groups.
struct Channels {
  double in = 0, out = 0;
};

std::optional<Channels> channels_of(const Demand& demand) {
  const bool is_convolution =
      demand.kind == KernelKind::convolution || demand.kind == KernelKind::depthwise;
  if (!is_convolution || !demand.gemm) return std::nullopt;
  const auto groups = static_cast<double>(demand.gemm->batch);
  return Channels{
      groups * static_cast<double>(demand.gemm->k) / static_cast<double>(demand.gemm->taps),
      groups * static_cast<double>(demand.gemm->n)};
}

// Images come with fewer channels than a vector holds, and have kernels of their own.
constexpr double most_image_channels = 4;

// Read, but written by no kernel and not a weight.
double input_bytes(const Demand& demand) {
  double bytes = 0;
  for (const TensorUse& use : demand.reads)
    if (use.producer.empty()) bytes += use.bytes;
  return std::clamp(bytes - demand.work.weight_bytes_read, 0.0, demand.work.bytes_read);
}

// What TensorRT adds to the kernels of an engine, as its layer lists show (docs/lowering.md,
// "Kernels").
void add_engine_kernels(const Demand& demand, KernelLoad& load) {
  const std::optional<Channels> channels = channels_of(demand);
  const bool reads_image = channels && channels->in <= most_image_channels;
  if (channels && demand.launches > 1) {
    load.pointwise_bytes = 2 * demand.work.bytes_written;
    load.pointwise_elements = demand.work.bytes_written / bytes_of(load.dtype);
  }
  if (load.dtype != DType::int8) {  // an int8 network is fed int8
    if (reads_image) load.input_elements = input_bytes(demand) / bytes_of(load.dtype);
    return;
  }
  if (lacks_int8(demand.kind)) {
    load.dtype = DType::fp16;
    load.activation_bytes *= 2;
    load.weight_bytes *= 2;
    load.fp16_activation_bytes = 0;
    return;
  }
  const bool in_fp16_too = reads_image || demand.kind == KernelKind::depthwise;
  load.fp16_pointwise_bytes = in_fp16_too ? 2 * load.pointwise_bytes : 0;
  if (!channels) return;
  constexpr double vector = 32;  // channels that lie together in int8; four of an image
  load.activation_bytes =
      demand.work.bytes_read * padded(channels->in, reads_image ? most_image_channels : vector) +
      demand.work.bytes_written * padded(channels->out, vector);
}

KernelLoad kernel_load(const Demand& demand, Runtime runtime) {
  KernelLoad load;
  load.name = demand.name;
  load.kind = demand.launches > 0 ? demand.kind : KernelKind::none;
  const FlopCount arithmetic = main_arithmetic(demand.work);
  load.dtype = arithmetic.dtype;
  load.matrix_ops = 2 * demand.work.macs;
  load.vector_ops = std::max(0.0, total_operations(demand.work) - load.matrix_ops);
  load.elements = elements_of(demand, load.kind, load.dtype);
  load.activation_bytes = demand.work.bytes_read + demand.work.bytes_written;
  load.weight_bytes = demand.work.weight_bytes_read + demand.work.weight_bytes_written;
  if (load.kind == KernelKind::attention && demand.gemm && runtime == Runtime::torch_eager_hooks)
    load.activation_bytes = module_bytes(*demand.gemm, load.dtype);
  load.layout_bytes = layout_bytes(demand, load.activation_bytes);
  load.bias_bytes = bias_bytes(demand, runtime);
  load.gemm = demand.gemm;
  load.launches = demand.launches;
  // A library takes fp16 if its int8 kernel is slower.
  if (runtime != Runtime::ideal && load.dtype == DType::int8 && demand.gemm)
    load.fp16_activation_bytes = 2 * load.activation_bytes;
  if (load.kind != KernelKind::none)
    load.subject = subject_of(load.kind, demand.trait, load.dtype, demand.gemm, runtime);
  // A view that is a node of its own (flatten) goes through the dispatcher like a module;
  // bookkeeping beside a kernel (shape checks, unpacking) does not.
  const bool alone = demand.launches == 0;
  load.host_functions = alone ? 0 : demand.host_calls.functions;
  load.host_modules = demand.host_calls.modules + (alone ? demand.host_calls.functions : 0);
  return load;
}

}  // namespace

NetworkLoad network_load(std::span<const Demand> demands, Runtime runtime) {
  NetworkLoad load;
  load.runtime = runtime;
  load.kernels.reserve(demands.size());
  for (const Demand& demand : demands) {
    load.kernels.push_back(kernel_load(demand, runtime));
    if (runtime == Runtime::tensorrt) add_engine_kernels(demand, load.kernels.back());
  }
  return load;
}

}  // namespace ridgeline
