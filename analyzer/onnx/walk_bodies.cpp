// Graphs inside a graph: functions are inlined where they are called, sub-graphs walked in place.
// Trips and branches are decided by the rules of control flow; here is only how to go in and out.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/count/count.h"
#include "analyzer/onnx/order.h"
#include "analyzer/onnx/walk.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

constexpr int max_depth = 100;

// Puts a value back when a sub-graph is done, also on the way of an exception.
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

}  // namespace

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
  // A reference in a function's body means the attribute of the call, or its default; the call may
  // itself stand in a function.
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
  // An input that is left out is so for the nodes inside too.
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

// Bytes do not matter for the choice between branches; arithmetic decides.
double Walk::flop_of_layers(std::size_t first, std::size_t last) const {
  double total = 0;
  for (std::size_t i = first; i < last; ++i)
    for (const Part& part : layers_[i].parts) {
      const Work work = count_part(part, default_weights());
      total += layers_[i].repeats * total_operations(work);
    }
  return total;
}

}  // namespace ridgeline::onnx
