// A fused layer has the trait of its first part that has one.
#include "analyzer/lowering/kernel_trait.h"

#include <algorithm>
#include <string_view>
#include <variant>

namespace ridgeline {
namespace {

bool is_forward(const Layer& layer) {
  return layer.pass == Pass::forward || layer.pass == Pass::recompute;
}

// Gradients of plain convolutions are transposed ones, in kernels of their own kind.
KernelTrait trait_of(const Convolution& op, const Layer& layer) {
  if (op.deformable) return KernelTrait::deformable;
  if (op.kernel.size() > 2) return KernelTrait::volumetric;
  if (op.groups > 1 && op.in_channels / op.groups > 1 && op.out_channels / op.groups > 1)
    return KernelTrait::grouped;
  if (op.transposed && is_forward(layer)) return KernelTrait::transposed;
  return KernelTrait::plain;
}

// Resizing has one Op, whatever the positions are; the operator's name says which they are.
KernelTrait trait_of(const Resize& op, const Layer& layer) {
  const auto is = [&](std::string_view name) {
    return std::string_view(layer.origin).ends_with(name);
  };
  if (is("GridSample")) return KernelTrait::grid_sample;
  if (is("RoiAlign") || op.samples > 1) return KernelTrait::region_align;
  return KernelTrait::plain;
}

// [windows, heads, tokens, width]: more sequences than samples. With three axes, heads and windows
// cannot be told apart, and with five, heads that share keys look the same. The gradient of a
// convolution's weights is such a product, too, but has no sequences.
bool has_windows(const Graph& graph, const Layer& layer, std::int64_t batch) {
  if (layer.outputs.empty() || layer.pass == Pass::backward_weights) return false;
  const Shape& shape = graph.tensors[layer.outputs.front()].shape;
  return shape.size() == 4 && shape.front() > batch;
}

// A product with a weight is no attention. Where two products are fused, the weight is the bias of
// their scores.
bool multiplies_weight(const Graph& graph, const Layer& layer) {
  const auto products = std::count_if(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
    return std::holds_alternative<MatMul>(part.op);
  });
  return products < 2 && std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
           return graph.tensors[id].role == Role::weight;
         });
}

}  // namespace

std::int64_t batch_extent(const Graph& graph) {
  for (const TensorId id : graph.inputs)
    if (!graph.tensors[id].shape.empty()) return graph.tensors[id].shape.front();
  return 1;
}

KernelTrait kernel_trait(const Graph& graph, const Layer& layer, std::int64_t batch) {
  for (const Part& part : layer.parts) {
    KernelTrait trait = KernelTrait::plain;
    if (const auto* convolution = std::get_if<Convolution>(&part.op))
      trait = trait_of(*convolution, layer);
    else if (const auto* resize = std::get_if<Resize>(&part.op))
      trait = trait_of(*resize, layer);
    else if (const auto* attention = std::get_if<Attention>(&part.op))
      trait = attention->batch > batch ? KernelTrait::window_attention : KernelTrait::plain;
    else if (std::holds_alternative<MatMul>(part.op) && !multiplies_weight(graph, layer))
      trait = has_windows(graph, layer, batch) ? KernelTrait::window_attention : KernelTrait::plain;
    else if (std::holds_alternative<Sort>(part.op))
      trait = KernelTrait::sort;
    else if (std::holds_alternative<FourierTransform>(part.op))
      trait = KernelTrait::fourier;
    else if (std::holds_alternative<Scatter>(part.op))
      trait = KernelTrait::scatter;
    if (trait != KernelTrait::plain) return trait;
  }
  return KernelTrait::plain;
}

}  // namespace ridgeline
