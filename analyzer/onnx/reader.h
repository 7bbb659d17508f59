// The parts of the reader: one function per message of onnx.proto that has more than a few fields.
// Only for model_file.cpp and reader*.cpp; everybody else has a ModelFile.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyzer/onnx/model.h"
#include "analyzer/onnx/wire.h"

namespace ridgeline::onnx {

// Deeper graphs and larger ranks are refused: nobody writes them, and code that walks them
// recursively or by pairs of axes need not fear them.
inline constexpr int max_graph_depth = 100;
inline constexpr std::size_t max_rank = 64;

Model read_model(const WireSource& source);
TensorProto read_tensor(Wire wire, Arena& arena);
TensorProto read_sparse_tensor(Wire wire, Arena& arena);
GraphProto read_graph(Wire wire, int depth, Arena& arena);  // depth 0 is the model's own graph
Node read_node(Wire wire, int depth, Arena& arena);
Attribute read_attribute(Wire wire, int depth, Arena& arena);
OpsetImport read_opset_import(Wire wire);

}  // namespace ridgeline::onnx
