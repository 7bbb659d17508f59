// One function per network; a small writer numbers the nodes and weights.
// Shapes are left to be inferred, so these networks test inference too.
#include "tests/analyzer/networks.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ridgeline::testing {
namespace {

// Writes nodes one after the other; every tensor has the name of its node, "Conv_3".
class Writer {
 public:
  explicit Writer(std::int64_t opset) { model_.opset(opset); }

  std::string input(const std::string& name, const std::vector<Dim>& dims,
                    ElementType type = ElementType::fp32) {
    model_.input(name, type, dims);
    return name;
  }

  std::string weight(const std::vector<std::int64_t>& dims, ElementType type = ElementType::fp32) {
    const std::string name = "weight_" + std::to_string(weights_++);
    model_.initializer(name, type, dims);
    return name;
  }

  NodeBuilder& node(const std::string& op, const std::vector<std::string>& inputs,
                    std::size_t outputs = 1) {
    last_ = op + "_" + std::to_string(nodes_++);
    std::vector<std::string> names{last_};
    for (std::size_t i = 1; i < outputs; ++i) names.push_back(last_ + "_" + std::to_string(i));
    return model_.node(op, inputs, names).name(last_);
  }
  // Name of the node written last, and of its first output.
  const std::string& last() const { return last_; }

  std::string apply(const std::string& op, const std::vector<std::string>& inputs) {
    node(op, inputs);
    return last_;
  }

  std::string convolution(const std::string& x, std::int64_t in, std::int64_t out,
                          std::int64_t kernel, std::int64_t stride = 1, std::int64_t groups = 1) {
    const std::int64_t pad = (kernel - 1) / 2;
    node("Conv", {x, weight({out, in / groups, kernel, kernel}), weight({out})})
        .attribute("group", groups)
        .attribute("kernel_shape", {kernel, kernel})
        .attribute("pads", {pad, pad, pad, pad})
        .attribute("strides", {stride, stride});
    return last_;
  }

  std::string linear(const std::string& x, std::int64_t in, std::int64_t out) {
    node("Gemm", {x, weight({out, in}), weight({out})}).attribute("transB", 1);
    return last_;
  }

  OnnxBuilder finish(const std::string& output) {
    model_.output(output);
    return std::move(model_);
  }
  OnnxBuilder& model() { return model_; }

 private:
  OnnxBuilder model_;
  std::string last_;
  int nodes_ = 0, weights_ = 0;
};

std::string bottleneck(Writer& net, const std::string& x, std::int64_t in, std::int64_t width,
                       std::int64_t stride) {
  const std::int64_t out = 4 * width;
  std::string y = net.apply("Relu", {net.convolution(x, in, width, 1)});
  y = net.apply("Relu", {net.convolution(y, width, width, 3, stride)});
  y = net.convolution(y, width, out, 1);
  const std::string shortcut = in == out ? x : net.convolution(x, in, out, 1, stride);
  return net.apply("Relu", {net.apply("Add", {y, shortcut})});
}

struct InvertedResidual {
  std::int64_t in, kernel, expanded, out;
  bool squeeze, hard_swish;
  std::int64_t stride;
};

// To the nearest multiple of eight, as torchvision rounds channels.
std::int64_t rounded_to_eight(std::int64_t value) {
  const std::int64_t rounded = std::max<std::int64_t>(8, (value + 4) / 8 * 8);
  return 10 * rounded < 9 * value ? rounded + 8 : rounded;
}

std::string inverted_residual(Writer& net, const std::string& x, const InvertedResidual& block) {
  const std::string activation = block.hard_swish ? "HardSwish" : "Relu";
  std::string y = x;
  if (block.expanded != block.in)
    y = net.apply(activation, {net.convolution(y, block.in, block.expanded, 1)});
  y = net.convolution(y, block.expanded, block.expanded, block.kernel, block.stride,
                      block.expanded);
  y = net.apply(activation, {y});
  if (block.squeeze) {
    const std::int64_t squeezed = rounded_to_eight(block.expanded / 4);
    std::string scale = net.apply("GlobalAveragePool", {y});
    scale = net.apply("Relu", {net.convolution(scale, block.expanded, squeezed, 1)});
    scale = net.apply("HardSigmoid", {net.convolution(scale, squeezed, block.expanded, 1)});
    y = net.apply("Mul", {scale, y});
  }
  y = net.convolution(y, block.expanded, block.out, 1);
  return block.stride == 1 && block.in == block.out ? net.apply("Add", {y, x}) : y;
}

}  // namespace

