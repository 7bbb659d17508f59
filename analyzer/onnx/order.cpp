// Topological order by counting unmet inputs; ties keep the file's order. Names that a sub-graph
// captures count as inputs of the node that holds it.
#include "analyzer/onnx/order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>

#include "analyzer/onnx/name_map.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

void collect_captures(const GraphProto& graph, std::vector<std::string_view>& names);

void collect_reads(const Node& node, std::vector<std::string_view>& names) {
  for (const std::string_view name : node.inputs)
    if (!name.empty()) names.push_back(name);
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph) collect_captures(*attribute.graph, names);
    for (const auto& graph : attribute.graphs) collect_captures(*graph, names);
  }
}

// Names that a sub-graph reads but does not define.
void collect_captures(const GraphProto& graph, std::vector<std::string_view>& names) {
  std::unordered_set<std::string_view> own;
  for (const ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const TensorProto& tensor : graph.initializers) own.insert(tensor.name);
  for (const Node& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  std::vector<std::string_view> reads;
  for (const Node& node : graph.nodes) collect_reads(node, reads);
  for (const ValueInfo& output : graph.outputs) reads.push_back(output.name);
  for (const std::string_view name : reads)
    if (!own.contains(name)) names.push_back(name);
}

using Producers = NameMap<std::size_t>;  // index of a node

Producers find_producers(std::span<const Node> nodes,
                         const std::function<bool(std::string_view)>& is_own,
                         const std::string& file) {
  Producers producers(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::string_view output : nodes[i].outputs) {
      if (output.empty()) continue;
      const auto [other, is_new] = producers.insert(output, i);
      if (!is_new)
        throw Error(file, describe(nodes[i]) + " writes tensor " + quote(output) + ", and " +
                              describe(nodes[*other]) + " writes it too");
      if (is_own(output))
        throw Error(file, describe(nodes[i]) + " writes tensor " + quote(output) +
                              ", which is already an input or a weight");
    }
  return producers;
}

struct Edge {  // between nodes
  std::size_t producer, consumer;
};

}  // namespace

std::string describe(const Node& node) {
  std::string text = "node ";
  if (!node.name.empty())
    text += quote(node.name);
  else if (!node.outputs.empty())
    text += "that makes " + quote(node.outputs.front());
  else
    text += "without a name";
  return text + " (" + qualified_name(node) + ")";
}

std::string qualified_name(const Node& node) {
  std::string name(node.op_type);
  if (!node.domain.empty() && node.domain != "ai.onnx")
    name = std::string(node.domain) + "." + name;
  const bool plain =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
  return plain && !name.empty() && name.size() < 100 ? name : quote(name);
}

NodeOrder order_nodes(std::span<const Node> nodes,
                      const std::function<bool(std::string_view)>& is_known,
                      const std::function<bool(std::string_view)>& is_own,
                      const std::string& file) {
  const Producers producers = find_producers(nodes, is_own, file);
  std::vector<Edge> edges;
  edges.reserve(nodes.size() * 2);
  NodeOrder order;
  std::vector<std::string_view> reads;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    reads.clear();
    collect_reads(nodes[i], reads);
    for (const std::string_view name : reads) {
      const std::size_t* producer = producers.find(name);
      if (producer == nullptr) {
        if (is_known(name)) continue;
        throw Error(file, describe(nodes[i]) + " reads tensor " + quote(name) +
                              ", which nothing makes: no input, weight or node has this name");
      }
      edges.push_back({*producer, i});
      order.as_in_file = order.as_in_file && *producer < i;
    }
  }
  order.nodes.reserve(nodes.size());
  if (order.as_in_file) {
    for (std::size_t i = 0; i < nodes.size(); ++i) order.nodes.push_back(i);
    return order;
  }
  std::vector<std::vector<std::size_t>> consumers(nodes.size());
  std::vector<std::size_t> unmet(nodes.size(), 0);
  for (const Edge& edge : edges) {
    consumers[edge.producer].push_back(edge.consumer);
    ++unmet[edge.consumer];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (unmet[i] == 0) ready.push(i);
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.nodes.push_back(i);
    for (const std::size_t consumer : consumers[i])
      if (--unmet[consumer] == 0) ready.push(consumer);
  }
  if (order.nodes.size() < nodes.size()) {
    const auto stuck = std::find_if(unmet.begin(), unmet.end(), [](auto n) { return n > 0; });
    throw Error(file, describe(nodes[static_cast<std::size_t>(stuck - unmet.begin())]) +
                          " is part of a cycle: it needs its own output");
  }
  return order;
}

}  // namespace ridgeline::onnx
