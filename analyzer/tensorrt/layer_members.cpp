// ConvActPool repeats the keys of both its layers with a prefix; every other layer with a window
// uses the plain ones.
#include "analyzer/tensorrt/layer_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline::tensorrt {
namespace {

std::int64_t read_count(JsonScanner& scanner) {
  const std::int64_t count = scanner.integer();
  if (count < 0) scanner.fail(fmt::format("the size {} is negative", count));
  if (count > max_dimension) scanner.fail(fmt::format("the size {} is too large", count));
  return count;
}

bool read_flag(JsonScanner& scanner) {
  const char first = scanner.peek();
  scanner.skip();
  return first == '1' || first == 't';
}

// TensorRT names the absence of one, too.
std::string read_word(JsonScanner& scanner) {
  if (scanner.peek() != '"') {
    scanner.skip();
    return {};
  }
  const std::string_view word = scanner.text();
  return same_word(word, "none") ? std::string() : std::string(word);
}

// Of a window: sizes that are never dynamic.
Shape read_sizes(JsonScanner& scanner) {
  Shape sizes;
  scanner.array([&] { sizes.push_back(read_count(scanner)); });
  return sizes;
}

StoredWeights read_weights(JsonScanner& scanner) {
  StoredWeights weights;
  if (scanner.peek() != '{') {
    scanner.skip();
    return weights;
  }
  scanner.object([&](std::string_view key) {
    if (same_word(key, "Type"))
      weights.type = parse_element_type(scanner.text());
    else if (same_word(key, "Count"))
      weights.count = read_count(scanner);
    else
      scanner.skip();
  });
  return weights;
}

std::vector<std::string> read_lines(JsonScanner& scanner) {
  std::vector<std::string> lines;
  if (scanner.peek() != '[') {
    scanner.skip();
    return lines;
  }
  scanner.array([&] {
    if (scanner.peek() == '"')
      lines.emplace_back(scanner.text());
    else
      scanner.skip();
  });
  return lines;
}

// A convolution's expression is an object that holds the lines.
std::vector<std::string> read_expression(JsonScanner& scanner) {
  if (scanner.peek() != '{') return read_lines(scanner);
  std::vector<std::string> lines;
  scanner.object([&](std::string_view key) {
    if (same_word(key, "Operations"))
      lines = read_lines(scanner);
    else
      scanner.skip();
  });
  return lines;
}

using ReadMember = void (*)(JsonScanner&, EngineLayer&);
using L = EngineLayer;
using S = JsonScanner;

// Keys in lower case.
const std::unordered_map<std::string_view, ReadMember>& member_rows() {
  static const std::unordered_map<std::string_view, ReadMember> rows = {
      {"name", [](S& s, L& l) { l.name = s.text(); }},
      {"layertype", [](S& s, L& l) { l.type = s.text(); }},
      {"parametertype", [](S& s, L& l) { l.parameter = read_word(s); }},
      {"tacticname", [](S& s, L& l) { l.tactic = read_word(s); }},
      {"tacticvalue", [](S& s, L& l) { l.tactic_value = read_word(s); }},
      {"plugintype", [](S& s, L& l) { l.plugin = read_word(s); }},
      {"origin", [](S& s, L& l) { l.origin = read_word(s); }},
      // A convolution.
      {"kernel", [](S& s, L& l) { l.window.size = read_sizes(s); }},
      {"stride", [](S& s, L& l) { l.window.stride = read_sizes(s); }},
      {"dilation", [](S& s, L& l) { l.window.dilation = read_sizes(s); }},
      {"prepadding", [](S& s, L& l) { l.window.pre_padding = read_sizes(s); }},
      {"postpadding", [](S& s, L& l) { l.window.post_padding = read_sizes(s); }},
      {"outmaps", [](S& s, L& l) { l.out_maps = read_count(s); }},
      {"groups", [](S& s, L& l) { l.groups = std::max<std::int64_t>(1, read_count(s)); }},
      {"weights", [](S& s, L& l) { l.weights = read_weights(s); }},
      {"bias", [](S& s, L& l) { l.bias = read_weights(s); }},
      {"hassparseweights", [](S& s, L& l) { l.sparse_weights = read_flag(s); }},
      {"hasresidual", [](S& s, L& l) { l.residual = read_flag(s); }},
      {"activation", [](S& s, L& l) { l.activation = read_word(s); }},
      {"activationtype", [](S& s, L& l) { l.activation = read_word(s); }},
      {"pointwiseexpression", [](S& s, L& l) { l.expression = read_expression(s); }},
      // The same in a ConvActPool.
      {"convkernel", [](S& s, L& l) { l.window.size = read_sizes(s); }},
      {"convstride", [](S& s, L& l) { l.window.stride = read_sizes(s); }},
      {"convdilation", [](S& s, L& l) { l.window.dilation = read_sizes(s); }},
      {"convprepadding", [](S& s, L& l) { l.window.pre_padding = read_sizes(s); }},
      {"convpostpadding", [](S& s, L& l) { l.window.post_padding = read_sizes(s); }},
      {"convoutmaps", [](S& s, L& l) { l.out_maps = read_count(s); }},
      {"convgroups", [](S& s, L& l) { l.groups = std::max<std::int64_t>(1, read_count(s)); }},
      {"convweights", [](S& s, L& l) { l.weights = read_weights(s); }},
      {"convbias", [](S& s, L& l) { l.bias = read_weights(s); }},
      {"convhassparseweights", [](S& s, L& l) { l.sparse_weights = read_flag(s); }},
      {"convactivation", [](S& s, L& l) { l.activation = read_word(s); }},
      // A pool; see finish().
      {"poolingtype", [](S& s, L& l) { l.pooling = read_word(s); }},
      {"windowsize", [](S& s, L& l) { l.pool.size = read_sizes(s); }},
      {"poolingpoolingtype", [](S& s, L& l) { l.pooling = read_word(s); }},
      {"poolingwindowsize", [](S& s, L& l) { l.pool.size = read_sizes(s); }},
      {"poolingstride", [](S& s, L& l) { l.pool.stride = read_sizes(s); }},
      {"poolingprepadding", [](S& s, L& l) { l.pool.pre_padding = read_sizes(s); }},
      {"poolingpostpadding", [](S& s, L& l) { l.pool.post_padding = read_sizes(s); }},
      // Others.
      {"elementwiseoperation", [](S& s, L& l) { l.operation = read_word(s); }},
      {"unaryoperation", [](S& s, L& l) { l.operation = read_word(s); }},
      {"reduceoperation", [](S& s, L& l) { l.operation = read_word(s); }},
      {"operation", [](S& s, L& l) { l.operation = read_word(s); }},
      {"operations", [](S& s, L& l) { l.expression = read_expression(s); }},
      {"scale", [](S& s, L& l) { l.scale = read_weights(s); }},
      {"shift", [](S& s, L& l) { l.shift = read_weights(s); }},
      {"power", [](S& s, L& l) { l.power = read_weights(s); }},
  };
  return rows;
}

constexpr std::string_view time_keys[] = {"timems", "averagems", "medianms", "computems",
                                          "latencyms"};

}  // namespace

