// Reads a ModelProto, one function per message of onnx.proto (github.com/onnx/onnx, IR version 14).
// Fields that counting does not need, and those of later versions, are skipped.
#include "analyzer/onnx/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/tensor_data.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

constexpr std::int64_t newest_ir_version = 14;

// Deeper graphs and larger ranks are rejected: no exporter writes them, and the limits keep
// recursion and loops over pairs of axes bounded.
constexpr int max_graph_depth = 100;
constexpr std::size_t max_rank = 64;

// --- TensorProto and SparseTensorProto: names, types, dimensions and the location of the elements.
// The elements are not read; only their number is checked against the dimensions.

[[noreturn]] void fail_tensor(const Wire& wire, const TensorProto& tensor,
                              const std::string& what) {
  wire.fail(fmt::format("tensor {}: {}", quote(tensor.name), what));
}

// Bounds on the number of values in a typed field, from its length: a varint has 1 to 10 bytes.
struct ValueRange {
  std::uint64_t least = 0, most = 0;

  void add(std::uint64_t low, std::uint64_t high) {
    least += low;
    most += high;
  }
};

// Where the fields of a tensor hold its elements.
struct StoredElements {
  ValueRange typed[typed_field_count];
  bool external = false;
};

void count_values(const Wire& wire, const TypedField& field, ValueRange& range) {
  if (field.encoding == ValueEncoding::text) {
    static_cast<void>(wire.extent());
    range.add(1, 1);
  } else if (field.encoding == ValueEncoding::varint) {
    if (!wire.is_packed()) static_cast<void>(wire.integer());
    const std::uint64_t bytes = wire.is_packed() ? wire.extent().size() : 1;
    range.add((bytes + 9) / 10, bytes);
  } else {
    const std::uint64_t values = wire.fixed_count(fixed_bytes(field.encoding));
    range.add(values, values);
  }
}

std::uint64_t read_decimal(const Wire& wire, const TensorProto& tensor, std::string_view key,
                           std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail_tensor(wire, tensor,
                fmt::format("{} of its external data is {}, needs a number", key, quote(text)));
  return value;
}

struct ExternalEntry {
  std::string_view key, value;
};

ExternalEntry read_entry(Wire wire) {
  ExternalEntry entry;
  while (wire.next()) {
    if (wire.field() == 1) entry.key = wire.bytes();
    if (wire.field() == 2) entry.value = wire.bytes();
  }
  return entry;
}

ExternalData external_data(const Wire& wire, const TensorProto& tensor,
                           const std::vector<ExternalEntry>& entries) {
  ExternalData data;
  for (const auto& [key, value] : entries) {
    if (key == "location") data.location = value;
    if (key == "offset") data.offset = read_decimal(wire, tensor, key, value);
    if (key == "length") data.length = read_decimal(wire, tensor, key, value);
  }
  if (data.location.empty()) fail_tensor(wire, tensor, "its external data has no location");
  return data;
}

std::int64_t checked_elements(const Wire& wire, const TensorProto& tensor) {
  if (tensor.dims.size() > max_rank)
    fail_tensor(wire, tensor,
                fmt::format("{} dimensions, at most {} are read", tensor.dims.size(), max_rank));
  for (const std::int64_t dimension : tensor.dims)
    if (dimension < 0 || dimension > max_dimension)
      fail_tensor(wire, tensor,
                  fmt::format("dimension {} of shape {} is outside of 0 to 2^40", dimension,
                              to_string(tensor.shape())));
  const auto elements = checked_element_count(tensor.dims);
  if (!elements)
    fail_tensor(wire, tensor,
                fmt::format("shape {} has more than 2^63 elements", to_string(tensor.shape())));
  return *elements;
}

void check_bytes(const Wire& wire, const TensorProto& tensor, std::string_view what,
                 std::uint64_t bytes) {
  const std::optional<double> needed = storage_bytes(tensor.type, tensor.elements);
  if (needed && static_cast<double>(bytes) != *needed)
    fail_tensor(wire, tensor,
                fmt::format("{} of {} needs {:.0f} bytes, {} holds {}", to_string(tensor.shape()),
                            to_string(tensor.type), *needed, what, bytes));
}

