// Claims nodes layer by layer. A node that several layers name belongs to the first that computes:
// Myelin divides one node among kernels, and work must not be counted twice.
#include "analyzer/tensorrt/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

#include "analyzer/count/count.h"
#include "analyzer/graph/module_path.h"
#include "analyzer/tensorrt/kernels.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace ridgeline::tensorrt {
namespace {

constexpr std::string_view range_mark = "...";

// TensorRT may change characters of a name on import: "layers.2" and "layers_2".
std::string canonical(std::string_view name) {
  std::string plain(name);
  std::replace_if(
      plain.begin(), plain.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return plain;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::vector<std::string> split_by(const std::string& text, std::string_view separator) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    pieces.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return pieces;
    begin = end + separator.size();
  }
}

// Closing brackets without an opening one are what "PWN(" left behind.
std::string without_open_end(std::string name) {
  const auto count = [&](char c) { return std::count(name.begin(), name.end(), c); };
  while (name.ends_with(')') && count(')') > count('(')) name.pop_back();
  return name;
}

// "node_linear_myl4_0" → "node_linear"
std::string without_subgraph(std::string name) {
  const std::size_t at = name.rfind("_myl");
  if (at == std::string::npos) return name;
  const bool is_mark = std::all_of(name.begin() + static_cast<long>(at) + 4, name.end(),
                                   [](unsigned char c) { return std::isdigit(c) || c == '_'; });
  return is_mark ? name.substr(0, at) : name;
}

// Its name lists the nodes of the layer that it copies for.
bool is_copy_for_another(const EngineLayer& layer) {
  return layer.name.starts_with("Reformatting CopyNode");
}

// A quantisation step that no layer absorbed is a Reformat as well, with its node's own name.
bool is_reformat(const EngineLayer& layer) {
  return is_copy_for_another(layer) || layer.type == "Reformat";
}

enum class LayerRole { computes, reformat, idle };

bool has_work(const Layer& node) { return runs(node) && !is_view(node); }

class Mapper {
 public:
  Mapper(const Engine& engine, const Graph& onnx) : engine_(engine), onnx_(onnx) {
    mapping_.nodes.resize(engine.layers.size());
    owner_.resize(onnx.layers.size(), no_index);
    producer_.resize(onnx.tensors.size(), no_index);
    for (std::size_t i = 0; i < onnx.layers.size(); ++i) {
      const Layer& node = onnx.layers[i];
      exact_.try_emplace(node.name, i);
      alike_.try_emplace(canonical(node.name), i);
      for (const TensorId id : node.outputs) producer_[id] = i;
    }
    for (TensorId id = 0; id < onnx.tensors.size(); ++id)
      tensors_.try_emplace(onnx.tensors[id].name, id);
    for (const EngineLayer& layer : engine.layers)
      role_.push_back(is_idle(layer)       ? LayerRole::idle
                      : is_reformat(layer) ? LayerRole::reformat
                                           : LayerRole::computes);
  }

  Mapping run(const std::string& onnx_path) {
    mapping_.summary.path = onnx_path;
    // Layers that compute come first: a reformat or a NoOp may name the node of its neighbour, too.
    constexpr LayerRole roles[] = {LayerRole::computes, LayerRole::reformat, LayerRole::idle};
    for (const LayerRole role : roles)
      for (std::size_t i = 0; i < engine_.layers.size(); ++i)
        if (role_[i] == role)
          claim_named(i, engine_.layers[i].onnx_nodes, mapping_.summary.by_metadata);
    for (const LayerRole role : roles)
      for (std::size_t i = 0; i < engine_.layers.size(); ++i)
        if (role_[i] == role && !is_copy_for_another(engine_.layers[i])) claim_by_name(i);
    refuse_other_network(onnx_path);
    for (std::size_t i = 0; i < engine_.layers.size(); ++i)
      if (role_[i] == LayerRole::computes) claim_by_tensors(i);
    attach_rest();
    finish();
    return std::move(mapping_);
  }

 private:
  std::size_t find(const std::string& name) const {
    if (const auto found = exact_.find(name); found != exact_.end()) return found->second;
    if (const auto found = alike_.find(canonical(name)); found != alike_.end())
      return found->second;
    return no_index;
  }

