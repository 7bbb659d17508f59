// The walk over nodes: resolves values, walks functions and sub-graphs in place, recognises
// constants, collects layers. Shapes of operators are inferred in operators/, trips and branches in
// operators/control_flow.cpp.
#include "analyzer/onnx/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "analyzer/count/count.h"
#include "analyzer/onnx/order.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

// Functions that call functions and loops inside loops can unroll a small file without end.
constexpr std::size_t max_nodes_walked = 250'000;

bool is_matrix_work(const Part& part) {
  return std::holds_alternative<Convolution>(part.op) || std::holds_alternative<MatMul>(part.op) ||
         std::holds_alternative<Attention>(part.op) || std::holds_alternative<Recurrent>(part.op);
}

bool is_random(const Part& part) {
  const auto* elementwise = std::get_if<Elementwise>(&part.op);
  return elementwise != nullptr && elementwise->function == Function::random;
}

constexpr int max_depth = 100;  // of functions and sub-graphs

// Restores a value at the end of a sub-graph, also after an exception.
template <class T>
class Restore {
 public:
  explicit Restore(T& place) : place_(place), before_(place) {}
  ~Restore() { place_ = before_; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T before_;
};

constexpr std::int64_t newest_opset = 28;  // of onnx 1.23

}  // namespace

Walk::Walk(const ModelFile& file, const ImportOptions& options) : file_(file), options_(options) {
  const Model& model = file.model();
  for (const OpsetImport& import : model.opsets) opsets_[import.domain] = import.version;
  for (const FunctionProto& function : model.functions)
    functions_[{function.domain, function.name}].push_back(&function);
  warnings_ = model.warnings;
}

Value* Walk::make_value(std::string_view name) {
  Value& value = values_.emplace_back();
  value.id = values_.size() - 1;
  value.name = name;
  return &value;
}

void Walk::warn(const std::string& text) {
  // A loop body would repeat the warning on every trip.
  if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end())
    warnings_.push_back(text);
}

void Walk::add_initializers(const GraphProto& graph) {
  for (const TensorProto& tensor : graph.initializers) {
    Value* value = make_value(tensor.name);
    value->type = tensor.type;
    value->shape = tensor.shape();
    value->source = ShapeSource::fixed;
    value->constant = true;
    value->is_initializer = true;
    value->proto = &tensor;
    scope_->bind(tensor.name, value);
  }
}

void Walk::add_inputs() {
  for (const BoundInput& input : bindings_.inputs) {
    Value* value = make_value(input.info->name);
    value->type = input.info->type.element;
    value->shape = input.shape;
    value->source = input.shape ? input.source : ShapeSource::unknown;
    value->is_sequence = input.info->type.kind == TypeKind::sequence;
    scope_->bind(input.info->name, value);
    inputs_.push_back(value->id);
  }
}

void Walk::walk_nodes(std::span<const Node> nodes) {
  const NodeOrder order = order_nodes(
      nodes, [this](std::string_view name) { return scope_->find(name) != nullptr; },
      [this](std::string_view name) { return scope_->owns(name); }, file_name());
  if (!order.as_in_file) warn("nodes are not in topological order; counted in an order that is");
  for (const std::size_t index : order.nodes) walk_node(nodes[index]);
}

void Walk::spend(const Node& node) {
  if (++nodes_walked_ > max_nodes_walked)
    throw Error(file_name(), describe(node) + ": functions and loops unroll to more than " +
                                 std::to_string(max_nodes_walked) + " nodes");
}

std::int64_t Walk::opset_of(const Node& node) {
  const std::string_view domain = node.domain == "ai.onnx" ? std::string_view() : node.domain;
  for (const OpsetImport& import : function_opsets_)
    if (import.domain == domain) return import.version;
  if (const auto found = opsets_.find(domain); found != opsets_.end()) return found->second;
  if (domain.empty())
    throw Error(file_name(), describe(node) + ": the model imports no operator set of ai.onnx");
  warn(fmt::format("operators of {} are used, but the model does not import this domain",
                   quote(domain)));
  return 1;
}