OnnxBuilder resnet50() {
  Writer net(12);
  std::string x = net.input("input", {"batch", 3, 224, 224});
  x = net.apply("Relu", {net.convolution(x, 3, 64, 7, 2)});
  net.node("MaxPool", {x})
      .attribute("kernel_shape", {3, 3})
      .attribute("pads", {1, 1, 1, 1})
      .attribute("strides", {2, 2});
  x = net.last();
  std::int64_t channels = 64;
  const std::vector<std::int64_t> blocks{3, 4, 6, 3};
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (std::int64_t block = 0; block < blocks[stage]; ++block) {
      x = bottleneck(net, x, channels, width, stage > 0 && block == 0 ? 2 : 1);
      channels = 4 * width;
    }
  }
  x = net.apply("Flatten", {net.apply("GlobalAveragePool", {x})});
  return net.finish(net.linear(x, 2048, 1000));
}

OnnxBuilder mobilenet_v3_large() {
  const std::vector<InvertedResidual> blocks{
      {16, 3, 16, 16, false, false, 1},  {16, 3, 64, 24, false, false, 2},
      {24, 3, 72, 24, false, false, 1},  {24, 5, 72, 40, true, false, 2},
      {40, 5, 120, 40, true, false, 1},  {40, 5, 120, 40, true, false, 1},
      {40, 3, 240, 80, false, true, 2},  {80, 3, 200, 80, false, true, 1},
      {80, 3, 184, 80, false, true, 1},  {80, 3, 184, 80, false, true, 1},
      {80, 3, 480, 112, true, true, 1},  {112, 3, 672, 112, true, true, 1},
      {112, 5, 672, 160, true, true, 2}, {160, 5, 960, 160, true, true, 1},
      {160, 5, 960, 160, true, true, 1}};
  Writer net(19);
  std::string x = net.input("input", {"batch", 3, 224, 224});
  x = net.apply("HardSwish", {net.convolution(x, 3, 16, 3, 2)});
  for (const InvertedResidual& block : blocks) x = inverted_residual(net, x, block);
  x = net.apply("HardSwish", {net.convolution(x, 160, 960, 1)});
  x = net.apply("Flatten", {net.apply("GlobalAveragePool", {x})});
  x = net.apply("HardSwish", {net.linear(x, 960, 1280)});
  return net.finish(net.linear(x, 1280, 1000));
}

OnnxBuilder lstm_word_model(std::int64_t words, std::int64_t width) {
  Writer net(14);
  const std::string text = net.input("text", {"batch", "sequence"}, ElementType::int64);
  const std::string hidden = net.input("hidden", {2, "batch", width});
  const std::string cell = net.input("cell", {2, "batch", width});
  net.model().integers("first", {0});
  net.model().integers("second", {1});
  net.model().integers("third", {2});
  const std::string embedded = net.apply("Gather", {net.weight({words, width}), text});
  net.node("Transpose", {embedded}).attribute("perm", {1, 0, 2});
  std::string x = net.last();
  std::vector<std::string> hidden_ends, cell_ends;
  for (const auto& [from, to] : {std::pair("first", "second"), std::pair("second", "third")}) {
    const std::string h = net.apply("Slice", {hidden, from, to, "first"});
    const std::string c = net.apply("Slice", {cell, from, to, "first"});
    net.node("LSTM",
             {x, net.weight({1, 4 * width, width}), net.weight({1, 4 * width, width}),
              net.weight({1, 8 * width}), "", h, c},
             3)
        .attribute("hidden_size", width);
    const std::string layer = net.last();
    hidden_ends.push_back(layer + "_1");
    cell_ends.push_back(layer + "_2");
    x = net.apply("Squeeze", {layer, "second"});
  }
  net.node("Transpose", {x}).attribute("perm", {1, 0, 2});
  x = net.apply("MatMul", {net.last(), net.weight({width, words})});
  x = net.apply("Add", {net.weight({words}), x});
  for (const auto& ends : {hidden_ends, cell_ends}) {
    net.node("Concat", ends).attribute("axis", 0);
    net.model().output(net.last());
  }
  return net.finish(x);
}

OnnxBuilder bert_layer(std::int64_t length, std::int64_t width, std::int64_t heads) {
  Writer net(17);
  const std::int64_t size = width / heads;
  net.model().integers("to_heads", {0, length, heads, size});
  net.model().integers("from_heads", {0, length, width});
  net.model().integers("first_word", {0});
  const auto dense = [&](const std::string& x, std::int64_t in, std::int64_t out) {
    const std::string product = net.apply("MatMul", {x, net.weight({in, out})});
    return net.apply("Add", {net.weight({out}), product});
  };
  const auto normalized = [&](const std::string& x) {
    return net.apply("LayerNormalization", {x, net.weight({width}), net.weight({width})});
  };
  const std::string x = net.input("embedded", {"batch", length, width});
  const auto split = [&](const std::vector<std::int64_t>& order) {
    const std::string parts = net.apply("Reshape", {dense(x, width, width), "to_heads"});
    net.node("Transpose", {parts}).attribute("perm", order);
    return net.last();
  };
  const std::string q = split({0, 2, 1, 3}), k = split({0, 2, 3, 1}), v = split({0, 2, 1, 3});
  const std::string scores =
      net.apply("Div", {net.apply("MatMul", {q, k}), net.weight(std::vector<std::int64_t>{})});
  net.node("Softmax", {scores}).attribute("axis", -1);
  const std::string mixed = net.apply("MatMul", {net.last(), v});
  net.node("Transpose", {mixed}).attribute("perm", {0, 2, 1, 3});
  const std::string joined = net.apply("Reshape", {net.last(), "from_heads"});
  const std::string attended = normalized(net.apply("Add", {dense(joined, width, width), x}));
  const std::string wide = dense(attended, width, 4 * width);
  const std::string half = net.apply("Erf", {wide});
  const std::string narrow = dense(net.apply("Mul", {wide, half}), 4 * width, width);
  const std::string y = normalized(net.apply("Add", {narrow, attended}));
  net.node("Gather", {y, "first_word"}).attribute("axis", 1);
  net.model().integers("second_axis", {1});
  const std::string word = net.apply("Squeeze", {net.last(), "second_axis"});
  return net.finish(net.apply("Tanh", {net.linear(word, width, width)}));
}

