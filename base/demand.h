// Demand: one kernel as a Runtime would launch it, with its work and the tensors it touches.
// Fusion, training passes and front ends end here: roofline/ sees nothing else of a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/tokens.h"
#include "base/work.h"

namespace ridgeline {

// What a kernel computes, in the kinds that differ in the rate which limits them and in what the
// host does for them. Lowering decides it, where the layers are known.
enum class KernelKind {
  convolution,           // on matrix units
  depthwise,             // convolution with a channel or two per group: by taps per clock
  convolution_gradient,  // with respect to its input or its weights
  depthwise_gradient,    // with respect to its weights, sums over all positions
  linear,                // matrix product with weights
  product,               // matrix product of two activations, batched
  attention,             // in one kernel, or a whole module where the runtime sees it as one node
  recurrent,
  batch_norm,  // at inference or in training
  normalize,   // any other
  softmax,
  pool,
  elementwise,
  broadcast,  // element-wise with an operand that is smaller than the result
  reduce,
  gather,
  resize,
  copy,
  other,  // sorting, Fourier transforms, operators that are not described yet
  none    // a view: launches nothing
};

template <>
struct TokenTable<KernelKind> {
  static constexpr std::string_view noun = "kernel kind";
  static constexpr std::array<std::pair<KernelKind, std::string_view>, 20> rows{
      {{KernelKind::convolution, "convolution"},
       {KernelKind::depthwise, "depthwise"},
       {KernelKind::convolution_gradient, "convolution_gradient"},
       {KernelKind::depthwise_gradient, "depthwise_gradient"},
       {KernelKind::linear, "linear"},
       {KernelKind::product, "product"},
       {KernelKind::attention, "attention"},
       {KernelKind::recurrent, "recurrent"},
       {KernelKind::batch_norm, "batch_norm"},
       {KernelKind::normalize, "normalize"},
       {KernelKind::softmax, "softmax"},
       {KernelKind::pool, "pool"},
       {KernelKind::elementwise, "elementwise"},
       {KernelKind::broadcast, "broadcast"},
       {KernelKind::reduce, "reduce"},
       {KernelKind::gather, "gather"},
       {KernelKind::resize, "resize"},
       {KernelKind::copy, "copy"},
       {KernelKind::other, "other"},
       {KernelKind::none, "none"}}};
};
inline constexpr std::size_t kernel_kinds = TokenTable<KernelKind>::rows.size();

// What sets a kernel apart from others of its kind: libraries have separate code for it, so its
// rate must be measured separately. roofline/model/familiarity.cpp lists what was measured.
enum class KernelTrait {
  plain,
  window_attention,  // within parts of an image or text, many short sequences at once
  grid_sample,       // interpolated at positions that are data
  region_align,      // interpolated regions of interest
  deformable,        // convolution whose taps are interpolated
  volumetric,        // convolution over three spatial axes
  grouped,           // convolution with several channels per group
  transposed,        // convolution that scatters
  sort,
  fourier,
  scatter
};

template <>
struct TokenTable<KernelTrait> {
  static constexpr std::string_view noun = "kernel trait";
  static constexpr std::array<std::pair<KernelTrait, std::string_view>, 11> rows{
      {{KernelTrait::plain, "plain"},
       {KernelTrait::window_attention, "window_attention"},
       {KernelTrait::grid_sample, "grid_sample"},
       {KernelTrait::region_align, "region_align"},
       {KernelTrait::deformable, "deformable"},
       {KernelTrait::volumetric, "volumetric"},
       {KernelTrait::grouped, "grouped"},
       {KernelTrait::transposed, "transposed"},
       {KernelTrait::sort, "sort"},
       {KernelTrait::fourier, "fourier"},
       {KernelTrait::scatter, "scatter"}}};
};
inline constexpr std::size_t kernel_traits = TokenTable<KernelTrait>::rows.size();

// The class of operation that a kind belongs to: the word that tables and documents print, for
// layers as for kernels.
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

OpClass op_class(KernelKind kind);

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
  KernelKind kind = KernelKind::other;
  KernelTrait trait = KernelTrait::plain;
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