std::string Walk::layer_name(const Node& node) const {
  std::string_view own = node.name;
  if (own.empty() && !node.outputs.empty()) own = node.outputs.front();
  if (own.empty()) own = node.op_type;
  std::string name;
  name.reserve(path_.size() + own.size());
  return name.append(path_).append(own);
}

void Walk::walk_node(const Node& node) {
  spend(node);
  if (const FunctionProto* function = function_of(node))
    call_function(*function, node);
  else
    apply_rule(node);
}

const Operator* Walk::operator_of(const Node& node, std::string_view domain) {
  const auto* known = operators_.find(node.op_type);
  if (known != nullptr && (*known)->domain == domain) return *known;
  const Operator* row = find_operator(domain, node.op_type);
  if (row != nullptr) operators_.set(node.op_type, row);
  return row;
}

void Walk::apply_rule(const Node& node) {
  NodeContext context(*this, node, opset_of(node));
  for (const std::string_view name : node.inputs) context.inputs_.push_back(find_value(name));
  for (const std::string_view name : node.outputs) {
    context.outputs_.push_back(name.empty() ? nullptr : make_value(name));
    if (!name.empty()) scope_->bind(name, context.outputs_.back());
  }
  const std::string_view domain = node.domain == "ai.onnx" ? std::string_view() : node.domain;
  const Operator* row = operator_of(node, domain);
  std::string unknown_because;
  if (row == nullptr) {
    unknown_because = "no rule for this operator";
  } else {
    try {
      row->rule(context);
    } catch (const CannotInfer& cause) {
      if (!fall_back_to_declared(context) || context.parts_.empty()) unknown_because = cause.reason;
    }
  }
  if (!unknown_because.empty()) {
    fall_back_to_declared(context);
    context.parts_.clear();
    context.emit(Unknown{unknown_because});
  }
  const bool depends_on_no_data = std::all_of(
      context.inputs_.begin(), context.inputs_.end(),
      [](const Value* value) { return value == nullptr || value->constant || value->from_shapes; });
  const bool reads_shape = domain.empty() && (node.op_type == "Shape" || node.op_type == "Size");
  const bool is_folded =
      unknown_because.empty() && (depends_on_no_data || reads_shape) &&
      std::none_of(context.parts_.begin(), context.parts_.end(),
                   [](const Part& part) { return is_matrix_work(part) || is_random(part); });
  settle_outputs(context, is_folded);
  add_layer(context, is_folded);
}

// Takes the declared type and shape of a tensor that no rule could infer.
bool Walk::take_declared(Value& value) {
  if (call_ != nullptr) return false;  // names inside a function are not the graph's
  const auto* found = declared_.find(value.name);
  if (found == nullptr) return false;
  const TypeProto& type = (*found)->type;
  value.type = type.element;
  value.is_sequence = type.kind == TypeKind::sequence;
  value.shape = bindings_.resolve(type);
  if (value.shape) value.source = ShapeSource::declared;
  return value.shape || value.is_sequence;
}

// True if the file declares every output that is still unknown.
bool Walk::fall_back_to_declared(NodeContext& context) {
  bool all = true;
  for (Value* value : context.outputs_)
    if (value != nullptr && !value->shape && !value->is_sequence)
      all = take_declared(*value) && all;
  return all;
}

// The outputs inherit the least certain shape source of the inputs, and whether they are constant.
void Walk::settle_outputs(NodeContext& context, bool is_folded) {
  ShapeSource source = ShapeSource::fixed;
  bool constant = true;
  for (const Value* value : context.inputs_) {
    if (value == nullptr) continue;
    constant = constant && value->constant;
    if (value->shape) source = std::max(source, value->source);
  }
  if (context.bound_) source = std::max(source, ShapeSource::bound);
  const Value* first = context.inputs_.empty() ? nullptr : context.inputs_.front();
  for (Value* value : context.outputs_) {
    if (value == nullptr) continue;
    if (!value->shape)
      value->source = ShapeSource::unknown;
    else if (value->source != ShapeSource::declared)
      value->source = source;
    value->constant = is_folded && constant;
    value->from_shapes = is_folded && !constant;
    if (value->constant && first != nullptr && first->shape && value->shape &&
        element_count(*first->shape) == element_count(*value->shape))
      value->root = first->root != nullptr ? first->root : first;
  }
}