void check_values(const Wire& wire, const TensorProto& tensor, const StoredElements& elements) {
  const std::optional<std::size_t> expected = typed_field_of(tensor.type);
  if (!expected) return;
  for (std::size_t i = 0; i < typed_field_count; ++i)
    if (i != *expected && elements.typed[i].most > 0)
      fail_tensor(wire, tensor,
                  fmt::format("elements of {} stand in {}, not in {}", to_string(tensor.type),
                              typed_fields[*expected].name, typed_fields[i].name));
  const ValueRange& range = elements.typed[*expected];
  if (range.most == 0) return;  // weights stripped, as some tools do to share a model
  const std::uint64_t needed = typed_values(tensor.type, tensor.elements);
  if (needed < range.least || needed > range.most)
    fail_tensor(wire, tensor,
                fmt::format("{} of {} needs {} values, {} holds {} {}", to_string(tensor.shape()),
                            to_string(tensor.type), needed, typed_fields[*expected].name,
                            needed < range.least ? "at least" : "at most",
                            needed < range.least ? range.least : range.most));
}

TensorProto read_tensor(Wire wire, Arena& arena) {
  const Wire whole = wire;
  TensorProto tensor;
  tensor.message = wire.remaining();
  StoredElements elements;
  ArenaList<std::int64_t> dims(arena, 4);
  std::vector<ExternalEntry> entries;
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        wire.append_integers(dims);
        break;
      case 2:
        tensor.type = element_type(wire.integer());
        break;
      case 8:
        tensor.name = wire.bytes();
        break;
      case 9:
        tensor.raw = wire.extent();
        break;
      case 13:
        entries.push_back(read_entry(wire.message("StringStringEntryProto")));
        break;
      case 14:
        elements.external = wire.integer() == 1;
        break;
      default:
        for (std::size_t i = 0; i < typed_field_count; ++i)
          if (typed_fields[i].number == wire.field())
            count_values(wire, typed_fields[i], elements.typed[i]);
    }
  }
  tensor.dims = dims;
  tensor.elements = checked_elements(whole, tensor);
  if (elements.external) {
    tensor.external = &keep(arena, external_data(whole, tensor, entries));
    if (tensor.external->length)
      check_bytes(whole, tensor, "its external data", *tensor.external->length);
  } else if (!tensor.raw.empty()) {
    check_bytes(whole, tensor, "raw_data", tensor.raw.size());
  } else {
    check_values(whole, tensor, elements);
  }
  return tensor;
}

TensorProto read_sparse_tensor(Wire wire, Arena& arena) {
  const Wire whole = wire;
  TensorProto tensor, values, indices;
  ArenaList<std::int64_t> dims(arena, 4);
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        values = read_tensor(wire.message("TensorProto"), arena);
        break;
      case 2:
        indices = read_tensor(wire.message("TensorProto"), arena);
        break;
      case 3:
        wire.append_integers(dims);
        break;
      default:
        break;
    }
  }
  tensor.name = values.name;
  tensor.type = values.type;
  tensor.dims = dims;
  tensor.elements = checked_elements(whole, tensor);
  const auto value_bytes = storage_bytes(values.type, values.elements);
  const auto index_bytes = storage_bytes(indices.type, indices.elements);
  if (value_bytes && index_bytes) tensor.stored_bytes = *value_bytes + *index_bytes;
  return tensor;
}

// --- GraphProto and its parts: nodes, attributes, declared values and their types. The walk checks
// whether names match.

GraphProto read_graph(Wire wire, int depth, Arena& arena);  // depth 0 is the model's own graph

