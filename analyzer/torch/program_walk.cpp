// Names become tensors, nodes become calls. Operators are known by their rules, not here, but for
// those that hold graphs.
#include "analyzer/torch/program_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analyzer/torch/graph_builder.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::pytorch {
namespace {

using Scope = std::unordered_map<std::string_view, TensorId>;

// "L__self__,,nets.Net;L__self___c1,c1,torch.nn.modules.conv.Conv2d": modules, outermost first,
// each with a key, its path and its class.
struct InnerModule {
  std::string_view path;
  bool is_leaf = false;
};

InnerModule inner_module(std::string_view stack) {
  const std::size_t last = stack.rfind(';');
  if (last != std::string_view::npos) stack.remove_prefix(last + 1);
  const std::size_t first = stack.find(','), second = stack.rfind(',');
  if (first == std::string_view::npos || second == first) return {};
  InnerModule module{stack.substr(first + 1, second - first - 1)};
  // A module that is called again has a number: "act@1".
  module.path = module.path.substr(0, module.path.find('@'));
  const std::string_view type = stack.substr(second + 1);
  module.is_leaf = type.starts_with("torch.nn.modules.") &&
                   type.find(".container.") == std::string_view::npos &&
                   type.find(".transformer.") == std::string_view::npos &&
                   !type.ends_with(".MultiheadAttention");
  return module;
}

// "torch.ops.aten.conv2d.default": "aten::conv2d" and "default".
struct Target {
  std::string op;
  std::string_view overload;
  bool is_operator = false;
};

Target parse_target(std::string_view target) {
  constexpr std::string_view home = "torch.ops.";
  if (!target.starts_with(home)) return {std::string(target), {}, false};
  target.remove_prefix(home.size());
  const std::size_t first = target.find('.');
  if (first == std::string_view::npos) return {std::string(target), {}, true};
  const std::string_view rest = target.substr(first + 1);
  const std::size_t second = rest.find('.');
  std::string op = fmt::format("{}::{}", target.substr(0, first), rest.substr(0, second));
  return {std::move(op),
          second == std::string_view::npos ? std::string_view() : rest.substr(second + 1), true};
}

std::vector<std::string_view> tensor_names(const ProgramValue& value) {
  std::vector<std::string_view> names;
  if (const auto* one = std::get_if<TensorName>(&value)) names.push_back(one->name);
  if (const auto* many = std::get_if<std::vector<TensorName>>(&value))
    for (const TensorName& one : *many) names.push_back(one.name);
  return names;
}

// Of networks that PT2E has quantised: weights in int8 are buffers of such names.
bool is_frozen_parameter(const InputSpec& spec) {
  const std::string_view name = spec.name;
  return spec.kind == InputKind::buffer &&
         name.substr(name.rfind('.') + 1).starts_with("_frozen_param");
}

class ProgramWalk {
 public:
  ProgramWalk(const Program& program, SymbolSizes& sizes, const ReadOptions& options,
              const std::string& path, std::vector<std::string>& warnings,
              std::vector<std::size_t>* node_layers)
      : program_(program),
        sizes_(sizes),
        options_(options),
        path_(path),
        warnings_(warnings),
        node_layers_(node_layers) {}

  Graph run() {
    Scope scope;
    for (const InputSpec& spec : program_.inputs) add_graph_input(spec, scope);
    walk(program_.graph, scope);
    std::vector<TensorId> outputs;
    for (const OutputSpec& spec : program_.outputs) {
      const auto found = scope.find(spec.graph_name);
      if (spec.graph_name.empty() || found == scope.end()) continue;
      if (std::find(outputs.begin(), outputs.end(), found->second) != outputs.end()) continue;
      outputs.push_back(found->second);
      if (spec.kind == OutputKind::mutation) states_.push_back(found->second);
    }
    Graph graph = builder_.finish({}, std::move(outputs));
    for (const TensorId id : states_) graph.tensors[id].is_state = true;
    return graph;
  }

 private:
  [[noreturn]] void fail(std::string_view node, const std::string& what) const {
    throw Error(path_, fmt::format("node {}: {}", quote(node), what), "export the network again");
  }

