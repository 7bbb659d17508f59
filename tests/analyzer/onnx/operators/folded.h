// Elements of a node's output as folded by shape inference, made visible as a shape.
// Operands are constants; an unknown result leaves the shape unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {

struct Operand {
  ElementType type = ElementType::int64;
  std::vector<std::int64_t> dims;
  std::vector<double> values;
};

inline Operand whole(const std::vector<double>& values) {
  return {ElementType::int64, {static_cast<std::int64_t>(values.size())}, values};
}
inline Operand real(const std::vector<double>& values) {
  return {ElementType::fp32, {static_cast<std::int64_t>(values.size())}, values};
}
inline Operand truth(const std::vector<double>& values) {
  return {ElementType::boolean, {static_cast<std::int64_t>(values.size())}, values};
}

// A node whose output "result" is cast to integers, raised by 100 and used as a shape.
class Folded {
 public:
  Folded(std::string_view op, const std::vector<Operand>& operands, std::int64_t opset = 20) {
    model_.opset(opset);
    std::vector<std::string> names;
    for (const Operand& operand : operands) {
      names.push_back("operand" + std::to_string(names.size()));
      TensorBuilder& tensor = model_.initializer(names.back(), operand.type, operand.dims);
      if (operand.type == ElementType::fp32)
        tensor.floats(operand.values);
      else
        tensor.ints({operand.values.begin(), operand.values.end()});
    }
    node_ = &model_.node(op, names, {"result"});
  }

  template <typename T>
  Folded& with(std::string_view key, const T& value) {
    node_->attribute(key, value);
    return *this;
  }

  // The elements plus 100 each: "107x93".
  std::string text() {
    model_.integers("hundred", {100});
    model_.integers("row", {-1});
    model_.node("Reshape", {"result", "row"}, {"flat"});
    model_.node("Cast", {"flat"}, {"whole"}).attribute("to", 7);
    model_.node("Add", {"whole", "hundred"}, {"shape"});
    model_.node("Expand", {"x", "shape"}, {"y"});
    model_.input("x", ElementType::fp32, {1}).output("y", ValueType::absent());
    return shape_text(imported(model_).graph, "y");
  }

 private:
  OnnxBuilder model_;
  NodeBuilder* node_ = nullptr;
};

}  // namespace ridgeline::testing