Dimension read_dimension(Wire wire) {
  Dimension dimension;
  while (wire.next()) {
    if (wire.field() == 1) dimension.value = wire.integer();
    if (wire.field() == 2) dimension.symbol = wire.bytes();
  }
  // Exporters of Paddle and WinML write these for every free dimension, which does not make the
  // dimensions equal.
  for (const std::string_view nameless : {"?", "None"})
    if (dimension.symbol == nameless) dimension.symbol = {};
  return dimension;
}

std::span<const Dimension> read_shape(Wire wire, Arena& arena) {
  ArenaList<Dimension> dims(arena, 4);
  while (wire.next()) {
    if (wire.field() != 1) continue;
    if (dims.size() == max_rank) wire.fail(fmt::format("a shape of more than {} axes", max_rank));
    dims.push_back(read_dimension(wire.message("TensorShapeProto.Dimension")));
  }
  return dims;
}

// TypeProto.Tensor and TypeProto.SparseTensor.
void read_tensor_type(Wire wire, TypeProto& type, Arena& arena) {
  while (wire.next()) {
    if (wire.field() == 1) type.element = element_type(wire.integer());
    if (wire.field() == 2) type.dims = read_shape(wire.message("TensorShapeProto"), arena);
  }
}

struct NestedType {
  TypeKind kind = TypeKind::absent;
  Wire value;
};

// One level of a TypeProto: its kind and the nested message.
NestedType read_type_level(Wire wire) {
  NestedType level{TypeKind::absent, wire};
  const auto take = [&](TypeKind kind, const char* name) { level = {kind, wire.message(name)}; };
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        take(TypeKind::tensor, "TypeProto.Tensor");
        break;
      case 4:
        take(TypeKind::sequence, "TypeProto.Sequence");
        break;
      case 5:
        take(TypeKind::map, "TypeProto.Map");
        break;
      case 7:
        take(TypeKind::opaque, "TypeProto.Opaque");
        break;
      case 8:
        take(TypeKind::sparse_tensor, "TypeProto.SparseTensor");
        break;
      case 9:
        take(TypeKind::optional, "TypeProto.Optional");
        break;
      default:
        break;
    }
  }
  return level;
}

// Sequences and optionals nest; a loop finds the innermost type at any depth. An optional sequence
// is a sequence.
TypeProto read_type(Wire wire, Arena& arena) {
  TypeProto type;
  while (true) {
    NestedType level = read_type_level(wire);
    const bool outermost = type.kind == TypeKind::absent;
    const bool optional_sequence =
        type.kind == TypeKind::optional && level.kind == TypeKind::sequence;
    if (outermost || optional_sequence) type.kind = level.kind;
    if (level.kind == TypeKind::tensor || level.kind == TypeKind::sparse_tensor)
      read_tensor_type(level.value, type, arena);
    if (level.kind != TypeKind::sequence && level.kind != TypeKind::optional) return type;
    std::optional<Wire> element;
    while (level.value.next())
      if (level.value.field() == 1) element = level.value.message("TypeProto");
    if (!element) return type;
    wire = *element;
  }
}

ValueInfo read_value_info(Wire wire, Arena& arena) {
  ValueInfo value;
  while (wire.next()) {
    if (wire.field() == 1) value.name = wire.bytes();
    if (wire.field() == 2) value.type = read_type(wire.message("TypeProto"), arena);
  }
  return value;
}

const GraphProto* read_subgraph(const Wire& wire, int depth, Arena& arena) {
  if (depth > max_graph_depth)
    wire.fail(fmt::format("sub-graphs nest deeper than {} levels", max_graph_depth));
  return &keep(arena, read_graph(wire.message("GraphProto"), depth, arena));
}

void append_reals(const Wire& wire, ArenaList<float>& values) {
  const std::string_view bytes = wire.fixed_values(sizeof(float));
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(float))
    values.push_back(load<float>(bytes.data() + i));
}

// Length of each list of a graph, so that long lists are allocated once.
struct ListSizes {
  std::size_t nodes = 0, initializers = 0, inputs = 0, outputs = 0, value_info = 0;
};