  Tensor described(const ProgramGraph& graph, std::string_view name, bool& contiguous) {
    const auto meta = graph.tensors.find(name);
    if (meta == graph.tensors.end())
      throw Error(path_, fmt::format("tensor {} has no shape in the file", quote(name)),
                  "export the network again");
    Tensor tensor;
    tensor.name = name;
    tensor.type = meta->second.type;
    std::tie(tensor.shape, tensor.source) = sizes_.shape(meta->second, tensor.name);
    contiguous = is_in_order(meta->second, tensor.shape);
    return tensor;
  }

  // Strides of dimensions of one do not matter.
  bool is_in_order(const TensorMeta& meta, const Shape& shape) {
    if (meta.strides.size() != shape.size()) return true;
    std::int64_t expected = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (shape[i] == 1) continue;
      if (sizes_.size(meta.strides[i]).first != expected) return false;
      if (__builtin_mul_overflow(expected, shape[i], &expected)) return false;
    }
    return true;
  }

  void add_graph_input(const InputSpec& spec, Scope& scope) {
    const auto meta = program_.graph.tensors.find(spec.graph_name);
    if (spec.kind == InputKind::other || meta == program_.graph.tensors.end()) return;
    bool contiguous = true;
    Tensor tensor = described(program_.graph, spec.graph_name, contiguous);
    if (spec.kind == InputKind::user) {
      scope[spec.graph_name] = builder_.add_input(std::move(tensor));
      return;
    }
    if (!spec.name.empty()) tensor.name = spec.name;
    scope[spec.graph_name] = builder_.add_weight(
        std::move(tensor), spec.kind == InputKind::parameter || is_frozen_parameter(spec));
  }

  TensorId tensor_of(std::string_view name, const Scope& scope, std::string_view node) const {
    if (name.empty()) return no_index;
    const auto found = scope.find(name);
    if (found == scope.end()) fail(node, fmt::format("nothing computes {}", quote(name)));
    return found->second;
  }