void Walk::add_layer(NodeContext& context, bool is_folded) {
  Layer& layer = layers_.emplace_back();
  layer.name = layer_name(context.node_);
  layer.origin = qualified_name(context.node_);
  layer.repeats = repeats_;
  layer.nested = depth_ > 0;
  layer.standing = is_folded ? Standing::folded : Standing::counted;
  layer.inputs.reserve(context.inputs_.size());
  layer.outputs.reserve(context.outputs_.size());
  for (std::size_t i = 0; i < context.inputs_.size(); ++i) {
    const Value* value = context.inputs_[i];
    if (value == nullptr) continue;
    if (context.steers_[i]) {
      layer.steering.push_back(value->id);
      continue;
    }
    if (value->shape || !is_folded) layer.shapes = std::max(layer.shapes, value->source);
    if (std::find(layer.inputs.begin(), layer.inputs.end(), value->id) == layer.inputs.end())
      layer.inputs.push_back(value->id);
  }
  for (const Value* value : context.outputs_) {
    if (value == nullptr) continue;
    layer.shapes = std::max(layer.shapes, value->source);
    layer.outputs.push_back(value->id);
  }
  for (const auto& [value, elements] : context.partly_moved_)
    layer.partly_moved.emplace_back(value->id, elements);
  layer.parts = std::move(context.parts_);
  if (!is_folded) mark_parameters(context, layer);
}

// Weights that a counted layer reads as data are parameters, except what training does not change:
// indices, scalars, fill values of masks, running statistics, and the scales of integer arithmetic.
void Walk::mark_parameters(const NodeContext& context, const Layer& layer) {
  const bool integer_arithmetic = !layer.parts.empty() && is_integer(layer.parts.front().dtype);
  const bool fills = context.node().op_type == "Where";
  for (std::size_t i = 0; i < context.inputs_.size(); ++i) {
    const Value* value = context.inputs_[i];
    if (value == nullptr || !value->constant || context.steers_[i]) continue;
    const Value* root = value->root != nullptr ? value->root : value;
    if (!root->shape || root->shape->empty()) continue;
    if (fills && element_count(*root->shape) == 1) continue;
    if (root->type == ElementType::int64 || root->type == ElementType::boolean ||
        root->type == ElementType::string)
      continue;
    if (integer_arithmetic && is_floating(root->type)) continue;
    const auto* normalize =
        layer.parts.empty() ? nullptr : std::get_if<Normalize>(&layer.parts.front().op);
    if (normalize != nullptr && normalize->kind == Normalization::batch && i >= 3) continue;
    values_[root->id].is_parameter = true;
  }
}

// --- Graphs inside a graph: functions are inlined at the call, sub-graphs walked in place. The
// rules of control flow decide trips and branches.

const FunctionProto* Walk::function_of(const Node& node) const {
  const std::string_view domain = node.domain == "ai.onnx" ? std::string_view() : node.domain;
  const auto found = functions_.find({domain, node.op_type});
  if (found == functions_.end()) return nullptr;
  for (const FunctionProto* function : found->second)
    if (function->overload == node.overload) return function;
  return nullptr;
}

const Attribute* Walk::find_attribute(const Node& node, std::string_view name) const {
  const auto in = [](std::span<const Attribute> attributes, std::string_view wanted) {
    const auto found =
        std::find_if(attributes.begin(), attributes.end(),
                     [&](const Attribute& attribute) { return attribute.name == wanted; });
    return found == attributes.end() ? nullptr : &*found;
  };
  const Attribute* found = in(node.attributes, name);
  // A reference in a function's body resolves to the attribute of the call, or its default; the
  // call may itself be inside a function.
  for (const FunctionCall* call = call_; found != nullptr && !found->reference.empty();) {
    if (call == nullptr) return nullptr;
    const std::string_view wanted = found->reference;
    found = in(call->node->attributes, wanted);
    if (found == nullptr) return in(call->function->attribute_defaults, wanted);
    call = call->caller;
  }
  return found;
}