OnnxBuilder grouped_attention(const GroupedAttention& sizes) {
  Writer net(17);
  const auto [length, width, heads, kv_heads] = sizes;
  const std::int64_t size = width / heads, shared_by = heads / kv_heads;
  OnnxBuilder& model = net.model();
  model.integers("query_heads", {1, length, heads, size});
  model.integers("key_heads", {1, length, kv_heads, size});
  model.integers("repeated", {1, kv_heads, shared_by, length, size});
  model.integers("all_heads", {1, heads, length, size});
  model.integers("joined", {1, length, width});
  for (const auto& [name, value] :
       {std::pair{"zero", std::int64_t{0}}, {"half", size / 2}, {"size", size}})
    model.integers(name, {value});
  model.integers("last_axis", {3});
  model.integers("group_axis", {2});
  const std::string cosine = net.weight({1, 1, length, size}),
                    sine = net.weight({1, 1, length, size});
  const auto turned = [&](const std::string& x, const std::vector<std::int64_t>& order) {
    net.node("Transpose", {x}).attribute("perm", order);
    return net.last();
  };
  const auto split = [&](const std::string& x, std::int64_t out, const std::string& shape) {
    const std::string product = net.apply("MatMul", {x, net.weight({width, out})});
    return turned(net.apply("Reshape", {product, shape}), {0, 2, 1, 3});
  };
  const auto rotated = [&](const std::string& x) {
    const std::string first = net.apply("Slice", {x, "zero", "half", "last_axis"});
    const std::string second = net.apply("Slice", {x, "half", "size", "last_axis"});
    net.node("Concat", {net.apply("Neg", {second}), first}).attribute("axis", -1);
    const std::string swapped = net.last();
    return net.apply("Add", {net.apply("Mul", {x, cosine}), net.apply("Mul", {swapped, sine})});
  };
  const auto repeated = [&](const std::string& x) {
    const std::string grouped = net.apply("Unsqueeze", {x, "group_axis"});
    return net.apply("Reshape", {net.apply("Expand", {grouped, "repeated"}), "all_heads"});
  };
  const std::string x = net.input("normalized", {1, length, width});
  const std::string q = rotated(split(x, width, "query_heads"));
  const std::string k = rotated(split(x, kv_heads * size, "key_heads"));
  const std::string v = split(x, kv_heads * size, "key_heads");
  const auto scaled = [&](const std::string& operand) {
    return net.apply("Mul", {operand, net.weight(std::vector<std::int64_t>{})});
  };
  const std::string keys = turned(repeated(k), {0, 1, 3, 2});
  net.node("Softmax", {net.apply("MatMul", {scaled(q), scaled(keys)})}).attribute("axis", -1);
  const std::string mixed = net.apply("MatMul", {net.last(), repeated(v)});
  const std::string joined = net.apply("Reshape", {turned(mixed, {0, 2, 1, 3}), "joined"});
  return net.finish(net.apply("MatMul", {joined, net.weight({width, width})}));
}

OnnxBuilder quantized_convolution() {
  Writer net(13);
  const std::string x = net.input("input", {1, 16, 32, 32}, ElementType::int8);
  const auto scale = [&] { return net.weight(std::vector<std::int64_t>{}); };
  const std::string activations = net.apply("DequantizeLinear", {x, scale()});
  net.node("DequantizeLinear", {net.weight({24, 16, 3, 3}, ElementType::int8), net.weight({24})})
      .attribute("axis", 0);
  const std::string weights = net.last();
  net.node("Conv", {activations, weights}).attribute("pads", {1, 1, 1, 1});
  net.model().initializer("zero", ElementType::int8, {}).ints({0});
  return net.finish(net.apply("QuantizeLinear", {net.last(), scale(), "zero"}));
}

}  // namespace ridgeline::testing
