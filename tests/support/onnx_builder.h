// Builds ONNX files in code: one builder per message of onnx.proto, one member per field.
// For tests only; it does not validate, so it can also write invalid models.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/element_type.h"

namespace ridgeline::testing {

// A dimension of an input: a number, a symbol ("batch"), or neither.
struct Dim {
  Dim() = default;
  template <std::integral T>
  Dim(T number) : value(static_cast<std::int64_t>(number)) {}  // implicit: {1, "height", 3}
  Dim(const char* name) : symbol(name) {}
  Dim(const std::string& name) : symbol(name) {}

  std::optional<std::int64_t> value;
  std::string symbol;
};

// TensorProto.DataType; 0 for unknown.
int onnx_number(ElementType type);

// TypeProto, encoded.
class ValueType {
 public:
  static ValueType tensor(ElementType type, const std::vector<Dim>& dims);
  static ValueType tensor_of_any_rank(ElementType type);
  static ValueType sparse_tensor(ElementType type, const std::vector<Dim>& dims);
  static ValueType sequence(const ValueType& element);
  static ValueType optional(const ValueType& element);
  static ValueType map(ElementType key, const ValueType& value);
  static ValueType absent() { return {}; }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// TensorProto. Without data it has only a type and dimensions, as in files without weights.
class TensorBuilder {
 public:
  TensorBuilder(std::string_view name, ElementType type, const std::vector<std::int64_t>& dims);

  // raw_data: zeros for all dimensions, or elements of the tensor's type in order (two's
  // complement, rounded to float or double; other floating types by their bits in ints()).
  TensorBuilder& zeros();
  TensorBuilder& ints(const std::vector<std::int64_t>& values);
  TensorBuilder& floats(const std::vector<double>& values);
  TensorBuilder& raw_data(std::string_view bytes);

  TensorBuilder& int32_data(const std::vector<std::int32_t>& values);
  TensorBuilder& int64_data(const std::vector<std::int64_t>& values);
  TensorBuilder& uint64_data(const std::vector<std::uint64_t>& values);
  TensorBuilder& float_data(const std::vector<float>& values);
  TensorBuilder& double_data(const std::vector<double>& values);
  TensorBuilder& string_data(const std::vector<std::string>& values);
  TensorBuilder& data_type(int number);  // again: the last one counts

  TensorBuilder& external(std::string_view location, std::optional<std::uint64_t> offset = {},
                          std::optional<std::uint64_t> length = {});
  TensorBuilder& external_entry(std::string_view key, std::string_view value);

  bool has_raw_data() const { return has_raw_data_; }
  const std::string& bytes() const { return bytes_; }

 private:
  bool has_raw_data_ = false;
  ElementType type_;
  std::vector<std::int64_t> dims_;
  std::string bytes_;
};

// SparseTensorProto, encoded.
std::string sparse_tensor(const TensorBuilder& values, const TensorBuilder& indices,
                          const std::vector<std::int64_t>& dims);

class GraphBuilder;

// NodeProto.
class NodeBuilder {
 public:
  NodeBuilder(std::string_view op_type, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs);

  NodeBuilder& name(std::string_view text);
  NodeBuilder& domain(std::string_view text);
  NodeBuilder& overload(std::string_view text);
  NodeBuilder& metadata(std::string_view key, std::string_view value);

