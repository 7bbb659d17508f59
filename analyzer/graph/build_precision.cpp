// The rules are those of NetworkBuilder, so a file and the built-in network of the same layers get
// the same types.
#include "analyzer/graph/build_precision.h"

#include <algorithm>
#include <string>
#include <variant>

namespace ridgeline {
namespace {

bool is_wider(ElementType type, ElementType than) {
  return is_floating(type) && bits(type) > bits(than) && type != ElementType::complex64 &&
         type != ElementType::complex128;
}

// A product in a narrow type can only come from quantisation steps.
bool has_own_quantization(const Graph& graph) {
  return std::any_of(graph.layers.begin(), graph.layers.end(), [](const Layer& layer) {
    return std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
      return multiplies(part.op) &&
             (part.dtype == DType::int8 || part.dtype == DType::fp8 || part.dtype == DType::int4);
    });
  });
}

}  // namespace

Rebuilt build_in(Graph& graph, DType precision) {
  const ElementType storage = storage_type(precision);
  const bool is_8_bit = bits(storage) <= 8;
  if (is_8_bit && has_own_quantization(graph)) return Rebuilt::own_quantization;
  bool changed = false;
  for (Tensor& tensor : graph.tensors) {
    if (!is_wider(tensor.type, storage)) continue;
    const bool is_vector = tensor.role == Role::weight && tensor.shape.size() < 2;
    const ElementType type = is_8_bit && is_vector ? ElementType::fp32 : storage;
    changed = changed || type != tensor.type;
    if (tensor.stored_bytes && type != tensor.type)
      *tensor.stored_bytes *= static_cast<double>(bits(type)) / bits(tensor.type);
    tensor.type = type;
  }
  for (Layer& layer : graph.layers)
    for (Part& part : layer.parts) {
      const bool is_wide =
          part.dtype == DType::fp64 || (part.dtype == DType::fp32 && bits(storage) < 32);
      if (!is_wide || storage == ElementType::fp64) continue;
      part.dtype = !is_8_bit || multiplies(part.op) ? precision : DType::fp32;
    }
  return changed ? Rebuilt::yes : Rebuilt::nothing_wide;
}

void store_weights_in(Graph& graph, DType storage) {
  constexpr double group = 128, scale_bytes = 2;
  const ElementType type = storage_type(storage);
  for (const Layer& layer : graph.layers) {
    const bool is_matrix_product =
        std::any_of(layer.parts.begin(), layer.parts.end(),
                    [](const Part& part) { return std::holds_alternative<MatMul>(part.op); });
    const bool is_head = layer.name.find("head") != std::string::npos ||
                         layer.name.find("embed") != std::string::npos;
    if (!is_matrix_product || is_head) continue;
    for (const TensorId id : layer.inputs) {
      Tensor& tensor = graph.tensors[id];
      // A head may share the table of embeddings.
      if (tensor.role != Role::weight || tensor.shape.size() < 2 || !is_wider(tensor.type, type) ||
          tensor.name.find("embed") != std::string::npos)
        continue;
      const auto elements = element_count(tensor.shape);
      tensor.type = type;
      tensor.stored_bytes = storage_bytes(type, elements).value_or(0) +
                            static_cast<double>(elements) / group * scale_bytes;
    }
  }
}

void store_caches_in(Graph& graph, DType storage) {
  for (Tensor& tensor : graph.tensors)
    if (tensor.is_state && is_wider(tensor.type, storage_type(storage)))
      tensor.type = storage_type(storage);
}

}  // namespace ridgeline
