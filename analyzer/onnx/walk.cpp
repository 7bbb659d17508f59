// The walk over nodes: resolves values, walks functions and sub-graphs in place, recognises
// constants, collects layers. Shapes of operators are inferred in operators/, trips and branches in
// operators/control_flow.cpp.
#include "analyzer/onnx/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "analyzer/count/count.h"
#include "analyzer/onnx/operators/families.h"
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

Walk::Walk(const ModelFile& file, const ImportOptions& options, ReshapeReading reading)
    : file_(file), options_(options), reading_(reading) {
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

std::string Walk::chosen_sizes() const {
  std::vector<std::string> sizes;
  for (const BoundInput& input : bindings_.inputs) {
    if (!input.shape || !input.info->type.dims || input.source == ShapeSource::fixed) continue;
    const auto& dims = *input.info->type.dims;
    for (std::size_t axis = 0; axis < std::min(dims.size(), input.shape->size()); ++axis) {
      const std::int64_t size = (*input.shape)[axis];
      if (dims[axis].value == size || axis == input.batch_axis) continue;
      const std::string name =
          dims[axis].symbol.empty() ? "a size" : std::string(dims[axis].symbol);
      sizes.push_back(
          fmt::format("{} = {} (axis {} of {})", name, size, axis, quote(input.info->name)));
    }
  }
  constexpr std::size_t most = 6;
  if (sizes.size() > most) sizes.resize(most);
  return sizes.empty() ? "" : fmt::format("give larger sizes than {}", fmt::join(sizes, ", "));
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
    value->from_batch = input.batch_axis.has_value();
    if (input.values) value->contents = Contents(input.values->begin(), input.values->end());
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
  const FunctionProto* function = description_of(node) == nullptr ? function_of(node) : nullptr;
  if (function != nullptr)
    call_function(*function, node);
  else
    apply_rule(node);
}

// What the user says about an operator holds before any rule or function.
const OperatorDescription* Walk::description_of(const Node& node) const {
  if (options_.operators.empty()) return nullptr;
  const auto found = std::find_if(
      options_.operators.begin(), options_.operators.end(),
      [name = qualified_name(node)](const OperatorDescription& one) { return one.name == name; });
  return found == options_.operators.end() ? nullptr : &*found;
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
  const OperatorDescription* description = description_of(node);
  const Operator* row = description == nullptr ? operator_of(node, domain) : nullptr;
  std::vector<Value> copies;  // constants repeated for the batch
  std::string unknown_because;
  try {
    unknown_because = run_rule(context, row, description);
  } catch (const Error& error) {
    // Refused inside of this node already, or nothing to do with the batch.
    if (!file_shapes_ || error.code() == ExitCode::incomplete) throw;
    const auto fault = error.cause();
    if (!repeat_constants(context, copies)) refuse_batch(fault);
    try {
      unknown_because = run_rule(context, row, description);
    } catch (const Error&) {
      refuse_batch(fault);
    }
    if (!unknown_because.empty()) refuse_batch(fault);
    context.replaced_batch();
  }
  if (!unknown_because.empty()) {
    fall_back_to_declared(context);
    context.parts_.clear();
    context.emit(Unknown{unknown_because, row != nullptr || description != nullptr});
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
  if (file_shapes_) note_batch(context);
  add_layer(context, is_folded);
}

// Returns why the operator is unknown; empty if it is known.
std::string Walk::run_rule(NodeContext& context, const Operator* row,
                           const OperatorDescription* description) {
  if (row == nullptr && description == nullptr) return "no rule for this operator";
  try {
    if (description != nullptr)
      apply_description(context, *description);
    else
      row->rule(context);
  } catch (const CannotInfer& cause) {
    if (!fall_back_to_declared(context) || context.parts_.empty()) return cause.reason;
  }
  return "";
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

// Parts of one table of positions: that of the class token, and the others at another resolution.
bool joins_one_weight(const NodeContext& context) {
  const auto root = [&](std::size_t i) {
    const Value& part = context.input(i);
    return part.root != nullptr ? part.root : &part;
  };
  for (std::size_t i = 1; i < context.input_count(); ++i)
    if (!context.has(i) || root(i) != root(0)) return false;
  return true;
}

// A class token repeated for the batch, rows of a table of positions, a table plus a mask: the
// weight that is stored is the parameter, however much of it or however often it is read.
bool is_copied_weight(const NodeContext& context, const Value& weight) {
  const std::string_view op = context.node().op_type;
  const Value& stored = weight.root != nullptr ? *weight.root : weight;
  return stored.is_initializer && is_floating(weight.type) && stored.shape &&
         element_count(*stored.shape) > 1 &&
         (op == "Expand" || op == "Tile" || op == "Gather" || op == "Slice" || op == "Reshape" ||
          op == "Transpose" || op == "Unsqueeze" || op == "Squeeze" || op == "Cast" ||
          op == "Resize" || op == "Add" || (op == "Concat" && joins_one_weight(context)));
}

// The outputs inherit the least certain shape source of the inputs, and whether they are constant.
void Walk::settle_outputs(NodeContext& context, bool is_folded) {
  ShapeSource source = ShapeSource::fixed;
  bool constant = true;
  bool from_batch = false;
  for (const Value* value : context.inputs_) {
    if (value == nullptr) continue;
    constant = constant && value->constant;
    from_batch = from_batch || value->from_batch;
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
    value->is_literal = context.node().op_type == "Constant";
    value->from_shapes = is_folded && !constant;
    value->from_batch = from_batch && !is_folded;
    if (is_folded && first != nullptr && (first->constant || first->root != nullptr) &&
        first->shape && value->shape &&
        ((value->constant && element_count(*first->shape) == element_count(*value->shape)) ||
         is_copied_weight(context, *first)))
      value->root = first->root != nullptr ? first->root : first;
  }
}

void Walk::add_layer(NodeContext& context, bool is_folded) {
  Layer& layer = layers_.emplace_back();
  layer.name = layer_name(context.node_);
  layer.origin = qualified_name(context.node_);
  layer.repeats = repeats_;
  layer.nested = depth_ > 0;
  layer.scope = module_of(context.node_);
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

// The innermost module around a node: the second last of "['', 'layer1', 'layer1.0', 'conv2d']",
// whose last is the call itself. Nothing outside of all modules.
std::size_t Walk::module_of(const Node& node) {
  if (node.scopes.empty()) return no_index;
  if (node.scopes == scopes_) return module_;
  scopes_ = node.scopes;
  module_ = no_index;
  constexpr std::string_view between = "', '";
  const std::size_t end = scopes_.rfind(between);
  if (end == std::string_view::npos || end == 0) return module_;
  const std::size_t before = scopes_.rfind(between, end - 1);
  const std::size_t begin = before == std::string_view::npos ? 2 : before + between.size();
  if (begin >= end) return module_;
  const std::string_view path = scopes_.substr(begin, end - begin);
  if (path.starts_with("_empty_nn_module_stack")) return module_;
  const auto [place, is_new] = module_indices_.insert(path, modules_.size());
  if (is_new) modules_.emplace_back(path);
  return module_ = *place;
}

// Constants that no training changes although they are floating: angles of rotary embeddings,
// anchors and masks, which exporters compute beforehand. A mask is the same for all heads that it
// is added to. Nothing learned is subtracted, and none of torch's parameters is a Constant node.
bool is_table(const NodeContext& context, const Value& value) {
  const std::string_view op = context.node().op_type;
  const Shape& shape = *value.shape;
  const auto wide = std::count_if(shape.begin(), shape.end(), [](auto size) { return size > 1; });
  if (op == "Sub" || (value.is_literal && wide > 1)) return true;
  if (op == "Mul" || op == "Div" || op == "QLinearMul") return wide > 1;
  if (op != "Add" || shape.size() != 4 || shape[1] != 1 || shape[2] <= 1 || shape[3] <= 1)
    return false;
  for (std::size_t i = 0; i < 2; ++i)
    if (context.has(i) && context.input(i).shape && context.input(i).shape->size() == 4 &&
        (*context.input(i).shape)[1] > 1)
      return true;
  return false;
}

// Weights that a counted layer reads as data are parameters, except what training does not change:
// indices, single numbers, fill values of masks, running statistics, the scales of integer
// arithmetic, and tables, which are added up apart.
void Walk::mark_parameters(const NodeContext& context, const Layer& layer) {
  const bool integer_arithmetic = !layer.parts.empty() && is_integer(layer.parts.front().dtype);
  const bool is_pointwise = layer.parts.size() == 1 &&
                            std::holds_alternative<Elementwise>(layer.parts.front().op) &&
                            context.node().op_type != "PRelu";
  for (std::size_t i = 0; i < context.inputs_.size(); ++i) {
    const Value* value = context.inputs_[i];
    if (value == nullptr || context.steers_[i] || !(value->constant || value->root != nullptr))
      continue;
    const Value* root = value->root != nullptr ? value->root : value;
    if (!root->shape || root->shape->empty()) continue;
    if (is_pointwise && element_count(*root->shape) == 1) continue;
    if (root->type == ElementType::int64 || root->type == ElementType::boolean ||
        root->type == ElementType::string)
      continue;
    if (integer_arithmetic && is_floating(root->type)) continue;
    const auto* normalize =
        layer.parts.empty() ? nullptr : std::get_if<Normalize>(&layer.parts.front().op);
    if (normalize != nullptr && normalize->kind == Normalization::batch && i >= 3) continue;
    const bool is_fixed = (i < 32 && (context.not_trained_ >> i & 1U) != 0) ||
                          (is_pointwise && is_table(context, *root));
    Value& stored = values_[root->id];
    (is_fixed ? stored.is_table : is_pointwise ? stored.is_operand : stored.is_parameter) = true;
  }
}

// --- A batch other than the file's: shapes are compared with those at the file's batch, constants
// that hold it are replaced, and a batch that gets lost on the way is an Error.

FileShapes Walk::shapes_in_file() {
  Scope scope(nullptr);
  scope_ = &scope;
  start();
  FileShapes shapes;
  shapes.values.reserve(values_.size());
  for (Value& value : values_)
    shapes.values.push_back(
        {value.name, value.is_sequence ? std::nullopt : std::move(value.shape)});
  return shapes;
}

void Walk::find_file_shapes() {
  const auto& change = bindings_.batch_change;
  if (!change || change->in_file == change->now) return;
  ImportOptions as_in_file = options_;
  as_in_file.batch = change->was_free ? std::optional(change->in_file) : std::nullopt;
  try {
    file_shapes_ = Walk(file_, as_in_file).shapes_in_file();
  } catch (const Error&) {
    // The walk itself will find the fault, or there is none at this batch.
  }
}

bool Walk::carries_batch(const Value& value) const {
  const Shape* in_file = file_shape(value);
  return in_file != nullptr && value.shape && *in_file != *value.shape;
}

// Replaces inputs that the exporter made for the file's batch by copies of the shape that they
// would have at this one. False if there are none.
bool Walk::repeat_constants(NodeContext& context, std::vector<Value>& copies) {
  const auto carrier =
      std::find_if(context.inputs_.begin(), context.inputs_.end(),
                   [&](const Value* value) { return value != nullptr && carries_batch(*value); });
  if (carrier == context.inputs_.end()) return false;
  const Shape in_file = *file_shape(**carrier), now = *(*carrier)->shape;
  copies.reserve(context.inputs_.size());  // which the context points to
  for (std::size_t i = 0; i < context.inputs_.size(); ++i) {
    Value*& value = context.inputs_[i];
    if (value == nullptr || context.steers_[i] || !value->shape || value->is_sequence ||
        carries_batch(*value))
      continue;
    auto repeated = repeated_shape(*value->shape, in_file, now);
    if (!repeated) continue;
    Value& copy = copies.emplace_back(*value);
    copy.shape = std::move(repeated);
    copy.contents.reset();
    copy.proto = nullptr;
    if (copy.root == nullptr && value->constant) copy.root = value;
    value = &copy;
  }
  context.parts_.clear();
  context.partly_moved_.clear();
  for (Value* value : context.outputs_)
    if (value != nullptr) value->shape.reset();
  return !copies.empty();
}

void Walk::note_batch(const NodeContext& context) {
  if (context.replaced_batch_) ++replaced_batches_[context.node_.op_type];
  const auto carries = [&](const Value* value) {
    return value != nullptr && carries_batch(*value);
  };
  const auto depends = [](const Value* value) { return value != nullptr && value->from_batch; };
  const auto& inputs = context.inputs_;
  const auto& outputs = context.outputs_;
  const bool is_product = std::any_of(context.parts_.begin(), context.parts_.end(), is_matrix_work);
  constant_products_ += is_product && std::none_of(inputs.begin(), inputs.end(), carries) &&
                        std::none_of(inputs.begin(), inputs.end(), depends);
  if (!std::any_of(outputs.begin(), outputs.end(), depends) ||
      std::any_of(outputs.begin(), outputs.end(), carries))
    return;
  if (batch_lost_at_.empty()) batch_lost_at_ = describe(context.node_);
  // Products of data that had lost the batch before; one that sums over it has it among its inputs.
  loses_work_ = loses_work_ || (is_product && std::none_of(inputs.begin(), inputs.end(), carries));
}

void Walk::refuse_batch(const std::string& what) const {
  const BatchChange& change = *bindings_.batch_change;
  std::string input = "x", shape;
  std::size_t axis = 0;
  for (const BoundInput& one : bindings_.inputs)
    if (one.batch_axis && one.shape) {
      input = one.info->name;
      shape = to_string(*one.shape);
      axis = *one.batch_axis;
      break;
    }
  throw BatchLost(
      file_name(),
      fmt::format("--batch {} does not fit: {}; the file holds its batch of {} there", change.now,
                  what, change.in_file),
      fmt::format("export it with a dynamic batch, dynamic_shapes={{\"{}\": {{{}: \"batch\"}}}} in "
                  "torch.onnx.export, or count it as it is with --shape {}={}",
                  input, axis, input, shape),
      ExitCode::incomplete);
}

// Every output must have followed the batch, unless it is one number for all (a loss) or its size
// depends on data.
void Walk::check_batch() const {
  if (!file_shapes_) return;
  const BatchChange& change = *bindings_.batch_change;
  if (change.in_file == 0) return;  // every size in the file is 0: nothing to compare with
  for (const ValueInfo& output : file_.model().graph.outputs) {
    const Value* value = scope_->find(output.name);
    const Shape* in_file = value == nullptr ? nullptr : file_shape(*value);
    if (in_file == nullptr || !value->shape || !value->from_batch || in_file->empty() ||
        value->source == ShapeSource::bound)
      continue;
    const double ratio = static_cast<double>(change.now) / static_cast<double>(change.in_file);
    const auto before = static_cast<double>(element_count(*in_file));
    if (static_cast<double>(element_count(*value->shape)) == before * ratio) continue;
    refuse_batch(fmt::format("output {} is {}, and {} in the file; the batch gets lost at {}",
                             quote(output.name), to_string(*value->shape), to_string(*in_file),
                             batch_lost_at_.empty() ? "an unknown node" : batch_lost_at_));
  }
  if (loses_work_) refuse_batch("the batch gets lost at " + batch_lost_at_);
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

bool Walk::same_work(std::size_t first, std::size_t second, std::size_t layers) const {
  const auto shape_of = [this](TensorId id) -> const std::optional<Shape>& {
    return values_[id].shape;
  };
  for (std::size_t i = 0; i < layers; ++i) {
    const Layer &a = layers_[first + i], &b = layers_[second + i];
    if (a.origin != b.origin || a.standing != b.standing || a.outputs.size() != b.outputs.size() ||
        a.partly_moved.size() != b.partly_moved.size())
      return false;
    for (std::size_t j = 0; j < a.outputs.size(); ++j)
      if (!values_[a.outputs[j]].is_sequence && shape_of(a.outputs[j]) != shape_of(b.outputs[j]))
        return false;
    for (std::size_t j = 0; j < a.partly_moved.size(); ++j)
      if (a.partly_moved[j].second != b.partly_moved[j].second) return false;
  }
  return flop_of_layers(first, first + layers) == flop_of_layers(second, second + layers);
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
  check_batch();
  if (!replaced_batches_.empty()) {
    std::vector<std::string> places;
    for (const auto& [op, nodes] : replaced_batches_)
      places.push_back(fmt::format("{} {}", nodes, op));
    warn(fmt::format("the file holds its batch of {} in constants of {}; taken as {}",
                     bindings_.batch_change->in_file, fmt::join(places, ", "),
                     bindings_.batch_change->now));
  }
  if (constant_products_ > 0)
    warn(fmt::format("{} no input and count once, whatever the batch",
                     constant_products_ == 1
                         ? "1 product depends on"
                         : fmt::format("{} products depend on", constant_products_)));
  Import result;
  result.graph.name = model.graph.name;
  result.graph.modules = std::move(modules_);
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
    tensor.is_parameter = value.is_parameter || (value.is_operand && !value.is_table);
    tensor.is_table = value.is_table && !tensor.is_parameter;
    tensor.packed = value.packed;
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

// Binds inputs and walks all nodes of the graph.
void Walk::start() {
  const GraphProto& graph = file_.model().graph;
  declared_.reserve(graph.value_info.size() + graph.outputs.size());
  for (const ValueInfo& info : graph.value_info) declared_.set(info.name, &info);
  for (const ValueInfo& info : graph.outputs) declared_.set(info.name, &info);
  bindings_ = bind_inputs(graph, options_, file_name());
  find_file_shapes();
  scope_->reserve(graph.initializers.size() + graph.inputs.size() + graph.nodes.size());
  add_initializers(graph);
  add_inputs();
  given_values_ = values_.size();
  layers_.reserve(graph.nodes.size());
  walk_nodes(graph.nodes);
}

Import Walk::run() {
  Scope scope(nullptr);
  scope_ = &scope;
  check_model();
  start();
  return finish();
}

}  // namespace ridgeline::onnx