  bool claim(std::size_t layer, std::size_t node) {
    if (node == no_index || owner_[node] != no_index) return false;
    owner_[node] = layer;
    mapping_.nodes[layer].push_back(node);
    return true;
  }

  void claim_named(std::size_t layer, const std::vector<std::string>& names, std::size_t& claimed) {
    for (const std::string& name : names) {
      const std::size_t node = find(without_profile(name));
      ++named_;
      found_ += node != no_index ? 1 : 0;
      claimed += claim(layer, node) ? 1 : 0;
    }
  }

  void claim_by_name(std::size_t layer) {
    const std::vector<std::string> names = names_in(engine_.layers[layer].name);
    const auto range = std::ranges::find(names, range_mark);
    if (range == names.end()) {
      const bool has_metadata = !engine_.layers[layer].onnx_nodes.empty();
      for (const std::string& name : names) {
        const std::size_t node = find(name);
        if (!has_metadata && node != no_index) ++found_, ++named_;
        mapping_.summary.by_name += claim(layer, node) ? 1 : 0;
      }
      return;
    }
    claim_range(layer, {names.begin(), range}, {range + 1, names.end()});
  }

  // Everything between the first and the last node that the name gives.
  void claim_range(std::size_t layer, const std::vector<std::string>& first,
                   const std::vector<std::string>& last) {
    std::size_t low = no_index, high = 0;
    bool has_end = false;
    for (const auto* names : {&first, &last})
      for (const std::string& name : *names) {
        const std::size_t node = find(name);
        if (node == no_index) continue;
        low = std::min(low, node);
        high = std::max(high, node);
        has_end = has_end || names == &last;
      }
    if (low == no_index || !has_end) return;
    ++named_;
    ++found_;
    for (std::size_t node = low; node <= high; ++node)
      mapping_.summary.by_name += claim(layer, node) ? 1 : 0;
  }

  void refuse_other_network(const std::string& onnx_path) const {
    if (named_ > 0 && 2 * found_ >= named_) return;
    // Without names, the tensors must do.
    std::size_t tensors = 0, known = 0;
    for (const EngineLayer& layer : engine_.layers)
      for (const EngineTensor& tensor : layer.outputs) {
        ++tensors;
        known += tensors_.contains(without_profile(tensor.name)) ? 1 : 0;
      }
    if (named_ == 0 && 2 * known >= tensors && tensors > 0) return;
    throw Error(onnx_path,
                fmt::format("not the network of {}: {} of {} names in the engine are in it",
                            engine_.path, found_ + known, named_ + tensors),
                "give the ONNX file that the engine was built from");
  }

  // Backwards from what the layer writes to what it reads, or to nodes of other layers.
  void claim_by_tensors(std::size_t layer) {
    std::vector<std::size_t> pending;
    for (const EngineTensor& output : engine_.layers[layer].outputs) {
      const auto tensor = tensors_.find(without_profile(output.name));
      if (tensor != tensors_.end()) pending.push_back(producer_[tensor->second]);
    }
    std::vector<std::string> ends;
    for (const EngineTensor& input : engine_.layers[layer].inputs)
      ends.push_back(without_profile(input.name));
    while (!pending.empty()) {
      const std::size_t node = pending.back();
      pending.pop_back();
      if (!claim(layer, node)) continue;
      ++mapping_.summary.by_tensor;
      for (const TensorId id : onnx_.layers[node].inputs)
        if (std::ranges::find(ends, onnx_.tensors[id].name) == ends.end())
          pending.push_back(producer_[id]);
    }
  }

  // A node with work that no layer names has been fused into its producer's layer.
  void attach_rest() {
    for (std::size_t node = 0; node < onnx_.layers.size(); ++node) {
      const Layer& layer = onnx_.layers[node];
      if (owner_[node] != no_index || !has_work(layer)) continue;
      for (const TensorId id : layer.inputs) {
        const std::size_t producer = producer_[id];
        if (producer == no_index || owner_[producer] == no_index) continue;
        mapping_.summary.by_tensor += claim(owner_[producer], node) ? 1 : 0;
        break;
      }
    }
  }

