// The messages of an ONNX file as plain structs. Their text points into the bytes of the file,
// their lists are in the model's arena. Only the fields that counting needs; weights are not
// copied. Field numbers are in onnx/reader.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/shape.h"
#include "analyzer/onnx/arena.h"

namespace ridgeline::onnx {

struct ExternalData {
  std::string_view location;  // relative to the model's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

struct TensorProto {
  std::string_view name;
  ElementType type = ElementType::unknown;
  std::span<const std::int64_t> dims;  // each 0 … 2^40, product checked by the reader
  std::int64_t elements = 1;           // product of the dims
  const ExternalData* external = nullptr;
  std::string_view raw;      // raw_data, not yet read from disk
  std::string_view message;  // the encoded TensorProto; typed fields are decoded on demand
  std::optional<double> stored_bytes;  // of a sparse tensor: values and indices

  Shape shape() const { return {dims.begin(), dims.end()}; }
};

struct Dimension {
  std::optional<std::int64_t> value;  // unknown if absent, or negative as some exporters write it
  std::string_view symbol;            // dim_param; may be empty
};

// An optional sequence is a sequence.
enum class TypeKind { tensor, sparse_tensor, sequence, optional, map, opaque, absent };

struct TypeProto {
  TypeKind kind = TypeKind::absent;
  ElementType element = ElementType::unknown;      // of the tensor, or of the tensors in a sequence
  std::optional<std::span<const Dimension>> dims;  // absent: the rank is unknown
};

struct ValueInfo {
  std::string_view name;
  TypeProto type;
};

struct GraphProto;

struct Attribute {
  std::string_view name;
  std::string_view reference;  // ref_attr_name: attribute of the calling node, in a function body
  int type = 0;                // AttributeProto.AttributeType; 0 if the file omits it
  std::int64_t i = 0;
  float f = 0;
  std::string_view s;
  std::span<const std::int64_t> ints;
  std::span<const float> floats;
  std::span<const std::string_view> strings;
  const TensorProto* tensor = nullptr;  // sparse ones too
  const GraphProto* graph = nullptr;
  std::span<const GraphProto* const> graphs;
};

struct Node {
  std::string_view name, op_type, domain, overload;
  std::string_view scopes;  // modules around it, outermost first, as torch writes them
  std::span<const std::string_view> inputs, outputs;  // an empty name is an omitted input
  std::span<const Attribute> attributes;
};

struct GraphProto {
  std::string_view name;
  std::span<const Node> nodes;
  std::span<const TensorProto> initializers;  // sparse ones too
  std::span<const ValueInfo> inputs, outputs, value_info;
};

struct OpsetImport {
  std::string_view domain;  // "ai.onnx" is read as ""
  std::int64_t version = 0;
};

struct FunctionProto {
  std::string_view name, domain, overload;
  std::span<const std::string_view> inputs, outputs;
  std::span<const std::string_view> attributes;  // required in a call
  std::span<const Attribute> attribute_defaults;
  std::span<const OpsetImport> opsets;  // if empty, those of the model
  std::span<const Node> nodes;
};

struct Model {
  std::unique_ptr<Arena> arena = std::make_unique<Arena>();
  std::int64_t ir_version = 0;
  std::string_view producer, producer_version;
  std::vector<OpsetImport> opsets;
  GraphProto graph;
  std::vector<FunctionProto> functions;
  std::vector<std::string> warnings;  // from the reader
};

}  // namespace ridgeline::onnx