void Walk::call_function(const FunctionProto& function, const Node& node) {
  if (depth_ >= max_depth)
    throw Error(file_name(), describe(node) + ": functions and sub-graphs nest deeper than " +
                                 std::to_string(max_depth) + ", perhaps without end");
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size())
    throw Error(file_name(), describe(node) + ": more inputs or outputs than its function has");
  const FunctionCall call{&node, &function, call_};
  Scope inside(nullptr);
  // An omitted input is omitted for the nodes inside too.
  for (std::size_t i = 0; i < function.inputs.size(); ++i)
    inside.bind(function.inputs[i], i < node.inputs.size() ? find_value(node.inputs[i]) : nullptr);
  std::vector<Value*> outputs;
  {
    const Restore scope(scope_);
    const Restore caller(call_);
    const Restore opsets(function_opsets_);
    const Restore path(path_);
    const Restore deep(depth_);
    path_ = layer_name(node) + "/";
    scope_ = &inside;
    call_ = &call;
    function_opsets_ = function.opsets;
    ++depth_;
    const auto is_input = [&](std::string_view name) {
      return std::find(function.inputs.begin(), function.inputs.end(), name) !=
             function.inputs.end();
    };
    const NodeOrder order = order_nodes(function.nodes, is_input, is_input, file_name());
    for (const std::size_t index : order.nodes) walk_node(function.nodes[index]);
    for (const std::string_view name : function.outputs) {
      Value* value = inside.find(name);
      if (value == nullptr)
        throw Error(file_name(),
                    describe(node) + ": its function does not make its output " + quote(name));
      outputs.push_back(value);
    }
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty()) alias(node.outputs[i], outputs[i]);
}

std::vector<Value*> Walk::run_body(const GraphProto& body, const std::vector<Value*>& inputs,
                                   double repeats, const std::string& path) {
  if (depth_ >= max_depth)
    throw Error(file_name(), "sub-graph " + quote(body.name) + " nests deeper than " +
                                 std::to_string(max_depth));
  if (inputs.size() < body.inputs.size())
    throw Error(file_name(), fmt::format("sub-graph {} wants {} inputs, its node gives {}",
                                         quote(body.name), body.inputs.size(), inputs.size()));
  Scope inside(scope_);
  const Restore scope(scope_);
  const Restore trips(repeats_);
  const Restore prefix(path_);
  const Restore deep(depth_);
  scope_ = &inside;
  repeats_ *= repeats;
  path_ += path + "/";
  ++depth_;
  for (const ValueInfo& info : body.value_info) declared_.set(info.name, &info);
  for (const ValueInfo& info : body.outputs) declared_.set(info.name, &info);
  add_initializers(body);
  for (std::size_t i = 0; i < body.inputs.size(); ++i) inside.bind(body.inputs[i].name, inputs[i]);
  walk_nodes(body.nodes);
  std::vector<Value*> outputs;
  for (const ValueInfo& output : body.outputs) {
    Value* value = scope_->find(output.name);
    if (value == nullptr)
      throw Error(file_name(), fmt::format("sub-graph {}: nothing makes its output {}",
                                           quote(body.name), quote(output.name)));
    outputs.push_back(value);
  }
  return outputs;
}

void Walk::mark_alternative(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) layers_[i].standing = Standing::alternative;
}

void Walk::drop_layers(std::size_t first) {
  layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(first), layers_.end());
}

// Only arithmetic decides between branches, not bytes.
double Walk::flop_of_layers(std::size_t first, std::size_t last) const {
  double total = 0;
  for (std::size_t i = first; i < last; ++i)
    for (const Part& part : layers_[i].parts) {
      const Work work = count_part(part, default_weights());
      total += layers_[i].repeats * total_operations(work);
    }
  return total;
}

// --- Start and end of a walk: checks the model before the first node, builds the Graph after the
// last.