  void finish() {
    mapping_.summary.all_nodes = onnx_.layers.size();
    for (std::size_t node = 0; node < onnx_.layers.size(); ++node) {
      const double flop =
          total_operations(count_layer(onnx_, onnx_.layers[node], default_weights()));
      mapping_.summary.flop += flop;
      if (owner_[node] == no_index)
        ++mapping_.summary.folded;
      else
        mapping_.summary.mapped_flop += flop;
    }
    for (auto& nodes : mapping_.nodes) std::sort(nodes.begin(), nodes.end());
    for (std::size_t i = 0; i < engine_.layers.size(); ++i)
      mapping_.shares_node.push_back(mapping_.nodes[i].empty() && names_node(engine_.layers[i]));
  }

  // By its Metadata, or by a tensor that it writes.
  bool names_node(const EngineLayer& layer) const {
    for (const std::string& name : layer.onnx_nodes)
      if (find(without_profile(name)) != no_index) return true;
    return std::ranges::any_of(layer.outputs, [&](const EngineTensor& output) {
      const auto tensor = tensors_.find(without_profile(output.name));
      return tensor != tensors_.end() && producer_[tensor->second] != no_index;
    });
  }

  const Engine& engine_;
  const Graph& onnx_;
  Mapping mapping_;
  std::vector<std::size_t> owner_;     // by node: layer of the engine
  std::vector<std::size_t> producer_;  // by tensor: node
  std::vector<LayerRole> role_;
  std::unordered_map<std::string, std::size_t> exact_, alike_;
  std::unordered_map<std::string, TensorId> tensors_;
  std::size_t named_ = 0, found_ = 0;  // names in the engine, and those in the ONNX file
};

// --- What the mapping changes in the kernels.

bool is_float(DType dtype) { return !is_integer(dtype); }

bool is_product(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<MatMul>(op) ||
         std::holds_alternative<Attention>(op) || std::holds_alternative<Recurrent>(op);
}

bool is_opaque(const Layer& kernel) {
  return std::ranges::any_of(
      kernel.parts, [](const Part& part) { return std::holds_alternative<Unknown>(part.op); });
}

// Storage of weights that a kernel reads in its own type.
ElementType stored_type(const Tensor& weight, const EngineLayer& layer) {
  if (!is_floating(weight.type)) return weight.type;
  for (const EngineTensor& input : layer.inputs)
    if (input.format.type != ElementType::unknown &&
        (is_floating(input.format.type) || input.format.type == ElementType::int8))
      return input.format.type;
  return weight.type;
}

class KernelFiller {
 public:
  KernelFiller(Graph& kernels, const Engine& engine, const Graph& onnx)
      : kernels_(kernels), engine_(engine), onnx_(onnx) {}

  // The parts of all nodes, in the type of the kernel, and the weights that they read.
  void fill(std::size_t index, const std::vector<std::size_t>& nodes) {
    std::vector<Part> parts;
    double repeats = 0;
    for (const std::size_t node : nodes) {
      const Layer& from = onnx_.layers[node];
      if (!has_work(from)) continue;
      if (repeats != 0 && repeats != from.repeats) return;  // several loops in one kernel
      repeats = from.repeats;
      for (const Part& part : from.parts) {
        if (std::holds_alternative<Unknown>(part.op)) return;
        if (!std::holds_alternative<View>(part.op)) parts.push_back(typed(part, index));
      }
    }
    if (parts.empty()) return;
    Layer& kernel = kernels_.layers[index];
    // A copy or look-up among other work reads what the kernel's own tensors say.
    if (parts.size() > 1)
      std::erase_if(parts, [](const Part& part) {
        return std::holds_alternative<Copy>(part.op) || std::holds_alternative<Gather>(part.op);
      });
    if (parts.empty()) parts.push_back({Copy{}, DType::fp32});
    kernel.parts = std::move(parts);
    kernel.repeats = repeats;
    for (const std::size_t node : nodes) add_weights(index, onnx_.layers[node]);
  }