ListSizes count_elements(Wire wire) {
  ListSizes sizes;
  while (wire.next()) {
    const std::uint32_t field = wire.field();
    sizes.nodes += field == 1 ? 1 : 0;
    sizes.initializers += field == 5 || field == 15 ? 1 : 0;
    sizes.inputs += field == 11 ? 1 : 0;
    sizes.outputs += field == 12 ? 1 : 0;
    sizes.value_info += field == 13 ? 1 : 0;
  }
  return sizes;
}

Attribute read_attribute(Wire wire, int depth, Arena& arena) {
  const Wire whole = wire;
  Attribute attribute;
  ArenaList<std::int64_t> ints(arena, 4);
  ArenaList<float> floats(arena, 4);
  ArenaList<std::string_view> strings(arena, 4);
  ArenaList<const GraphProto*> graphs(arena, 2);
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        attribute.name = wire.bytes();
        break;
      case 2:
        attribute.f = wire.real();
        break;
      case 3:
        attribute.i = wire.integer();
        break;
      case 4:
        attribute.s = wire.bytes();
        break;
      case 5:
        attribute.tensor = &keep(arena, read_tensor(wire.message("TensorProto"), arena));
        break;
      case 6:
        attribute.graph = read_subgraph(wire, depth + 1, arena);
        break;
      case 7:
        append_reals(wire, floats);
        break;
      case 8:
        wire.append_integers(ints);
        break;
      case 9:
        strings.push_back(wire.bytes());
        break;
      case 11:
        graphs.push_back(read_subgraph(wire, depth + 1, arena));
        break;
      case 20:
        attribute.type = static_cast<int>(wire.integer());
        break;
      case 21:
        attribute.reference = wire.bytes();
        break;
      case 22:
        attribute.tensor =
            &keep(arena, read_sparse_tensor(wire.message("SparseTensorProto"), arena));
        break;
      default:
        break;
    }
  }
  if (attribute.name.empty()) whole.fail("an attribute without a name");
  attribute.ints = ints;
  attribute.floats = floats;
  attribute.strings = strings;
  attribute.graphs = graphs;
  return attribute;
}

Node read_node(Wire wire, int depth, Arena& arena) {
  Node node;
  ArenaList<std::string_view> inputs(arena, 3), outputs(arena, 1);
  ArenaList<Attribute> attributes(arena, 2);
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        inputs.push_back(wire.bytes());
        break;
      case 2:
        outputs.push_back(wire.bytes());
        break;
      case 3:
        node.name = wire.bytes();
        break;
      case 4:
        node.op_type = wire.bytes();
        break;
      case 5:
        attributes.push_back(read_attribute(wire.message("AttributeProto"), depth, arena));
        break;
      case 7:
        node.domain = wire.bytes();
        break;
      case 8:
        node.overload = wire.bytes();
        break;
      case 9:  // metadata_props
        if (const auto entry = read_entry(wire.message("StringStringEntryProto"));
            entry.key == "pkg.torch.onnx.name_scopes")
          node.scopes = entry.value;
        break;
      default:
        break;
    }
  }
  node.inputs = inputs;
  node.outputs = outputs;
  node.attributes = attributes;
  return node;
}

GraphProto read_graph(Wire wire, int depth, Arena& arena) {
  GraphProto graph;
  const ListSizes sizes = count_elements(wire);
  ArenaList<Node> nodes(arena, sizes.nodes);
  ArenaList<TensorProto> initializers(arena, sizes.initializers);
  ArenaList<ValueInfo> inputs(arena, sizes.inputs), outputs(arena, sizes.outputs),
      value_info(arena, sizes.value_info);
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        nodes.push_back(read_node(wire.message("NodeProto"), depth, arena));
        break;
      case 2:
        graph.name = wire.bytes();
        break;
      case 5:
        initializers.push_back(read_tensor(wire.message("TensorProto"), arena));
        break;
      case 11:
        inputs.push_back(read_value_info(wire.message("ValueInfoProto"), arena));
        break;
      case 12:
        outputs.push_back(read_value_info(wire.message("ValueInfoProto"), arena));
        break;
      case 13:
        value_info.push_back(read_value_info(wire.message("ValueInfoProto"), arena));
        break;
      case 15:
        initializers.push_back(read_sparse_tensor(wire.message("SparseTensorProto"), arena));
        break;
      default:
        break;
    }
  }
  graph.nodes = nodes;
  graph.initializers = initializers;
  graph.inputs = inputs;
  graph.outputs = outputs;
  graph.value_info = value_info;
  return graph;
}

