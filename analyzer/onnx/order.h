// Topological order of a graph's nodes, whatever their order in the file. Detects cycles, tensors
// written twice and inputs without a producer.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/onnx/model.h"

namespace ridgeline::onnx {

struct NodeOrder {
  std::vector<std::size_t> nodes;  // indices; the file's own order if possible
  bool as_in_file = true;
};

// `is_known` holds for names that exist before the first node: inputs, initializers, outer scopes.
// `is_own` holds for those of this graph, which no node may write again; a name of an outer scope
// may be reused for a new tensor. `file` appears in errors.
NodeOrder order_nodes(std::span<const Node> nodes,
                      const std::function<bool(std::string_view)>& is_known,
                      const std::function<bool(std::string_view)>& is_own, const std::string& file);

// A node's name in errors: "node 'conv1' (Conv)", or its first output if it has no name.
std::string describe(const Node& node);

// "Conv", "com.microsoft.FusedMatMul"; non-printable text is escaped.
std::string qualified_name(const Node& node);

}  // namespace ridgeline::onnx
