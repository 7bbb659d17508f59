// Three passes, each over what the one before left: names, nodes, computation. A layer fused with
// others elsewhere is matched by the nodes that both have, the largest common part first.
#include "analyzer/tensorrt/engine_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/tensorrt/kernels.h"
#include "analyzer/tensorrt/mapping.h"
#include "base/json.h"

namespace ridgeline::tensorrt {
namespace {

using Indices = std::vector<std::size_t>;

Indices busy_layers(const Engine& engine) {
  Indices indices;
  for (std::size_t index = 0; index < engine.layers.size(); ++index)
    if (!is_idle(engine.layers[index])) indices.push_back(index);
  return indices;
}

// The nodes that a layer was made of: by Metadata, else by its name.
std::set<std::string> nodes_of(const EngineLayer& layer) {
  std::set<std::string> nodes(layer.onnx_nodes.begin(), layer.onnx_nodes.end());
  if (nodes.empty())
    for (std::string& name : names_in(layer.name)) nodes.insert(std::move(name));
  return nodes;
}

// What it computes, without types, layouts and batch.
std::string computation_of(const EngineLayer& layer) {
  std::string text = layer.parameter.empty() ? layer.type : layer.parameter;
  const auto add_shape = [&](const std::vector<EngineTensor>& tensors) {
    text += '|';
    if (tensors.empty()) return;
    const Shape& shape = tensors.front().shape;
    for (std::size_t axis = 1; axis < shape.size(); ++axis) text += fmt::format("{} ", shape[axis]);
  };
  add_shape(layer.inputs);
  add_shape(layer.outputs);
  text += fmt::format("|{} {}", layer.out_maps, layer.groups);
  for (const std::int64_t size : layer.window.size) text += fmt::format(" {}", size);
  return text;
}

class Matcher {
 public:
  Matcher(const Engine& before, const Engine& after)
      : before_(before), after_(after), left_(busy_layers(before)), right_(busy_layers(after)) {}

  void by_name() {
    std::unordered_map<std::string, Indices> named;
    for (const std::size_t index : right_)
      named[without_profile(after_.layers[index].name)].push_back(index);
    in_order(named, EngineMatch::name,
             [&](std::size_t index) { return without_profile(before_.layers[index].name); });
  }

  void by_nodes() {
    std::map<std::string, Indices> with_node;
    for (const std::size_t index : right_)
      for (const std::string& node : nodes_of(after_.layers[index]))
        with_node[node].push_back(index);
    struct Candidate {
      std::size_t common, before, after;
    };
    std::vector<Candidate> candidates;
    for (const std::size_t index : left_) {
      std::map<std::size_t, std::size_t> common;
      for (const std::string& node : nodes_of(before_.layers[index]))
        if (const auto found = with_node.find(node); found != with_node.end())
          for (const std::size_t other : found->second) ++common[other];
      for (const auto& [other, count] : common)
        if (may_match(index, other)) candidates.push_back({count, index, other});
    }
    std::ranges::stable_sort(candidates, std::greater<>{}, &Candidate::common);
    std::set<std::size_t> used_before, used_after;
    for (const Candidate& candidate : candidates) {
      if (used_before.contains(candidate.before) || used_after.contains(candidate.after)) continue;
      used_before.insert(candidate.before);
      used_after.insert(candidate.after);
      pairs_.push_back({candidate.before, candidate.after, EngineMatch::nodes, {}});
    }
    forget(used_before, used_after);
  }

  void by_computation() {
    std::unordered_map<std::string, Indices> computing;
    for (const std::size_t index : right_)
      computing[computation_of(after_.layers[index])].push_back(index);
    in_order(computing, EngineMatch::computation,
             [&](std::size_t index) { return computation_of(before_.layers[index]); });
  }

  std::vector<ComparedLayer> take_pairs() { return std::move(pairs_); }
  const Indices& unmatched_before() const { return left_; }
  const Indices& unmatched_after() const { return right_; }

 private:
  // Exporters number their nodes: "Conv_9" of another export may be another convolution. And a
  // reformat is not a convolution, even if it is named after one.
  bool may_match(std::size_t before, std::size_t after) const {
    const EngineLayer &a = before_.layers[before], &b = after_.layers[after];
    return a.parameter == b.parameter &&
           (a.out_maps == 0 || computation_of(a) == computation_of(b));
  }

  // Layers with the same key, the first with the first.
  template <class Key>
  void in_order(std::unordered_map<std::string, Indices>& others, EngineMatch match,
                const Key& key) {
    std::set<std::size_t> used_before, used_after;
    std::unordered_map<std::string, std::size_t> next;
    for (const std::size_t index : left_) {
      const std::string text = key(index);
      const auto found = others.find(text);
      if (found == others.end() || next[text] == found->second.size()) continue;
      const std::size_t other = found->second[next[text]++];
      used_before.insert(index);
      used_after.insert(other);
      pairs_.push_back({index, other, match, {}});
    }
    forget(used_before, used_after);
  }

  void forget(const std::set<std::size_t>& used_before, const std::set<std::size_t>& used_after) {
    std::erase_if(left_, [&](std::size_t index) { return used_before.contains(index); });
    std::erase_if(right_, [&](std::size_t index) { return used_after.contains(index); });
  }

