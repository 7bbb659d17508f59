// Imports a model built by a test; finds layers and tensors by name.
// For tests only; a missing name fails the test instead of crashing it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analyzer/onnx/import.h"
#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {

inline onnx::Import imported(const OnnxBuilder& model, const onnx::ImportOptions& options = {}) {
  return onnx::import_graph(onnx::ModelFile(model.bytes(), "model.onnx"), options);
}

inline const Layer& layer_named(const Graph& graph, std::string_view name) {
  for (const Layer& layer : graph.layers)
    if (layer.name == name) return layer;
  ADD_FAILURE() << "no layer has the name " << name;
  static const Layer none;
  return none;
}

inline std::size_t unknown_layers(const Graph& graph) {
  std::size_t count = 0;
  for (const Layer& layer : graph.layers)
    for (const Part& part : layer.parts) count += std::holds_alternative<Unknown>(part.op) ? 1 : 0;
  return count;
}

inline const Tensor& tensor_named(const Graph& graph, std::string_view name) {
  for (const Tensor& tensor : graph.tensors)
    if (tensor.name == name) return tensor;
  ADD_FAILURE() << "no tensor has the name " << name;
  static const Tensor none;
  return none;
}

inline std::string shape_text(const Graph& graph, std::string_view name) {
  const Tensor& tensor = tensor_named(graph, name);
  return tensor.source == ShapeSource::unknown ? "unknown" : to_string(tensor.shape);
}

}  // namespace ridgeline::testing
