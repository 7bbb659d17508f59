// Computes the numbers that the formulas need from each Demand.
// Counts only; no rates, clocks or costs.
#include "roofline/model/network_load.h"

#include <algorithm>

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

// TensorRT has int8 kernels for products, pools and copies. Anything else computes in fp16: what it
// reads and writes is twice as large, and is converted from and to int8 by kernels around it.
double reformat_bytes(const Demand& demand, DType dtype, double activation_bytes, Runtime runtime) {
  if (runtime != Runtime::tensorrt || dtype != DType::int8) return 0;
  switch (demand.kind) {
    case KernelKind::normalize:
    case KernelKind::softmax:
    case KernelKind::elementwise:
    case KernelKind::broadcast:
    case KernelKind::reduce:
    case KernelKind::gather:
    case KernelKind::resize:
    case KernelKind::other:
      return (1 + 1 + 2) * activation_bytes;  // wider here; read as one type, written as the other
    default:
      return 0;
  }
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
  load.reformat_bytes = reformat_bytes(demand, load.dtype, load.activation_bytes, runtime);
  load.gemm = demand.gemm;
  load.launches = demand.launches;
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
  for (const Demand& demand : demands) load.kernels.push_back(kernel_load(demand, runtime));
  return load;
}

}  // namespace ridgeline
