// NetworkLoad: a list of Demands as the model reads it: per kernel everything that depends neither
// on the operating point nor on the parameters, worked out once and evaluated for many modes.
// What the numbers cost is in kernel_time.h, host_time.h and step_power.h.
#pragma once

#include <cstddef>
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
  depthwise,    // convolution with a channel or two per group: by taps per clock
  linear,       // matrix product with weights
  product,      // matrix product of two activations, batched
  attention,    // in one kernel, or a whole module where the runtime sees it as one node
  recurrent,
  normalize,
  softmax,
  pool,
  elementwise,
  broadcast,  // element-wise with an operand that is smaller than the result
  reduce,
  movement,  // gather, copy, resize: bytes only
  none       // launches nothing
};
inline constexpr std::size_t kernel_kinds = 14;

struct KernelLoad {
  std::string name;
  KernelKind kind = KernelKind::none;
  DType dtype = DType::fp32;    // that most of its arithmetic is done in
  double matrix_ops = 0;        // FLOP or OP of products, two per MAC
  double vector_ops = 0;        // the rest
  double elements = 0;          // outputs, or taps (outputs × window) of pools and depthwise
  double activation_bytes = 0;  // read and written
  double weight_bytes = 0;      // read, and written in training
  std::optional<Gemm> gemm;     //
  int launches = 1;             //
  int host_functions = 0;       // calls on the host that launch nothing
  int host_modules = 0;
};

struct NetworkLoad {
  Runtime runtime = Runtime::ideal;
  std::vector<KernelLoad> kernels;
};

NetworkLoad network_load(std::span<const Demand> demands, Runtime runtime);

}  // namespace ridgeline