  ArgumentValue resolved(const ProgramValue& value, const ProgramGraph& graph, const Scope& scope,
                         std::string_view node) {
    if (const auto* one = std::get_if<TensorName>(&value)) {
      const TensorId id = tensor_of(one->name, scope, node);
      return id == no_index ? ArgumentValue() : TensorRef{id};
    }
    if (const auto* many = std::get_if<std::vector<TensorName>>(&value)) {
      std::vector<TensorRef> refs;
      for (const TensorName& one : *many) refs.push_back({tensor_of(one.name, scope, node)});
      return refs;
    }
    if (const auto* symbol = std::get_if<SymbolName>(&value)) return number_of(*symbol, graph);
    if (const auto* symbols = std::get_if<std::vector<SymbolName>>(&value)) {
      std::vector<std::int64_t> numbers;
      for (const SymbolName& symbol : *symbols) {
        const auto number = number_of(symbol, graph);
        if (!std::holds_alternative<std::int64_t>(number)) return {};
        numbers.push_back(std::get<std::int64_t>(number));
      }
      return numbers;
    }
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) return *numbers;
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
    return {};
  }

  ArgumentValue number_of(const SymbolName& symbol, const ProgramGraph& graph) {
    if (symbol.name.empty()) return symbol.value;
    const auto found = graph.sym_ints.find(symbol.name);
    if (found == graph.sym_ints.end()) return {};
    return sizes_.size(found->second).first;
  }

  void walk(const ProgramGraph& graph, Scope& scope) {
    for (const ProgramNode& node : graph.nodes) {
      const bool holds_graph =
          std::any_of(node.inputs.begin(), node.inputs.end(), [](const ProgramArgument& argument) {
            return std::holds_alternative<std::shared_ptr<ProgramGraph>>(argument.value);
          });
      std::size_t layer = no_index;
      if (holds_graph)
        walk_nested(node, graph, scope);
      else
        layer = add_node(node, graph, scope);
      if (node_layers_ != nullptr && &graph == &program_.graph) node_layers_->push_back(layer);
    }
  }

  std::vector<std::pair<std::string_view, TensorId>> add_outputs(const ProgramNode& node,
                                                                 const ProgramGraph& graph) {
    std::vector<std::pair<std::string_view, TensorId>> outputs;
    for (const ProgramValue& value : node.outputs)
      for (const std::string_view name : tensor_names(value)) {
        if (name.empty() || !graph.tensors.contains(name)) {
          outputs.emplace_back(name, no_index);
          continue;
        }
        bool contiguous = true;
        Tensor tensor = described(graph, name, contiguous);
        outputs.emplace_back(name, builder_.add_tensor(std::move(tensor), contiguous));
      }
    return outputs;
  }

  CallSite site_of(const ProgramNode& node) const {
    CallSite site;
    site.node = node.name;
    const InnerModule module = inner_module(node.modules);
    site.module = module.path;
    site.in_leaf = module.is_leaf;
    site.repeats = repeats_;
    site.nested = depth_ > 0;
    return site;
  }

  std::size_t add_node(const ProgramNode& node, const ProgramGraph& graph, Scope& scope) {
    const Target target = parse_target(node.target);
    const auto outputs = add_outputs(node, graph);
    // Arithmetic on sizes: their values are in the file.
    if (!target.is_operator && outputs.empty()) return no_index;
    CallSite site = site_of(node);
    site.op = target.op;
    site.overload = target.overload;
    const std::string_view shown = node.name.empty() ? std::string_view(target.op) : node.name;
    for (const ProgramArgument& argument : node.inputs)
      site.arguments.push_back({argument.name, resolved(argument.value, graph, scope, shown)});
    for (const auto& [name, id] : outputs) site.outputs.push_back(id);
    const std::size_t layer = builder_.add_call(site);
    for (const auto& [name, id] : outputs)
      if (id != no_index) scope[name] = id;
    // What is changed in place has the new elements from here on.
    const bool in_place = target.op.ends_with('_') && !target.op.ends_with("__");
    if (in_place && outputs.size() == 1 && outputs.front().second != no_index &&
        !node.inputs.empty())
      for (const std::string_view name : tensor_names(node.inputs.front().value))
        scope[name] = outputs.front().second;
    return layer;
  }

  // --- Nodes that hold graphs: wrap_with_…, cond, while_loop, scan, map.

  struct Nested {
    std::vector<TensorId> outputs;
    std::size_t first_layer = 0, last_layer = 0;
  };

  // A tensor of the outer graph as the inner one takes it, or the other way round: the same one, or
  // a part or pile of it.
  TensorId adapted(TensorId id, const ProgramGraph& graph, std::string_view name,
                   const ProgramNode& node, std::string_view op) {
    bool contiguous = true;
    Tensor tensor = described(graph, name, contiguous);
    if (tensor.shape == builder_.graph().tensors[id].shape) return id;
    CallSite site = site_of(node);
    site.op = op;
    Argument& self = site.arguments.emplace_back();
    self.name = "self";
    self.value.emplace<TensorRef>(TensorRef{id});
    site.outputs.push_back(builder_.add_tensor(std::move(tensor), contiguous));
    builder_.add_call(site);
    return site.outputs.front();
  }

  Nested walk_inner(const ProgramGraph& inner, const std::vector<TensorId>& operands,
                    const ProgramNode& node) {
    Scope scope;
    Nested result;
    result.first_layer = builder_.layer_count();
    std::size_t next = 0;
    for (const ProgramValue& input : inner.inputs)
      for (const std::string_view name : tensor_names(input)) {
        if (next == operands.size())
          fail(node.name, "its graph takes more tensors than it is given");
        const TensorId id = operands[next++];
        scope[name] = id == no_index ? id : adapted(id, inner, name, node, "aten::select");
      }
    ++depth_;
    walk(inner, scope);
    --depth_;
    for (const ProgramValue& output : inner.outputs)
      for (const std::string_view name : tensor_names(output))
        result.outputs.push_back(tensor_of(name, scope, node.name));
    result.last_layer = builder_.layer_count();
    return result;
  }

  double trips_of(const ProgramNode& node, std::string_view op, const Shape* first_operand) {
    if (op == "higher_order::scan" || op == "higher_order::map_impl" || op == "higher_order::map")
      return first_operand == nullptr || first_operand->empty()
                 ? 1.0
                 : static_cast<double>(first_operand->front());
    if (op != "higher_order::while_loop") return 1;
    auto given = options_.trips.find(node.name);
    if (given == options_.trips.end()) given = options_.trips.find("");
    if (given != options_.trips.end()) return static_cast<double>(given->second);
    warnings_.push_back(fmt::format(
        "{}: its number of trips depends on data and is counted as one (give --trips)", node.name));
    return 1;
  }

  void walk_nested(const ProgramNode& node, const ProgramGraph& graph, Scope& scope) {
    const Target target = parse_target(node.target);
    std::vector<const ProgramGraph*> inner;
    std::vector<TensorId> operands;
    const Shape* sliced =
        nullptr;  // what a loop runs over: the last list of scan, the first of map
    std::size_t lists = 0;
    for (const ProgramArgument& argument : node.inputs) {
      if (const auto* one = std::get_if<std::shared_ptr<ProgramGraph>>(&argument.value)) {
        inner.push_back(one->get());
        operands.clear();  // a condition is not an operand
        continue;
      }
      const auto names = tensor_names(argument.value);
      for (const std::string_view name : names)
        operands.push_back(tensor_of(name, scope, node.name));
      const std::size_t wanted = target.op == "higher_order::scan" ? 1 : 0;
      if (!inner.empty() && lists++ == wanted && !names.empty() && operands.back() != no_index)
        sliced = &builder_.graph().tensors[operands.back()].shape;
    }
    const double outer = repeats_;
    repeats_ *= trips_of(node, target.op, sliced);
    Nested chosen = walk_inner(*inner.front(), operands, node);
    for (std::size_t i = 1; i < inner.size(); ++i) {
      const Nested other = walk_inner(*inner[i], operands, node);
      if (target.op == "higher_order::cond") {
        if (prefers(chosen, other, i)) {
          builder_.mark_alternative(chosen.first_layer, chosen.last_layer);
          chosen = other;
        } else {
          builder_.mark_alternative(other.first_layer, other.last_layer);
        }
      } else {
        chosen = other;  // a condition, then the body
      }
    }
    repeats_ = outer;
    bind_results(node, graph, scope, chosen);
  }

  // Whether the second branch counts instead of the first.
  bool prefers(const Nested& first, const Nested& second, std::size_t index) const {
    if (options_.branch == Branch::then_branch) return false;
    if (options_.branch == Branch::else_branch) return index == 1;
    return builder_.flop_of_layers(second.first_layer, second.last_layer) >
           builder_.flop_of_layers(first.first_layer, first.last_layer);
  }

  void bind_results(const ProgramNode& node, const ProgramGraph& graph, Scope& scope,
                    const Nested& chosen) {
    std::size_t next = 0;
    for (const ProgramValue& value : node.outputs)
      for (const std::string_view name : tensor_names(value)) {
        if (next == chosen.outputs.size())
          fail(node.name, "its graph returns fewer tensors than it has results");
        const TensorId id = chosen.outputs[next++];
        if (!name.empty() && id != no_index)
          scope[name] = adapted(id, graph, name, node, "aten::stack");
      }
  }

  const Program& program_;
  SymbolSizes& sizes_;
  const ReadOptions& options_;
  const std::string& path_;
  std::vector<std::string>& warnings_;
  std::vector<std::size_t>* node_layers_;
  GraphBuilder builder_;
  std::vector<TensorId> states_;
  double repeats_ = 1;
  int depth_ = 0;
};

}  // namespace

Graph walk_program(const Program& program, SymbolSizes& sizes, const ReadOptions& options,
                   const std::string& path, std::vector<std::string>& warnings,
                   std::vector<std::size_t>* node_layers) {
  return ProgramWalk(program, sizes, options, path, warnings, node_layers).run();
}

}  // namespace ridgeline::pytorch