  template <std::integral T>
  NodeBuilder& attribute(std::string_view key, T value) {
    return integer(key, static_cast<std::int64_t>(value));
  }
  template <std::floating_point T>
  NodeBuilder& attribute(std::string_view key, T value) {
    return real(key, static_cast<float>(value));
  }
  NodeBuilder& attribute(std::string_view key, std::string_view value);
  NodeBuilder& attribute(std::string_view key, const char* value) {
    return attribute(key, std::string_view(value));
  }
  template <std::integral T>
  NodeBuilder& attribute(std::string_view key, std::initializer_list<T> values) {
    return attribute(key, std::vector<std::int64_t>(values.begin(), values.end()));
  }
  template <std::floating_point T>
  NodeBuilder& attribute(std::string_view key, std::initializer_list<T> values) {
    std::vector<float> floats;
    for (const T value : values) floats.push_back(static_cast<float>(value));
    return attribute(key, floats);
  }
  NodeBuilder& attribute(std::string_view key, std::initializer_list<const char*> values) {
    return attribute(key, std::vector<std::string>(values.begin(), values.end()));
  }
  NodeBuilder& attribute(std::string_view key, const std::vector<std::int64_t>& values);
  NodeBuilder& attribute(std::string_view key, const std::vector<float>& values);
  NodeBuilder& attribute(std::string_view key, const std::vector<std::string>& values);
  NodeBuilder& attribute(std::string_view key, const TensorBuilder& tensor);
  NodeBuilder& attribute(std::string_view key, const GraphBuilder& graph);
  NodeBuilder& attribute(std::string_view key, const std::vector<GraphBuilder>& graphs);
  NodeBuilder& attribute(std::string_view key, const ValueType& type);
  NodeBuilder& sparse_attribute(std::string_view key, const std::string& sparse);
  // In a function: the value that the caller passes as `reference`; `type` is an
  // AttributeProto.AttributeType (1 float, 2 int, 3 string, 6 floats, 7 ints …).
  NodeBuilder& attribute_reference(std::string_view key, std::string_view reference, int type);

  const std::string& bytes() const { return bytes_; }

 private:
  NodeBuilder& integer(std::string_view key, std::int64_t value);
  NodeBuilder& real(std::string_view key, float value);
  NodeBuilder& add(const std::string& attribute);

  std::string bytes_;
};

// GraphProto. References that node() and initializer() return stay valid.
class GraphBuilder {
 public:
  GraphBuilder& graph_name(std::string_view text);
  GraphBuilder& input(std::string_view name, ElementType type, const std::vector<Dim>& dims);
  GraphBuilder& input(std::string_view name, const ValueType& type);
  GraphBuilder& output(std::string_view name);  // without a type, which a checker would reject
  GraphBuilder& output(std::string_view name, ElementType type, const std::vector<Dim>& dims);
  GraphBuilder& output(std::string_view name, const ValueType& type);
  GraphBuilder& value_info(std::string_view name, ElementType type, const std::vector<Dim>& dims);
  GraphBuilder& value_info(std::string_view name, const ValueType& type);

  TensorBuilder& initializer(std::string_view name, ElementType type,
                             const std::vector<std::int64_t>& dims);
  // A list of int64, such as axes or a shape.
  TensorBuilder& integers(std::string_view name, const std::vector<std::int64_t>& values);
  GraphBuilder& sparse_initializer(const std::string& sparse);
  GraphBuilder& zero_weights();  // zeros for every initializer without raw data
  NodeBuilder& node(std::string_view op_type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs);

  std::string graph_bytes() const;

 private:
  GraphBuilder& value(int field, std::string_view name, const ValueType& type);

  std::string fields_;  // encoded so far
  std::deque<NodeBuilder> nodes_;
  std::deque<TensorBuilder> initializers_;
};

// FunctionProto.
class FunctionBuilder {
 public:
  FunctionBuilder(std::string_view domain, std::string_view name,
                  const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

  FunctionBuilder& overload(std::string_view text);
  FunctionBuilder& attribute(std::string_view name);  // required in a call
  FunctionBuilder& attribute_default(std::string_view name, std::int64_t value);
  FunctionBuilder& opset(std::int64_t version, std::string_view domain = "");
  NodeBuilder& node(std::string_view op_type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs);

  std::string bytes() const;

 private:
  std::string fields_;
  std::deque<NodeBuilder> nodes_;
};

// ModelProto, with its graph. By default IR version 8 and no opset.
class OnnxBuilder : public GraphBuilder {
 public:
  OnnxBuilder& ir_version(std::int64_t version);
  OnnxBuilder& opset(std::int64_t version, std::string_view domain = "");
  OnnxBuilder& producer(std::string_view name, std::string_view version = "");
  FunctionBuilder& function(std::string_view domain, std::string_view name,
                            const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs);

  std::string bytes() const;

 private:
  std::int64_t ir_version_ = 8;
  std::string model_fields_;
  std::deque<FunctionBuilder> functions_;
};

}  // namespace ridgeline::testing
