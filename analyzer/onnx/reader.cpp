// Reads ModelProto: versions, operator sets, local functions, and the graph.
// Field numbers here and in reader_*.cpp are those of onnx.proto (github.com/onnx/onnx, IR version
// 14); fields that counting does not need are stepped over, as are those of later versions.
#include "analyzer/onnx/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace ridgeline::onnx {
namespace {

constexpr std::int64_t newest_ir_version = 14;

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
    model.warnings.push_back("the file states no IR version");
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
    model.warnings.push_back("the training steps of the file (training_info) are left out");
  return model;
}

// Files that are often taken for ONNX, by how they begin.
struct OtherFormat {
  std::size_t at;
  std::string_view mark;
  const char* what;
  const char* fix;
};

constexpr OtherFormat other_formats[] = {
    {0, "version https://git-lfs", "a Git LFS pointer, not the model itself", "run `git lfs pull`"},
    {0, "PK\x03\x04", "a zip archive, not an ONNX model", "unpack it"},
    {0, "\x1f\x8b", "compressed with gzip", "unpack it"},
    {4, "ORTM", "in the ORT format, not ONNX", "name the .onnx file it was made from"},
    {4, "TFL3", "a TensorFlow Lite model, not ONNX", "convert it"},
};

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char c) {
    return (c >= ' ' && c < 127) || c == '\n' || c == '\r' || c == '\t';
  });
}

// For a file that could not be read: a better reason, where there is one.
void explain(const WireSource& source) {
  const std::string_view head = source.bytes.substr(0, 256);
  source.load(head.data(), head.size());
  for (const OtherFormat& format : other_formats)
    if (head.substr(std::min(format.at, head.size())).starts_with(format.mark))
      throw Error(source.name, fmt::format("is {}", format.what), format.fix);
  if (is_text(head))
    throw Error(source.name, "is text, needs the binary form of ONNX",
                "convert ONNX text with Python's onnx.load and onnx.save");
}

}  // namespace

OpsetImport read_opset_import(Wire wire) {
  OpsetImport opset;
  while (wire.next()) {
    if (wire.field() == 1) opset.domain = wire.bytes();
    if (wire.field() == 2) opset.version = wire.integer();
  }
  if (opset.domain == "ai.onnx") opset.domain = "";
  return opset;
}

Model read_model(const WireSource& source) {
  if (source.bytes.empty()) throw Error(source.name, "is empty, needs an ONNX model");
  try {
    return read_fields(source);
  } catch (const Error&) {
    explain(source);
    throw;
  }
}

}  // namespace ridgeline::onnx