 private:
  Part typed(Part part, std::size_t index) const {
    const DType computed = compute_type(engine_.layers[index]);
    if (is_product(part.op))
      part.dtype = computed;
    else if (is_float(part.dtype) && is_float(computed))
      part.dtype = computed == DType::tf32 ? DType::fp32 : computed;
    return part;
  }

  void add_weights(std::size_t index, const Layer& node) {
    if (!has_work(node)) return;
    for (const TensorId id : node.inputs) {
      const Tensor& weight = onnx_.tensors[id];
      if (weight.role != Role::weight) continue;
      Tensor copy = weight;
      copy.type = stored_type(weight, engine_.layers[index]);
      copy.stored_bytes.reset();
      const TensorId added = kernels_.tensors.size();
      kernels_.tensors.push_back(std::move(copy));
      kernels_.layers[index].inputs.push_back(added);
      const auto rows = elements_of_first_input(node);
      if (rows && id == node.inputs.front())
        kernels_.layers[index].partly_moved.emplace_back(added, *rows);
    }
  }

  Graph& kernels_;
  const Engine& engine_;
  const Graph& onnx_;
};

double macs_of(const Graph& graph, const Layer& layer) {
  return count_layer(graph, layer, default_weights()).macs;
}

}  // namespace

std::vector<std::string> names_in(const std::string& layer_name) {
  std::string text = without_subgraph(without_profile(layer_name));
  const std::size_t foreign = text.find("{ForeignNode[");
  if (foreign != std::string::npos) {
    const std::size_t begin = foreign + std::string_view("{ForeignNode[").size();
    const std::size_t end = text.rfind("]}");
    text = text.substr(begin, end == std::string::npos ? end : end - begin);
    const std::size_t range = text.find(range_mark);
    if (range == std::string::npos) return names_in(text);
    std::vector<std::string> names = names_in(text.substr(0, range));
    names.emplace_back(range_mark);
    for (std::string& name : names_in(text.substr(range + range_mark.size())))
      names.push_back(std::move(name));
    return names;
  }
  replace_all(text, "PWN(", "");
  replace_all(text, " || ", " + ");
  std::vector<std::string> names;
  for (const std::string& sum : split_by(text, " + "))
    for (const std::string& name : split_by(sum, ", "))
      if (std::string plain = without_open_end(trimmed(name)); !plain.empty())
        names.push_back(std::move(plain));
  return names;
}

Mapping map_nodes(const Engine& engine, const Graph& onnx, const std::string& onnx_path) {
  return Mapper(engine, onnx).run(onnx_path);
}

void apply_mapping(Graph& kernels, const Engine& engine, const Graph& onnx, const Mapping& mapping,
                   const std::string& onnx_path) {
  KernelFiller filler(kernels, engine, onnx);
  double own = 0, of_nodes = 0;
  for (std::size_t i = 0; i < kernels.layers.size(); ++i) {
    const std::vector<std::size_t>& nodes = mapping.nodes[i];
    Layer& kernel = kernels.layers[i];
    kernel.sources.clear();
    if (nodes.empty()) {
      // Myelin divides a node among kernels. Its arithmetic is counted in the first of them.
      if (is_opaque(kernel) && mapping.shares_node[i]) kernel.parts = {{Copy{}, DType::fp32}};
      continue;
    }
    for (const std::size_t node : nodes) kernel.sources.push_back(onnx.layers[node].name);
    kernel.module = common_module(onnx, nodes);
    if (is_opaque(kernel)) {
      filler.fill(i, nodes);
      continue;
    }
    own += macs_of(kernels, kernel);
    for (const std::size_t node : nodes) of_nodes += macs_of(onnx, onnx.layers[node]);
  }
  // Padded channels and rewritten products differ a little; other sizes by a factor.
  constexpr double most = 1.25;
  if (own > 0 && of_nodes > 0 && (own > most * of_nodes || of_nodes > most * own))
    throw Error(onnx_path,
                fmt::format("its nodes have {} MACs where {} has {}", format_si(of_nodes, ""),
                            engine.path, format_si(own, "")),
                "give the ONNX file that the engine was built from, with the same sizes");
}

}  // namespace ridgeline::tensorrt
