// One operator alone in a model: inputs and attributes in, shapes, Ops and errors out.
// For tests of operator rules; OnnxBuilder builds graphs of several nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/graph.h"
#include "analyzer/onnx/import.h"
#include "base/work.h"
#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {

class OneNode {
 public:
  explicit OneNode(std::string_view op, std::int64_t opset = 22);
  // An operator of the domain com.microsoft.
  static OneNode contrib(std::string_view op);
  OneNode& domain(std::string_view name);

  // Inputs in order: graph inputs, weights, small constants, an omitted one.
  OneNode& input(const std::vector<std::int64_t>& dims, ElementType type = ElementType::fp32);
  OneNode& weight(const std::vector<std::int64_t>& dims, ElementType type = ElementType::fp32);
  OneNode& integers(const std::vector<std::int64_t>& values);
  OneNode& integer(std::int64_t value);
  OneNode& floats(const std::vector<double>& values);
  OneNode& scale();                                            // a floating-point scalar
  OneNode& zero_point(ElementType type = ElementType::uint8);  // a scalar
  OneNode& left_out();

  template <typename T>
  OneNode& with(std::string_view key, T value) {
    attributes_.push_back([key, value](NodeBuilder& node) { node.attribute(key, value); });
    return *this;
  }
  template <typename T>
  OneNode& with(std::string_view key, std::initializer_list<T> values) {
    return with(key, lists(std::vector<T>(values)));
  }
  OneNode& outputs(int count);

  Graph graph() const;
  // "1x2x3", "4x5 int64": one per output, with its type unless that is fp32.
  std::string shapes() const;
  Work work() const;
  double macs() const { return work().macs; }
  // The error that refuses the model, or "no error".
  std::string error() const;

  // The part at `index` as this kind of Op.
  template <typename Kind>
  Kind op(std::size_t index = 0) const {
    return std::get<Kind>(layer().parts.at(index).op);
  }
  Layer layer() const;

 private:
  static std::vector<std::int64_t> lists(const std::vector<int>& values) {
    return {values.begin(), values.end()};
  }
  static std::vector<float> lists(const std::vector<double>& values) {
    return {values.begin(), values.end()};
  }
  OnnxBuilder built() const;
  std::string next_name();

  std::string op_, domain_;
  std::int64_t opset_;
  int outputs_ = 1;
  std::vector<std::string> inputs_;
  std::vector<std::function<void(OnnxBuilder&)>> values_;
  std::vector<std::function<void(NodeBuilder&)>> attributes_;
};

}  // namespace ridgeline::testing
