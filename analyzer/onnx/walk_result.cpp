// The ends of a walk: a model is checked before the first node, and becomes a Graph after the last.
// What happens in between is in walk.cpp.
#include <fmt/format.h>

#include <unordered_set>

#include "analyzer/onnx/walk.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

constexpr std::int64_t newest_opset = 28;  // of onnx 1.23

}  // namespace

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

// A static shape that the file declares and inference contradicts is worth a word, unless the user
// changed the inputs.
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
    // A tensor that a sub-graph or function made is known outside by the output's name.
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

}  // namespace ridgeline::onnx
