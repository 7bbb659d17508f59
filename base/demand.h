// Demand: one kernel as a Runtime would launch it, with its work and the tensors it touches.
// Fusion, training passes and front ends end here: roofline/ sees nothing else of a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/tokens.h"
#include "base/work.h"

namespace ridgeline {

// Kinds of operation that differ in cost; `other` is an operator nobody has described yet.
enum class OpClass {
  convolution,
  matmul,
  elementwise,
  reduce,
  softmax,
  normalize,
  pool,
  attention,
  recurrent,
  gather,
  resize,
  copy,
  view,
  other
};

template <>
struct TokenTable<OpClass> {
  static constexpr std::string_view noun = "op class";
  static constexpr std::array<std::pair<OpClass, std::string_view>, 14> rows{
      {{OpClass::convolution, "convolution"},
       {OpClass::matmul, "matmul"},
       {OpClass::elementwise, "elementwise"},
       {OpClass::reduce, "reduce"},
       {OpClass::softmax, "softmax"},
       {OpClass::normalize, "normalize"},
       {OpClass::pool, "pool"},
       {OpClass::attention, "attention"},
       {OpClass::recurrent, "recurrent"},
       {OpClass::gather, "gather"},
       {OpClass::resize, "resize"},
       {OpClass::copy, "copy"},
       {OpClass::view, "view"},
       {OpClass::other, "other"}}};
};

// The matrix product behind a convolution, linear layer or attention; tiles follow from it.
struct Gemm {
  std::uint64_t m = 0, n = 0, k = 0;
  std::uint64_t batch = 1;
  std::uint64_t taps = 1;  // of a convolution's window: k is input channels × taps

  friend bool operator==(const Gemm&, const Gemm&) = default;
};

struct TensorUse {
  std::string tensor;
  double bytes = 0;
  std::string producer;  // of what is read: the Demand that wrote it; empty: input or weight

  friend bool operator==(const TensorUse&, const TensorUse&) = default;
};

// Calls that the host makes one by one and that launch nothing: flatten, checks of shapes and
// unpacking are functions; dropout at inference is a module, which costs the host more.
struct HostCalls {
  int functions = 0, modules = 0;

  friend bool operator==(const HostCalls&, const HostCalls&) = default;
};

struct Demand {
  std::string name;
  OpClass op_class = OpClass::other;
  Work work;
  std::optional<Gemm> gemm;
  std::vector<TensorUse> reads;
  std::vector<TensorUse> writes;
  int launches = 1;                        // zero for a view
  HostCalls host_calls;                    // beside the launches
  std::vector<std::string> source_layers;  // names in the file that the network came from

  friend bool operator==(const Demand&, const Demand&) = default;
};

Json to_json(const Demand& demand);
Demand demand_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