// --- ModelProto: versions, operator sets, local functions, and the graph.

OpsetImport read_opset_import(Wire wire) {
  OpsetImport opset;
  while (wire.next()) {
    if (wire.field() == 1) opset.domain = wire.bytes();
    if (wire.field() == 2) opset.version = wire.integer();
  }
  if (opset.domain == "ai.onnx") opset.domain = "";
  return opset;
}

FunctionProto read_function(Wire wire, Arena& arena) {
  FunctionProto function;
  ArenaList<std::string_view> inputs(arena, 4), outputs(arena, 2), attributes(arena, 2);
  ArenaList<Attribute> defaults(arena, 2);
  ArenaList<OpsetImport> opsets(arena, 2);
  ArenaList<Node> nodes(arena, 8);
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        function.name = wire.bytes();
        break;
      case 4:
        inputs.push_back(wire.bytes());
        break;
      case 5:
        outputs.push_back(wire.bytes());
        break;
      case 6:
        attributes.push_back(wire.bytes());
        break;
      case 7:
        nodes.push_back(read_node(wire.message("NodeProto"), 0, arena));
        break;
      case 9:
        opsets.push_back(read_opset_import(wire.message("OperatorSetIdProto")));
        break;
      case 10:
        function.domain = wire.bytes();
        break;
      case 11:
        defaults.push_back(read_attribute(wire.message("AttributeProto"), 0, arena));
        break;
      case 13:
        function.overload = wire.bytes();
        break;
      default:
        break;
    }
  }
  function.inputs = inputs;
  function.outputs = outputs;
  function.attributes = attributes;
  function.attribute_defaults = defaults;
  function.opsets = opsets;
  function.nodes = nodes;
  return function;
}

void warn_of_version(Model& model) {
  if (model.ir_version <= 0)
    model.warnings.emplace_back("the file states no IR version");
  else if (model.ir_version > newest_ir_version)
    model.warnings.push_back(
        fmt::format("IR version {} is newer than {}, the newest that is known here: what it adds "
                    "is left out",
                    model.ir_version, newest_ir_version));
}

Model read_fields(const WireSource& source) {
  Model model;
  bool has_graph = false, has_training = false;
  Wire wire(source.bytes, "ModelProto", source);
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        model.ir_version = wire.integer();
        break;
      case 2:
        model.producer = wire.bytes();
        break;
      case 3:
        model.producer_version = wire.bytes();
        break;
      case 7:
        has_graph = true;
        model.graph = read_graph(wire.message("GraphProto"), 0, *model.arena);
        break;
      case 8:
        model.opsets.push_back(read_opset_import(wire.message("OperatorSetIdProto")));
        break;
      case 20:
        has_training = true;
        break;
      case 25:
        model.functions.push_back(read_function(wire.message("FunctionProto"), *model.arena));
        break;
      default:
        break;
    }
  }
  if (!has_graph) throw Error(source.name, "there is no graph in it", "name an ONNX model");
  warn_of_version(model);
  if (has_training)
    model.warnings.emplace_back("the training steps of the file (training_info) are left out");
  return model;
}

}  // namespace

Model read_model(const WireSource& source) {
  if (source.bytes.empty()) throw Error(source.name, "is empty, needs an ONNX model");
  try {
    return read_fields(source);
  } catch (const Error&) {
    explain_other_format(source);
    throw;
  }
}

}  // namespace ridgeline::onnx
