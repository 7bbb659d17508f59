// The messages of an ONNX file as plain structs whose text points into the bytes of the file.
// Only what counting needs; weights stay where they are. Field numbers are in onnx/reader*.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/element_type.h"
#include "analyzer/shape.h"

namespace ridgeline::onnx {

struct ExternalData {
  std::string_view location;  // relative to the model's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

struct TensorProto {
  std::string_view name;
  ElementType type = ElementType::unknown;
  Shape dims;  // each 0 … 2^40, product checked by the reader
  std::optional<ExternalData> external;
  std::string_view message;  // the encoded TensorProto: elements are decoded from it on demand
  std::optional<double> stored_bytes;  // of a sparse tensor: values and indices
};

struct Dimension {
  std::optional<std::int64_t> value;  // absent, or negative as some exporters write it: unknown
  std::string_view symbol;            // dim_param; may be empty
};

// An optional sequence is a sequence.
enum class TypeKind { tensor, sparse_tensor, sequence, optional, map, opaque, absent };

struct TypeProto {
  TypeKind kind = TypeKind::absent;
  ElementType element = ElementType::unknown;  // of the tensor, or of the tensors in a sequence
  std::optional<std::vector<Dimension>> dims;  // absent: not even the rank is known
};

struct ValueInfo {
  std::string_view name;
  TypeProto type;
};

struct GraphProto;

struct Attribute {
  std::string_view name;
  std::string_view reference;  // ref_attr_name: the attribute of the calling node, in a function
  int type = 0;                // AttributeProto.AttributeType, 0 where the file does not say
  std::int64_t i = 0;
  float f = 0;
  std::string_view s;
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string_view> strings;
  std::optional<TensorProto> tensor;  // sparse ones too
  std::shared_ptr<const GraphProto> graph;
  std::vector<std::shared_ptr<const GraphProto>> graphs;
};

struct Node {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;  // an empty name is an input left out
  std::vector<Attribute> attributes;
};

struct GraphProto {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<TensorProto> initializers;  // sparse ones too
  std::vector<ValueInfo> inputs, outputs, value_info;
};

struct OpsetImport {
  std::string_view domain;  // "ai.onnx" is read as ""
  std::int64_t version = 0;
};

struct FunctionProto {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<std::string_view> attributes;   // names that a call must give
  std::vector<Attribute> attribute_defaults;  //
  std::vector<OpsetImport> opsets;            // may be empty: those of the model
  std::vector<Node> nodes;                    //
};

struct Model {
  std::int64_t ir_version = 0;
  std::string_view producer, producer_version;
  std::vector<OpsetImport> opsets;
  GraphProto graph;
  std::vector<FunctionProto> functions;
  std::vector<std::string> warnings;  // of the reader
};

}  // namespace ridgeline::onnx
