// NetworkLoad: a list of Demands in the model's form: everything about each kernel that is
// independent of the operating point and the parameters, computed once for many modes. What it
// costs is in kernel_time.h and step.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/demand.h"
#include "base/runtime.h"
#include "base/subject.h"
#include "base/tokens.h"

namespace ridgeline {

struct KernelLoad {
  std::string name;
  KernelKind kind = KernelKind::none;  // also none in a loop without trips
  std::optional<Subject> subject;      // the kind as measurements teach it
  DType dtype = DType::fp32;           // of most of its arithmetic
  double matrix_ops = 0;               // FLOP or OP of products, two per MAC
  double vector_ops = 0;               // the rest
  double elements = 0;          // outputs, or taps (outputs × window) of pools and depthwise
  double activation_bytes = 0;  // read and written
  double layout_bytes = 0;      // to convert all activations of a convolution to NHWC and back
  double bias_bytes = 0;        // of adding the bias in a kernel of its own
  double pointwise_bytes = 0;   // of an activation function in a kernel of its own
  double pointwise_elements = 0;
  double input_elements = 0;  // of the network's input, converted to the library's layout
  // The same kernel in fp16, if the library may choose it instead; 0: it may not.
  double fp16_activation_bytes = 0;
  double fp16_pointwise_bytes = 0;
  double weight_bytes = 0;  // read, and written in training
  std::optional<Gemm> gemm;
  int launches = 1;
  int host_functions = 0;  // calls on the host that launch nothing
  int host_modules = 0;
};

struct NetworkLoad {
  Runtime runtime = Runtime::ideal;
  std::vector<KernelLoad> kernels;
};

NetworkLoad network_load(std::span<const Demand> demands, Runtime runtime);

}  // namespace ridgeline
