// Builds, imports and counts models of one node.
// Every output of the node is an output of the model.
#include "tests/analyzer/onnx/operators/one_node.h"

#include "analyzer/count/count.h"
#include "tests/base/error_line.h"

namespace ridgeline::testing {

OneNode::OneNode(std::string_view op, std::int64_t opset) : op_(op), opset_(opset) {}

OneNode OneNode::contrib(std::string_view op) { return OneNode(op).domain("com.microsoft"); }

OneNode& OneNode::domain(std::string_view name) {
  domain_ = name;
  return *this;
}

std::string OneNode::next_name() {
  inputs_.push_back("input" + std::to_string(inputs_.size()));
  return inputs_.back();
}

OneNode& OneNode::input(const std::vector<std::int64_t>& dims, ElementType type) {
  values_.push_back([name = next_name(), dims, type](OnnxBuilder& model) {
    model.input(name, type, std::vector<Dim>(dims.begin(), dims.end()));
  });
  return *this;
}

OneNode& OneNode::weight(const std::vector<std::int64_t>& dims, ElementType type) {
  values_.push_back([name = next_name(), dims, type](OnnxBuilder& model) {
    model.initializer(name, type, dims);
  });
  return *this;
}

OneNode& OneNode::integers(const std::vector<std::int64_t>& values) {
  values_.push_back(
      [name = next_name(), values](OnnxBuilder& model) { model.integers(name, values); });
  return *this;
}

OneNode& OneNode::integer(std::int64_t value) {
  values_.push_back([name = next_name(), value](OnnxBuilder& model) {
    model.initializer(name, ElementType::int64, {}).ints({value});
  });
  return *this;
}

OneNode& OneNode::floats(const std::vector<double>& values) {
  values_.push_back([name = next_name(), values](OnnxBuilder& model) {
    model.initializer(name, ElementType::fp32, {static_cast<std::int64_t>(values.size())})
        .floats(values);
  });
  return *this;
}

OneNode& OneNode::scale() { return weight({}); }
OneNode& OneNode::zero_point(ElementType type) { return weight({}, type); }

OneNode& OneNode::left_out() {
  inputs_.emplace_back();
  return *this;
}

OneNode& OneNode::outputs(int count) {
  outputs_ = count;
  return *this;
}

OnnxBuilder OneNode::built() const {
  OnnxBuilder model;
  model.opset(opset_);
  if (!domain_.empty()) model.opset(1, domain_);
  for (const auto& value : values_) value(model);
  std::vector<std::string> names;
  for (int i = 0; i < outputs_; ++i) {
    names.push_back("output" + std::to_string(i));
    model.output(names.back());
  }
  NodeBuilder& node = model.node(op_, inputs_, names).name("node").domain(domain_);
  for (const auto& attribute : attributes_) attribute(node);
  return model;
}

Graph OneNode::graph() const {
  return onnx::import_graph(onnx::ModelFile(built().bytes(), "model.onnx"), {}).graph;
}

std::string OneNode::shapes() const {
  const Graph imported = graph();
  std::string text;
  for (const TensorId id : imported.outputs) {
    const Tensor& tensor = imported.tensors.at(id);
    if (!text.empty()) text += ", ";
    text += tensor.source == ShapeSource::unknown ? "unknown" : to_string(tensor.shape);
    if (tensor.type != ElementType::fp32) text += " " + std::string(to_string(tensor.type));
  }
  return text;
}

Layer OneNode::layer() const { return graph().layers.at(0); }

Work OneNode::work() const {
  const Graph imported = graph();
  return count_layer(imported, imported.layers.at(0), default_weights());
}

std::string OneNode::error() const {
  return error_line([&] { graph(); });
}

}  // namespace ridgeline::testing
