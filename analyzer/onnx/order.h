// The order in which the nodes of a graph can be walked, whatever order the file has them in.
// Finds cycles, tensors written twice and inputs that no node makes.
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
  std::vector<std::size_t> nodes;  // indices; the file's own order where that is possible
  bool as_in_file = true;
};

// `is_known` holds for names that exist before the first node: inputs, initializers, outer scopes;
// `is_own` those of them that belong to this graph, so that no node may make them again (a name of
// an outer scope may be: it is another tensor then). `file` stands in errors.
NodeOrder order_nodes(std::span<const Node> nodes,
                      const std::function<bool(std::string_view)>& is_known,
                      const std::function<bool(std::string_view)>& is_own, const std::string& file);

// How errors name a node: "node 'conv1' (Conv)", or by its first output where it has no name.
std::string describe(const Node& node);

// "Conv", "com.microsoft.FusedMatMul"; escaped where it is not plain text.
std::string qualified_name(const Node& node);

}  // namespace ridgeline::onnx
