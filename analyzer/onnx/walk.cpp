// The walk over nodes: values in and out, functions inlined, constants recognised, layers
// collected. Shapes of operators are in operators/, control flow in control_flow.cpp.
#include "analyzer/onnx/walk.h"

#include <fmt/format.h>

#include <algorithm>

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
  // A loop body would say the same again on every trip.
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

// What the file says of a tensor that no rule could find out.
bool Walk::take_declared(Value& value) {
  if (call_ != nullptr) return false;  // names inside a function are not those of the graph
  const auto* found = declared_.find(value.name);
  if (found == nullptr) return false;
  const TypeProto& type = (*found)->type;
  value.type = type.element;
  value.is_sequence = type.kind == TypeKind::sequence;
  value.shape = bindings_.resolve(type);
  if (value.shape) value.source = ShapeSource::declared;
  return value.shape || value.is_sequence;
}

// True where the file says it of every output that is still unknown.
bool Walk::fall_back_to_declared(NodeContext& context) {
  bool all = true;
  for (Value* value : context.outputs_)
    if (value != nullptr && !value->shape && !value->is_sequence)
      all = take_declared(*value) && all;
  return all;
}

// Where the outputs' knowledge comes from follows from the inputs'.
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
