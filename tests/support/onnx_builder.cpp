// Encodes the messages with protozero's writer.
// Field numbers are those of onnx/onnx.proto in github.com/onnx/onnx.
#include "tests/support/onnx_builder.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <protozero/pbf_writer.hpp>

#include "analyzer/graph/shape.h"

namespace ridgeline::testing {
namespace {

using protozero::pbf_writer;

void add_string(std::string& message, std::uint32_t field, std::string_view text) {
  pbf_writer(message).add_bytes(field, text.data(), text.size());
}

void add_strings(std::string& message, std::uint32_t field, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) add_string(message, field, text);
}

void add_int(std::string& message, std::uint32_t field, std::int64_t value) {
  pbf_writer(message).add_int64(field, value);
}

std::string entry(std::string_view key, std::string_view value) {
  std::string message;
  add_string(message, 1, key);
  add_string(message, 2, value);
  return message;
}

std::string opset_id(std::int64_t version, std::string_view domain) {
  std::string message;
  add_string(message, 1, domain);
  add_int(message, 2, version);
  return message;
}

std::string attribute_head(std::string_view key, int type) {
  std::string message;
  add_string(message, 1, key);
  add_int(message, 20, type);
  return message;
}

// TypeProto.Tensor and TypeProto.SparseTensor.
std::string tensor_type(ElementType type, const std::vector<Dim>& dims) {
  std::string shape;
  for (const Dim& dim : dims) {
    std::string dimension;
    if (dim.value) add_int(dimension, 1, *dim.value);
    if (!dim.symbol.empty()) add_string(dimension, 2, dim.symbol);
    add_string(shape, 1, dimension);
  }
  std::string message;
  add_int(message, 1, onnx_number(type));
  add_string(message, 2, shape);
  return message;
}

// The low `width` bits of each element, little endian; narrow ones fill bytes from the low bits up.
std::string packed(const std::vector<std::uint64_t>& values, int width) {
  std::string bytes((values.size() * static_cast<std::size_t>(width) + 7) / 8, '\0');
  std::size_t bit = 0;
  for (const std::uint64_t value : values)
    for (int i = 0; i < width; ++i, ++bit)
      if ((value >> i) & 1U)
        bytes[bit / 8] =
            static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) | (1U << (bit % 8)));
  return bytes;
}

}  // namespace

int onnx_number(ElementType type) {
  static constexpr ElementType by_number[] = {
      ElementType::unknown,      ElementType::fp32,     ElementType::uint8,
      ElementType::int8,         ElementType::uint16,   ElementType::int16,
      ElementType::int32,        ElementType::int64,    ElementType::string,
      ElementType::boolean,      ElementType::fp16,     ElementType::fp64,
      ElementType::uint32,       ElementType::uint64,   ElementType::complex64,
      ElementType::complex128,   ElementType::bf16,     ElementType::fp8_e4m3fn,
      ElementType::fp8_e4m3fnuz, ElementType::fp8_e5m2, ElementType::fp8_e5m2fnuz,
      ElementType::uint4,        ElementType::int4,     ElementType::fp4_e2m1,
      ElementType::fp8_e8m0,     ElementType::uint2,    ElementType::int2};
  return static_cast<int>(std::find(std::begin(by_number), std::end(by_number), type) -
                          std::begin(by_number));
}

ValueType ValueType::tensor(ElementType type, const std::vector<Dim>& dims) {
  ValueType value;
  add_string(value.bytes_, 1, tensor_type(type, dims));
  return value;
}

ValueType ValueType::tensor_of_any_rank(ElementType type) {
  ValueType value;
  std::string message;
  add_int(message, 1, onnx_number(type));
  add_string(value.bytes_, 1, message);
  return value;
}

ValueType ValueType::sparse_tensor(ElementType type, const std::vector<Dim>& dims) {
  ValueType value;
  add_string(value.bytes_, 8, tensor_type(type, dims));
  return value;
}

ValueType ValueType::sequence(const ValueType& element) {
  ValueType value;
  std::string message;
  add_string(message, 1, element.bytes());
  add_string(value.bytes_, 4, message);
  return value;
}

