// Numbers count the constants, too, which torch writes as nodes and this file as initializers.
#include "tests/analyzer/tensorrt/exported_networks.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {
namespace {

constexpr ElementType fp32 = ElementType::fp32;

class Exporter {
 public:
  Exporter(NodeNames style, bool quantized) : style_(style), quantized_(quantized) {
    model_.opset(13).input("input.1", fp32, {32, 3, 224, 224});
  }

  ExportedNetwork run() {
    std::string x = unit("input.1", 3, {"", "conv1", "relu"}, {64, 7, 2}, true);
    x = node("MaxPool", "/maxpool/MaxPool", {x});
    last().attribute("kernel_shape", {3, 3}).attribute("strides", {2, 2});
    last().attribute("pads", {1, 1, 1, 1});
    std::int64_t channels = 64;
    for (int stage = 1; stage <= 4; ++stage)
      for (int index = 0; index < 2; ++index) {
        const std::int64_t wide = 32LL << stage;
        x = block(x, fmt::format("/layer{0}/layer{0}.{1}", stage, index), channels, wide);
        channels = wide;
      }
    x = node("GlobalAveragePool", "/avgpool/GlobalAveragePool", {x});
    x = node("Flatten", "/Flatten", {x});
    last().attribute("axis", 1);
    const std::string input = quantized_input(x, "/fc");
    const std::string weight = weights("fc", {1000, 512});
    model_.initializer("fc.bias", fp32, {1000});
    x = node("Gemm", "/fc/Gemm", {input, weight, "fc.bias"});
    last().attribute("transB", 1);
    model_.output(x, fp32, {32, 1000});
    return {model_.bytes(), std::move(names_)};
  }

 private:
  struct Place {
    std::string module, convolution, activation;
  };
  struct Kernel {
    std::int64_t channels, size, stride;
  };

  NodeBuilder& last() { return *last_; }

  std::string node(const char* op, const std::string& module_name,
                   const std::vector<std::string>& inputs) {
    const std::string numbered = fmt::format("{}_{}", op, number_++);
    const std::string output = fmt::format("onnx::{}", numbered);
    names_.emplace_back(numbered, module_name);
    last_ = &model_.node(op, inputs, {output})
                 .name(style_ == NodeNames::numbered ? numbered : module_name);
    return output;
  }

  // Scale and zero point are constants, which torch numbers like nodes; weights have a third.
  std::string quantized(const std::string& x, const std::string& module, int constants,
                        std::int64_t scales) {
    number_ += constants;
    const std::string scale = fmt::format("scale_{}", number_);
    const std::string zero = fmt::format("zero_{}", number_);
    model_.initializer(scale, fp32, std::vector<std::int64_t>(scales > 1 ? 1 : 0, scales));
    model_.initializer(zero, ElementType::int8,
                       std::vector<std::int64_t>(scales > 1 ? 1 : 0, scales));
    const auto axis = [&] {
      if (scales > 1) last().attribute("axis", 0);
    };
    const std::string narrow = node("QuantizeLinear", module + "/QuantizeLinear", {x, scale, zero});
    axis();
    const std::string wide =
        node("DequantizeLinear", module + "/DequantizeLinear", {narrow, scale, zero});
    axis();
    return wide;
  }

  std::string quantized_input(const std::string& x, const std::string& module) {
    return quantized_ ? quantized(x, module + "/_input_quantizer", 2, 1) : x;
  }

  std::string weights(const std::string& name, const std::vector<std::int64_t>& dims) {
    model_.initializer(name + ".weight", fp32, dims);
    return quantized_ ? quantized(name + ".weight", "/" + name + "/_weight_quantizer", 3, dims[0])
                      : name + ".weight";
  }

