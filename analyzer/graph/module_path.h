// Module paths: which module of the original code a layer belongs to, read from names as exporters
// write them ("/layer1/layer1.0/conv1/Conv", "layer1.0.conv1.weight").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline {

// The parts of a path, without its last: the module that a node is in. Empty for a plain name.
std::vector<std::string> module_of_name(std::string_view node_name);

// The deepest module that holds all of these layers, "layer1/layer1.0"; empty if they have none. If
// names of layers are not paths, those of their weights are taken.
std::string common_module(const Graph& graph, std::span<const std::size_t> layers);

// The same by the names of nodes alone.
std::string common_module(std::span<const std::string> node_names);

}  // namespace ridgeline
