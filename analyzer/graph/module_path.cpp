// Splits names; knows no format.
#include "analyzer/graph/module_path.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace ridgeline {
namespace {

using Path = std::vector<std::string>;

// To what it shares with another module; nodes without one do not count.
void narrow(std::optional<Path>& common, const Path& module) {
  if (module.empty()) return;
  if (!common) {
    common = module;
    return;
  }
  const auto differ = std::mismatch(common->begin(), common->end(), module.begin(), module.end());
  common->erase(differ.first, common->end());
}

std::string joined(const std::optional<Path>& path) {
  std::string text;
  if (path)
    for (const std::string& part : *path) text += (text.empty() ? "" : "/") + part;
  return text;
}

std::vector<std::string> module_of_layer(const Graph& graph, const Layer& layer) {
  if (layer.scope != no_index) return split_words(graph.modules[layer.scope], '.');
  std::vector<std::string> module = module_of_name(layer.name);
  if (!module.empty()) return module;
  for (const TensorId id : layer.inputs) {
    const Tensor& weight = graph.tensors[id];
    if (weight.role != Role::weight) continue;
    module = split_words(weight.name, '.');
    if (module.size() < 2) continue;
    module.pop_back();
    return module;
  }
  return {};
}

}  // namespace

std::vector<std::string> module_of_name(std::string_view node_name) {
  std::vector<std::string> path = split_words(node_name, '/');
  if (!path.empty()) path.pop_back();
  return path;
}

std::string common_module(const Graph& graph, std::span<const std::size_t> layers) {
  std::optional<Path> common;
  for (const std::size_t index : layers)
    narrow(common, module_of_layer(graph, graph.layers[index]));
  return joined(common);
}

std::string common_module(std::span<const std::string> node_names) {
  std::optional<Path> common;
  for (const std::string& name : node_names) narrow(common, module_of_name(name));
  return joined(common);
}

}  // namespace ridgeline
