// NetworkLoad: a list of Demands as the model reads it: per kernel everything that depends neither
// on the operating point nor on the parameters, worked out once and evaluated for many modes.
// What the numbers cost is in kernel_time.h and step_power.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/demand.h"
#include "base/runtime.h"
#include "base/tokens.h"

namespace ridgeline {

// Kinds of node that differ in what the host does for them, and in the rate that limits them.
enum class KernelKind {
  convolution,  // on matrix units
  depthwise,    // convolution with one channel per group: by taps per clock
  linear,       // matrix product with weights
  product,      // matrix product of two activations, batched
  attention,    // fused
  recurrent,
  normalize,
  softmax,
  pool,
  elementwise,
  broadcast,  // element-wise with an operand that is smaller than the result
  reduce,
  movement,  // gather, copy, resize: bytes only
  none       // launches nothing: a view or a layer that does nothing at inference
};

struct KernelLoad {
  std::string name;
  KernelKind kind = KernelKind::none;
  Unit unit = Unit::vector;     // that does most of its arithmetic
  DType dtype = DType::fp32;    // of that arithmetic
  double matrix_ops = 0;        // FLOP or OP that a matrix unit could run
  double vector_ops = 0;        // the rest
  double elements = 0;          // outputs, or taps (outputs × window) of pools and depthwise
  double activation_bytes = 0;  // read and written
  double weight_bytes = 0;      // read, and written in training
  double reused_bytes = 0;      // of the activations, written by the kernel right before
  std::optional<Gemm> gemm;     //
  int launches = 1;
};

struct NetworkLoad {
  Runtime runtime = Runtime::ideal;
  std::vector<KernelLoad> kernels;
};

NetworkLoad network_load(std::span<const Demand> demands, Runtime runtime);

}  // namespace ridgeline