  // A convolution, its normalisation and, if wanted, its activation.
  std::string unit(const std::string& x, std::int64_t channels, const Place& place,
                   const Kernel& kernel, bool activated) {
    const std::string module = place.module + "/" + place.convolution;
    const std::string name = fmt::format("weight_of{}", module);
    const std::string input = quantized_input(x, module);
    const std::string weight = weights(name, {kernel.channels, channels, kernel.size, kernel.size});
    std::vector<std::string> inputs{input, weight};
    if (!quantized_) {
      model_.initializer(name + ".bias", fp32, {kernel.channels});
      inputs.push_back(name + ".bias");
    }
    std::string out = node("Conv", module + "/Conv", inputs);
    const std::int64_t pad = kernel.size / 2;
    last().attribute("kernel_shape", std::vector<std::int64_t>{kernel.size, kernel.size});
    last().attribute("strides", std::vector<std::int64_t>{kernel.stride, kernel.stride});
    last().attribute("pads", std::vector<std::int64_t>{pad, pad, pad, pad});
    if (quantized_) {
      std::vector<std::string> normalisation{out};
      for (const char* part : {"scale", "bias", "mean", "var"}) {
        normalisation.push_back(fmt::format("{}.{}", name, part));
        model_.initializer(normalisation.back(), fp32, {kernel.channels});
      }
      out = node("BatchNormalization", module + "_bn/BatchNormalization", normalisation);
    }
    return activated
               ? node("Relu", fmt::format("{}/{}/Relu", place.module, place.activation), {out})
               : out;
  }

  std::string block(const std::string& x, const std::string& module, std::int64_t channels,
                    std::int64_t wide) {
    const std::int64_t stride = wide == channels ? 1 : 2;
    const std::string first = unit(x, channels, {module, "conv1", "relu"}, {wide, 3, stride}, true);
    const std::string second = unit(first, wide, {module, "conv2", ""}, {wide, 3, 1}, false);
    const std::string side =
        stride == 1
            ? x
            : unit(x, channels, {module, "downsample/downsample.0", ""}, {wide, 1, stride}, false);
    const std::string sum = node("Add", module + "/Add", {second, side});
    return node("Relu", module + "/relu_1/Relu", {sum});
  }

  NodeNames style_;
  bool quantized_;
  OnnxBuilder model_;
  NodeBuilder* last_ = nullptr;
  int number_ = 0;
  std::vector<std::pair<std::string, std::string>> names_;
};

}  // namespace

ExportedNetwork exported_resnet18(NodeNames style, bool quantized) {
  return Exporter(style, quantized).run();
}

std::string exported_digits() {
  OnnxBuilder model;
  model.opset(18).input("x", fp32, {1, 1, 28, 28});
  const auto convolution = [&](const char* name, const std::string& x, std::int64_t from,
                               std::int64_t to, const std::string& out) {
    model.initializer(name + std::string(".weight"), fp32, {to, from, 5, 5});
    model.initializer(name + std::string(".bias"), fp32, {to});
    model.node("Conv", {x, name + std::string(".weight"), name + std::string(".bias")}, {out})
        .name(name)
        .attribute("pads", {2, 2, 2, 2});
  };
  const auto pool = [&](const char* name, const char* x, const char* out) {
    model.node("MaxPool", {x}, {out})
        .name(name)
        .attribute("kernel_shape", {2, 2})
        .attribute("strides", {2, 2});
  };
  convolution("node_conv2d", "x", 1, 32, "conv2d");
  model.node("Relu", {"conv2d"}, {"relu"}).name("node_relu");
  pool("node_max_pool2d", "relu", "max_pool2d");
  convolution("node_conv2d_1", "max_pool2d", 32, 64, "conv2d_1");
  model.node("Relu", {"conv2d_1"}, {"relu_1"}).name("node_relu_1");
  pool("node_max_pool2d_1", "relu_1", "max_pool2d_1");
  model.node("Flatten", {"max_pool2d_1"}, {"view"}).name("node_view");
  model.initializer("fc1.weight", fp32, {1024, 3136});
  model.initializer("fc1.bias", fp32, {1024});
  model.node("Gemm", {"view", "fc1.weight", "fc1.bias"}, {"linear"})
      .name("node_linear")
      .attribute("transB", 1);
  model.node("Relu", {"linear"}, {"relu_2"}).name("node_relu_2");
  model.initializer("fc2.weight", fp32, {10, 1024});
  model.initializer("fc2.bias", fp32, {10});
  model.node("Gemm", {"relu_2", "fc2.weight", "fc2.bias"}, {"y"})
      .name("node_linear_1")
      .attribute("transB", 1);
  model.node("Softmax", {"y"}, {"softmax"}).name("node_softmax").attribute("axis", 1);
  model.node("ArgMax", {"softmax"}, {"z"})
      .name("node_argmax")
      .attribute("axis", 1)
      .attribute("keepdims", 0);
  model.output("y", fp32, {1, 10}).output("z", ElementType::int64, {1});
  return model.bytes();
}

}  // namespace ridgeline::testing
