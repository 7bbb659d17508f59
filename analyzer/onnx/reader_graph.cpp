// Reads GraphProto and what it is made of: nodes, attributes, declared values and their types.
// Takes a graph as it stands; whether names fit together is found out where it is walked.
#include <fmt/format.h>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/reader.h"

namespace ridgeline::onnx {
namespace {

Dimension read_dimension(Wire wire) {
  Dimension dimension;
  while (wire.next()) {
    if (wire.field() == 1) dimension.value = wire.integer();
    if (wire.field() == 2) dimension.symbol = wire.bytes();
  }
  // Exporters of Paddle and WinML write these for every free dimension; they do not mean that all
  // of them are equal.
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

// One level of a TypeProto: its kind and the message of that kind.
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

// Sequences and optionals nest; what they hold at last is found in a loop, however deep it is. An
// optional sequence is a sequence.
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

// The elements of each list of a graph, so that the long ones are not moved while they grow.
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

}  // namespace

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

}  // namespace ridgeline::onnx