  const Engine& before_;
  const Engine& after_;
  Indices left_, right_;
  std::vector<ComparedLayer> pairs_;
};

template <class Differs>
bool any_tensor(const EngineLayer& a, const EngineLayer& b, const Differs& differs) {
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) return true;
  return !std::ranges::equal(a.inputs, b.inputs, std::not_fn(differs)) ||
         !std::ranges::equal(a.outputs, b.outputs, std::not_fn(differs));
}

std::vector<std::string_view> differences(const EngineLayer& a, const EngineLayer& b,
                                          double bytes_a, double bytes_b) {
  std::vector<std::string_view> what;
  if (a.type != b.type) what.emplace_back("type");
  if (any_tensor(a, b, [](const EngineTensor& x, const EngineTensor& y) {
        return x.format.type != y.format.type;
      }))
    what.emplace_back("dtype");
  if (any_tensor(a, b, [](const EngineTensor& x, const EngineTensor& y) {
        return x.format.layout != y.format.layout ||
               x.format.channel_multiple != y.format.channel_multiple;
      }))
    what.emplace_back("layout");
  if (any_tensor(a, b,
                 [](const EngineTensor& x, const EngineTensor& y) { return x.shape != y.shape; }))
    what.emplace_back("shape");
  if (a.tactic != b.tactic) what.emplace_back("tactic");
  if (bytes_a != bytes_b) what.emplace_back("bytes");
  return what;
}

Json layer_json(const ComparedEngine& side, std::size_t index) {
  const EngineLayer& layer = side.engine.layers[index];
  const LayerCost& cost = side.costs[index];
  return {{"name", layer.name},     {"type", layer.type},  {"types", types_text(layer)},
          {"tactic", layer.tactic}, {"bytes", cost.bytes}, {"time_s", nullable(cost.time_s)}};
}

Json side_json(const ComparedEngine& side) {
  return {{"path", side.engine.path},     {"version", version_text(side.engine)},
          {"device", side.engine.device}, {"layers", busy_layers(side.engine).size()},
          {"bytes", total_bytes(side)},   {"time_s", nullable(side.time_s)}};
}

}  // namespace

double total_bytes(const ComparedEngine& engine) {
  double bytes = 0;
  for (const LayerCost& cost : engine.costs) bytes += cost.bytes;
  return bytes;
}

std::string types_text(const EngineLayer& layer) {
  if (layer.inputs.empty() && layer.outputs.empty()) return "";
  const auto word = [](const std::vector<EngineTensor>& tensors) {
    return std::string(to_string(tensors.front().format.type));
  };
  if (layer.inputs.empty()) return word(layer.outputs);
  if (layer.outputs.empty()) return word(layer.inputs);
  const std::string in = word(layer.inputs), out = word(layer.outputs);
  return in == out ? in : in + " → " + out;
}

EngineDiff diff(ComparedEngine before, ComparedEngine after) {
  EngineDiff result{std::move(before), std::move(after), {}, {}, {}};
  const ComparedEngine &a = result.before, &b = result.after;
  Matcher matcher(a.engine, b.engine);
  matcher.by_name();
  matcher.by_nodes();
  matcher.by_computation();
  result.matched = matcher.take_pairs();
  result.removed = matcher.unmatched_before();
  result.added = matcher.unmatched_after();
  for (ComparedLayer& pair : result.matched)
    pair.what = differences(a.engine.layers[pair.before], b.engine.layers[pair.after],
                            a.costs[pair.before].bytes, b.costs[pair.after].bytes);

  const bool has_times = a.time_s && b.time_s;
  const auto cost_of = [&](const ComparedEngine& side, std::size_t index) {
    return has_times ? side.costs[index].time_s.value_or(0) : side.costs[index].bytes;
  };
  std::ranges::stable_sort(result.matched, std::greater<>{}, [&](const ComparedLayer& pair) {
    return std::abs(cost_of(b, pair.after) - cost_of(a, pair.before));
  });
  std::ranges::stable_sort(result.removed, std::greater<>{},
                           [&](std::size_t index) { return cost_of(a, index); });
  std::ranges::stable_sort(result.added, std::greater<>{},
                           [&](std::size_t index) { return cost_of(b, index); });
  return result;
}

Json to_json(const EngineDiff& difference) {
  Json changed = Json::array();
  std::size_t same = 0;
  for (const ComparedLayer& pair : difference.matched) {
    if (pair.what.empty()) ++same;
    changed.push_back({{"matched_by", to_string(pair.matched_by)},
                       {"what", pair.what},
                       {"before", layer_json(difference.before, pair.before)},
                       {"after", layer_json(difference.after, pair.after)}});
  }
  const auto layers_json = [](const ComparedEngine& side, const Indices& indices) {
    return array_of(indices, [&](std::size_t index) { return layer_json(side, index); });
  };
  return {{"schema", EngineDiff::schema},
          {"before", side_json(difference.before)},
          {"after", side_json(difference.after)},
          {"same", same},
          {"matched", std::move(changed)},
          {"removed", layers_json(difference.before, difference.removed)},
          {"added", layers_json(difference.after, difference.added)}};
}

}  // namespace ridgeline::tensorrt