ValueType ValueType::optional(const ValueType& element) {
  ValueType value;
  std::string message;
  add_string(message, 1, element.bytes());
  add_string(value.bytes_, 9, message);
  return value;
}

ValueType ValueType::map(ElementType key, const ValueType& value) {
  ValueType type;
  std::string message;
  add_int(message, 1, onnx_number(key));
  add_string(message, 2, value.bytes());
  add_string(type.bytes_, 5, message);
  return type;
}

TensorBuilder::TensorBuilder(std::string_view name, ElementType type,
                             const std::vector<std::int64_t>& dims)
    : type_(type), dims_(dims) {
  for (const std::int64_t dim : dims) add_int(bytes_, 1, dim);
  add_int(bytes_, 2, onnx_number(type));
  add_string(bytes_, 8, name);
}

TensorBuilder& TensorBuilder::zeros() {
  return raw_data(std::string(
      static_cast<std::size_t>(storage_bytes(type_, element_count(dims_)).value()), '\0'));
}

TensorBuilder& TensorBuilder::ints(const std::vector<std::int64_t>& values) {
  std::vector<std::uint64_t> elements(values.begin(), values.end());
  return raw_data(packed(elements, bits(type_)));
}

TensorBuilder& TensorBuilder::floats(const std::vector<double>& values) {
  std::vector<std::uint64_t> elements;
  for (const double value : values)
    elements.push_back(type_ == ElementType::fp64
                           ? std::bit_cast<std::uint64_t>(value)
                           : std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  return raw_data(packed(elements, bits(type_)));
}

TensorBuilder& TensorBuilder::raw_data(std::string_view bytes) {
  add_string(bytes_, 9, bytes);
  has_raw_data_ = true;
  return *this;
}

TensorBuilder& TensorBuilder::int32_data(const std::vector<std::int32_t>& values) {
  pbf_writer(bytes_).add_packed_int32(5, values.begin(), values.end());
  return *this;
}

TensorBuilder& TensorBuilder::int64_data(const std::vector<std::int64_t>& values) {
  pbf_writer(bytes_).add_packed_int64(7, values.begin(), values.end());
  return *this;
}

TensorBuilder& TensorBuilder::uint64_data(const std::vector<std::uint64_t>& values) {
  pbf_writer(bytes_).add_packed_uint64(11, values.begin(), values.end());
  return *this;
}

TensorBuilder& TensorBuilder::float_data(const std::vector<float>& values) {
  pbf_writer(bytes_).add_packed_float(4, values.begin(), values.end());
  return *this;
}

TensorBuilder& TensorBuilder::double_data(const std::vector<double>& values) {
  pbf_writer(bytes_).add_packed_double(10, values.begin(), values.end());
  return *this;
}

TensorBuilder& TensorBuilder::string_data(const std::vector<std::string>& values) {
  add_strings(bytes_, 6, values);
  return *this;
}

TensorBuilder& TensorBuilder::data_type(int number) {
  add_int(bytes_, 2, number);
  return *this;
}

TensorBuilder& TensorBuilder::external(std::string_view location,
                                       std::optional<std::uint64_t> offset,
                                       std::optional<std::uint64_t> length) {
  external_entry("location", location);
  if (offset) external_entry("offset", std::to_string(*offset));
  if (length) external_entry("length", std::to_string(*length));
  add_int(bytes_, 14, 1);
  return *this;
}

TensorBuilder& TensorBuilder::external_entry(std::string_view key, std::string_view value) {
  add_string(bytes_, 13, entry(key, value));
  return *this;
}

std::string sparse_tensor(const TensorBuilder& values, const TensorBuilder& indices,
                          const std::vector<std::int64_t>& dims) {
  std::string message;
  add_string(message, 1, values.bytes());
  add_string(message, 2, indices.bytes());
  for (const std::int64_t dim : dims) add_int(message, 3, dim);
  return message;
}

NodeBuilder::NodeBuilder(std::string_view op_type, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  add_strings(bytes_, 1, inputs);
  add_strings(bytes_, 2, outputs);
  add_string(bytes_, 4, op_type);
}

NodeBuilder& NodeBuilder::name(std::string_view text) {
  add_string(bytes_, 3, text);
  return *this;
}

NodeBuilder& NodeBuilder::domain(std::string_view text) {
  add_string(bytes_, 7, text);
  return *this;
}

NodeBuilder& NodeBuilder::overload(std::string_view text) {
  add_string(bytes_, 8, text);
  return *this;
}

NodeBuilder& NodeBuilder::metadata(std::string_view key, std::string_view value) {
  add_string(bytes_, 9, entry(key, value));
  return *this;
}

NodeBuilder& NodeBuilder::add(const std::string& attribute) {
  add_string(bytes_, 5, attribute);
  return *this;
}

NodeBuilder& NodeBuilder::real(std::string_view key, float value) {
  std::string message = attribute_head(key, 1);
  pbf_writer(message).add_float(2, value);
  return add(message);
}

NodeBuilder& NodeBuilder::integer(std::string_view key, std::int64_t value) {
  std::string message = attribute_head(key, 2);
  add_int(message, 3, value);
  return add(message);
}

NodeBuilder& NodeBuilder::attribute(std::string_view key, std::string_view value) {
  std::string message = attribute_head(key, 3);
  add_string(message, 4, value);
  return add(message);
}

NodeBuilder& NodeBuilder::attribute(std::string_view key, const std::vector<float>& values) {
  std::string message = attribute_head(key, 6);
  for (const float value : values) pbf_writer(message).add_float(7, value);
  return add(message);
}

NodeBuilder& NodeBuilder::attribute(std::string_view key, const std::vector<std::int64_t>& values) {
  std::string message = attribute_head(key, 7);
  for (const std::int64_t value : values) add_int(message, 8, value);
  return add(message);
}

NodeBuilder& NodeBuilder::attribute(std::string_view key, const std::vector<std::string>& values) {
  std::string message = attribute_head(key, 8);
  add_strings(message, 9, values);
  return add(message);
}

NodeBuilder& NodeBuilder::attribute(std::string_view key, const TensorBuilder& tensor) {
  std::string message = attribute_head(key, 4);
  add_string(message, 5, tensor.bytes());
  return add(message);
}

NodeBuilder& NodeBuilder::attribute(std::string_view key, const GraphBuilder& graph) {
  std::string message = attribute_head(key, 5);
  add_string(message, 6, graph.graph_bytes());
  return add(message);
}

NodeBuilder& NodeBuilder::attribute(std::string_view key, const std::vector<GraphBuilder>& graphs) {
  std::string message = attribute_head(key, 10);
  for (const GraphBuilder& graph : graphs) add_string(message, 11, graph.graph_bytes());
  return add(message);
}

NodeBuilder& NodeBuilder::attribute(std::string_view key, const ValueType& type) {
  std::string message = attribute_head(key, 13);
  add_string(message, 14, type.bytes());
  return add(message);
}

NodeBuilder& NodeBuilder::sparse_attribute(std::string_view key, const std::string& sparse) {
  std::string message = attribute_head(key, 11);
  add_string(message, 22, sparse);
  return add(message);
}

NodeBuilder& NodeBuilder::attribute_reference(std::string_view key, std::string_view reference,
                                              int type) {
  std::string message = attribute_head(key, type);
  add_string(message, 21, reference);
  return add(message);
}

GraphBuilder& GraphBuilder::graph_name(std::string_view text) {
  add_string(fields_, 2, text);
  return *this;
}

GraphBuilder& GraphBuilder::value(int field, std::string_view name, const ValueType& type) {
  std::string message;
  add_string(message, 1, name);
  if (!type.bytes().empty()) add_string(message, 2, type.bytes());
  add_string(fields_, static_cast<std::uint32_t>(field), message);
  return *this;
}

GraphBuilder& GraphBuilder::input(std::string_view name, ElementType type,
                                  const std::vector<Dim>& dims) {
  return value(11, name, ValueType::tensor(type, dims));
}

GraphBuilder& GraphBuilder::input(std::string_view name, const ValueType& type) {
  return value(11, name, type);
}

GraphBuilder& GraphBuilder::output(std::string_view name) {
  return value(12, name, ValueType::absent());
}

GraphBuilder& GraphBuilder::output(std::string_view name, ElementType type,
                                   const std::vector<Dim>& dims) {
  return value(12, name, ValueType::tensor(type, dims));
}

GraphBuilder& GraphBuilder::output(std::string_view name, const ValueType& type) {
  return value(12, name, type);
}

GraphBuilder& GraphBuilder::value_info(std::string_view name, ElementType type,
                                       const std::vector<Dim>& dims) {
  return value(13, name, ValueType::tensor(type, dims));
}

GraphBuilder& GraphBuilder::value_info(std::string_view name, const ValueType& type) {
  return value(13, name, type);
}

TensorBuilder& GraphBuilder::initializer(std::string_view name, ElementType type,
                                         const std::vector<std::int64_t>& dims) {
  return initializers_.emplace_back(name, type, dims);
}

TensorBuilder& GraphBuilder::integers(std::string_view name,
                                      const std::vector<std::int64_t>& values) {
  return initializer(name, ElementType::int64, {static_cast<std::int64_t>(values.size())})
      .ints(values);
}

GraphBuilder& GraphBuilder::sparse_initializer(const std::string& sparse) {
  add_string(fields_, 15, sparse);
  return *this;
}

GraphBuilder& GraphBuilder::zero_weights() {
  for (TensorBuilder& tensor : initializers_)
    if (!tensor.has_raw_data()) tensor.zeros();
  return *this;
}

NodeBuilder& GraphBuilder::node(std::string_view op_type, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs) {
  return nodes_.emplace_back(op_type, inputs, outputs);
}

std::string GraphBuilder::graph_bytes() const {
  std::string message;
  for (const NodeBuilder& node : nodes_) add_string(message, 1, node.bytes());
  for (const TensorBuilder& tensor : initializers_) add_string(message, 5, tensor.bytes());
  return message + fields_;
}

FunctionBuilder::FunctionBuilder(std::string_view domain, std::string_view name,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs) {
  add_string(fields_, 1, name);
  add_strings(fields_, 4, inputs);
  add_strings(fields_, 5, outputs);
  add_string(fields_, 10, domain);
}

FunctionBuilder& FunctionBuilder::overload(std::string_view text) {
  add_string(fields_, 13, text);
  return *this;
}

FunctionBuilder& FunctionBuilder::attribute(std::string_view name) {
  add_string(fields_, 6, name);
  return *this;
}

FunctionBuilder& FunctionBuilder::attribute_default(std::string_view name, std::int64_t value) {
  std::string message = attribute_head(name, 2);
  add_int(message, 3, value);
  add_string(fields_, 11, message);
  return *this;
}

FunctionBuilder& FunctionBuilder::opset(std::int64_t version, std::string_view domain) {
  add_string(fields_, 9, opset_id(version, domain));
  return *this;
}

NodeBuilder& FunctionBuilder::node(std::string_view op_type, const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs) {
  return nodes_.emplace_back(op_type, inputs, outputs);
}

std::string FunctionBuilder::bytes() const {
  std::string message = fields_;
  for (const NodeBuilder& node : nodes_) add_string(message, 7, node.bytes());
  return message;
}

OnnxBuilder& OnnxBuilder::ir_version(std::int64_t version) {
  ir_version_ = version;
  return *this;
}

OnnxBuilder& OnnxBuilder::opset(std::int64_t version, std::string_view domain) {
  add_string(model_fields_, 8, opset_id(version, domain));
  return *this;
}

OnnxBuilder& OnnxBuilder::producer(std::string_view name, std::string_view version) {
  add_string(model_fields_, 2, name);
  if (!version.empty()) add_string(model_fields_, 3, version);
  return *this;
}

FunctionBuilder& OnnxBuilder::function(std::string_view domain, std::string_view name,
                                       const std::vector<std::string>& inputs,
                                       const std::vector<std::string>& outputs) {
  return functions_.emplace_back(domain, name, inputs, outputs);
}

std::string OnnxBuilder::bytes() const {
  std::string message;
  add_int(message, 1, ir_version_);
  message += model_fields_;
  add_string(message, 7, graph_bytes());
  for (const FunctionBuilder& function : functions_) add_string(message, 25, function.bytes());
  return message;
}

}  // namespace ridgeline::testing