void Walk::check_model() {
  const Model& model = file_.model();
  if (model.graph.nodes.empty()) throw Error(file_name(), "the graph is empty: it has no nodes");
  for (const OpsetImport& import : model.opsets)
    if (import.domain.empty() && (import.version < 1 || import.version > newest_opset))
      throw Error(file_name(),
                  fmt::format("operator set {} of ai.onnx is unknown; 1 to {} are known",
                              import.version, newest_opset));
  NameMap<bool> names(model.graph.nodes.size());
  for (const Node& node : model.graph.nodes)
    if (!node.name.empty() && !names.insert(node.name, true).second)
      warn("two nodes have the name " + quote(node.name));
}

// Warns if inference contradicts a static shape that the file declares, unless the user changed the
// inputs.
void Walk::check_declared(const Value& value) {
  if (!options_.shapes.empty() || !options_.dims.empty() || options_.batch) return;
  const auto* found = declared_.find(value.name);
  if (found == nullptr || !value.shape || value.is_sequence || !(*found)->type.dims) return;
  const auto& dims = *(*found)->type.dims;
  bool differs = dims.size() != value.shape->size();
  for (std::size_t i = 0; !differs && i < dims.size(); ++i)
    differs = dims[i].value && *dims[i].value >= 0 && *dims[i].value != (*value.shape)[i];
  if (differs)
    warn(
        fmt::format("the file declares another shape for {} than the {} that follows from its "
                    "inputs",
                    quote(value.name), to_string(*value.shape)));
}

Import Walk::finish() {
  const Model& model = file_.model();
  Import result;
  result.graph.name = model.graph.name;
  result.graph.inputs = inputs_;
  std::unordered_set<TensorId> named;
  for (const ValueInfo& output : model.graph.outputs) {
    const Value* value = scope_->find(output.name);
    if (value == nullptr)
      throw Error(file_name(), "nothing makes the graph's output " + quote(output.name));
    check_declared(*value);
    result.graph.outputs.push_back(value->id);
    // Outside, a tensor made by a sub-graph or function goes by the output's name.
    if (value->name != output.name && value->id >= given_values_ && named.insert(value->id).second)
      values_[value->id].name = output.name;
  }
  result.graph.tensors.reserve(values_.size());
  for (Value& value : values_) {
    Tensor& tensor = result.graph.tensors.emplace_back();
    tensor.name = value.name;
    tensor.type = value.type;
    if (value.shape && !value.is_sequence) {
      tensor.shape = std::move(*value.shape);
      tensor.source = value.source;
    }
    tensor.role = value.constant ? Role::weight : Role::activation;
    tensor.stored = value.is_initializer;
    tensor.is_parameter = value.is_parameter;
    if (value.proto != nullptr) tensor.stored_bytes = value.proto->stored_bytes;
  }
  for (const TensorId id : inputs_) result.graph.tensors[id].role = Role::input;
  result.graph.layers = std::move(layers_);
  result.warnings = std::move(warnings_);
  result.ir_version = model.ir_version;
  result.producer = model.producer;
  for (const OpsetImport& import : model.opsets)
    result.opsets.emplace_back(import.domain.empty() ? "ai.onnx" : import.domain, import.version);
  result.batch = bindings_.batch;
  return result;
}

Import Walk::run() {
  const GraphProto& graph = file_.model().graph;
  Scope scope(nullptr);
  scope_ = &scope;
  check_model();
  bindings_ = bind_inputs(graph, options_, file_name());
  declared_.reserve(graph.value_info.size() + graph.outputs.size());
  for (const ValueInfo& info : graph.value_info) declared_.set(info.name, &info);
  for (const ValueInfo& info : graph.outputs) declared_.set(info.name, &info);
  scope.reserve(graph.initializers.size() + graph.inputs.size() + graph.nodes.size());
  add_initializers(graph);
  add_inputs();
  given_values_ = values_.size();
  layers_.reserve(graph.nodes.size());
  walk_nodes(graph.nodes);
  return finish();
}

}  // namespace ridgeline::onnx