Shape read_shape(JsonScanner& scanner) {
  Shape shape;
  scanner.array([&] {
    const std::int64_t size = scanner.integer();
    if (size < -1) scanner.fail(fmt::format("the size {} is negative", size));
    if (size > max_dimension) scanner.fail(fmt::format("the size {} is too large", size));
    shape.push_back(size);
  });
  return shape;
}

std::vector<std::string> onnx_nodes_in(std::string_view metadata) {
  constexpr std::string_view mark = "[ONNX Layer: ";
  std::vector<std::string> nodes;
  std::size_t begin = metadata.find(mark);
  while (begin != std::string_view::npos) {
    begin += mark.size();
    // A name ends where the next one begins, after a separator or without one, as in text output.
    const std::size_t next = metadata.find(mark, begin);
    std::string_view name = metadata.substr(begin, next - begin);
    const std::size_t close = name.rfind(']');
    nodes.emplace_back(name.substr(0, close));
    begin = next;
  }
  return nodes;
}

Format LayerReader::format(std::string_view phrase) {
  const auto known = formats_.find(phrase);
  if (known != formats_.end()) return known->second;
  return formats_.emplace(std::string(phrase), parse_format(phrase)).first->second;
}

EngineTensor LayerReader::tensor(JsonScanner& scanner) {
  EngineTensor tensor;
  ElementType type = ElementType::unknown;
  scanner.object([&](std::string_view key) {
    if (same_word(key, "Name")) {
      tensor.name = scanner.text();
    } else if (same_word(key, "Location")) {
      seen_.location = true;
      tensor.location = scanner.text();
    } else if (same_word(key, "Dimensions")) {
      tensor.shape = read_shape(scanner);
    } else if (same_word(key, "Format/Datatype")) {
      tensor.format = format(scanner.text());
    } else if (same_word(key, "Format")) {
      seen_.split_format = true;
      tensor.format = format(scanner.text());
    } else if (same_word(key, "DataType") || same_word(key, "Data Type")) {
      type = parse_element_type(scanner.text());
    } else {
      scanner.skip();
    }
  });
  if (type != ElementType::unknown) tensor.format.type = type;
  return tensor;
}

bool LayerReader::member(JsonScanner& scanner, std::string_view key, EngineLayer& layer) {
  const std::string word = lower(key);
  if (word == "inputs" || word == "outputs") {
    auto& tensors = word == "inputs" ? layer.inputs : layer.outputs;
    scanner.array([&] { tensors.push_back(tensor(scanner)); });
    return true;
  }
  if (word == "streamid") {
    seen_.stream_or_nodes = true;
    layer.stream = static_cast<int>(std::clamp<std::int64_t>(scanner.integer(), -1, 1 << 20));
    return true;
  }
  if (word == "metadata") {
    seen_.stream_or_nodes = true;
    layer.onnx_nodes = onnx_nodes_in(scanner.peek() == '"' ? scanner.text() : "");
    return true;
  }
  const auto row = member_rows().find(word);
  if (row != member_rows().end()) {
    row->second(scanner, layer);
    return true;
  }
  seen_.times = seen_.times || std::ranges::find(time_keys, word) != std::end(time_keys);
  scanner.skip();
  return false;
}

void LayerReader::finish(EngineLayer& layer) {
  if (layer.parameter != "Pooling") return;
  Shape size = std::move(layer.pool.size);
  layer.pool = std::move(layer.window);
  layer.pool.size = std::move(size);
  layer.window = {};
}

EngineLayer LayerReader::layer(JsonScanner& scanner) {
  EngineLayer layer;
  scanner.object([&](std::string_view key) { member(scanner, key, layer); });
  finish(layer);
  return layer;
}

}  // namespace ridgeline::tensorrt
