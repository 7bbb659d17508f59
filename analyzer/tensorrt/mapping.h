// Mapping: which nodes of an ONNX file run in which layer of an engine. By the engine's Metadata,
// then by layer names, then by tensor names; each node ends in exactly one layer or is folded at
// build time. With it, layers that the engine's file does not describe are counted by their nodes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/frontend.h"
#include "analyzer/graph/graph.h"
#include "analyzer/tensorrt/engine.h"

namespace ridgeline::tensorrt {

struct Mapping {
  std::vector<std::vector<std::size_t>> nodes;  // per layer of the engine: layers of the ONNX graph
  std::vector<bool> shares_node;  // per layer: has none, but does a part of another layer's node
  NodeMapping summary;
};

// An ONNX graph in which few of the names in the engine occur is an Error.
Mapping map_nodes(const Engine& engine, const Graph& onnx, const std::string& onnx_path);

// Names the nodes of each kernel, its module, and counts what was opaque by them. `kernels` is the
// graph of the engine's layers. Arithmetic that differs much between an engine and its nodes is an
// Error: other sizes, or another network.
void apply_mapping(Graph& kernels, const Engine& engine, const Graph& onnx, const Mapping& mapping,
                   const std::string& onnx_path);

// The nodes that a layer's name lists: "a + PWN(b, c)" → a, b, c. A range of a foreign node is its
// first and last names with "..." between them.
std::vector<std::string> names_in(const std::string& layer_name);

}  // namespace ridgeline::tensorrt
