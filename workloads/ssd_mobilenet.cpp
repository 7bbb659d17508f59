// SSD with MobileNetV1 on 300x300, as in MLPerf Inference: six scales of boxes and scores.
// As trained, with batch normalisation everywhere but in the predictors; boxes are neither decoded
// nor suppressed.
#include <fmt/format.h>

#include <iterator>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace ssd_mobilenet_parts {

// TensorFlow's scope names: "pointwise", "pointwise/BatchNorm", "pointwise/ReLU".
Operand unit(NetworkBuilder& net, const std::string& name, Operand x, std::int64_t channels,
             ConvolutionOptions options) {
  options.same = true;
  x = net.conv(name, x, channels, options);
  x = net.batch_norm(name + "/BatchNorm", x);
  return net.activation(name + "/ReLU", x, Function::clip);
}

Operand separable(NetworkBuilder& net, int index, Operand x, std::int64_t channels,
                  std::int64_t stride) {
  const auto scope = net.scope(fmt::format("backbone.{}", index));
  const std::int64_t in = net.dimension(x, 1);
  x = unit(net, "depthwise", x, in, {.kernel = 3, .stride = stride, .groups = in});
  return unit(net, "pointwise", x, channels, {});
}

Operand extra(NetworkBuilder& net, int index, Operand x, std::int64_t middle,
              std::int64_t channels) {
  const auto scope = net.scope(fmt::format("extras.{}", index));
  return unit(net, "2", unit(net, "0", x, middle, {}), channels, {.kernel = 3, .stride = 2});
}

void ssd_mobilenet_v1(NetworkBuilder& net) {
  struct Block {
    std::int64_t channels, stride;
  };
  constexpr Block blocks[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                              {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  std::vector<Operand> features;
  Operand x = net.image_input();
  {
    const auto scope = net.scope("backbone.0");
    x = unit(net, "0", x, 32, {.kernel = 3, .stride = 2});
  }
  for (int i = 0; i < static_cast<int>(std::size(blocks)); ++i) {
    x = separable(net, i + 1, x, blocks[i].channels, blocks[i].stride);
    if (i == 10 || i == 12) features.push_back(x);
  }
  features.push_back(x = extra(net, 0, x, 256, 512));
  features.push_back(x = extra(net, 1, x, 128, 256));
  features.push_back(x = extra(net, 2, x, 128, 256));
  features.push_back(extra(net, 3, x, 64, 128));

  const std::int64_t batch = net.settings().batch, classes = net.settings().classes;
  std::vector<Operand> scores, boxes;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto scope = net.scope(fmt::format("predictors.{}", i));
    const std::int64_t anchors = i == 0 ? 3 : 6;
    const std::int64_t positions =
        net.dimension(features[i], 2) * net.dimension(features[i], 3) * anchors;
    const Operand score =
        net.conv("classification", features[i], anchors * classes, {.bias = true});
    scores.push_back(net.transpose("permute", score, {batch, positions, classes}));
    const Operand box = net.conv("regression", features[i], anchors * 4, {.bias = true});
    boxes.push_back(net.transpose("permute", box, {batch, positions, 4}));
  }
  net.output(net.activation("sigmoid", net.concat("cat", scores, 1), Function::sigmoid));
  net.output(net.concat("cat", boxes, 1));
}

}  // namespace ssd_mobilenet_parts

std::span<const Workload> ssd_mobilenet_workloads() {
  using namespace ssd_mobilenet_parts;
  static constexpr Workload rows[] = {{
      .name = "ssd_mobilenet_v1",
      .family = "ssd",
      .source = "MLPerf Inference",
      .address = "https://github.com/mlcommons/inference/tree/master/retired_benchmarks/vision/"
                 "classification_and_detection",
      .options = image_options,
      .image = 300,
      .classes = 91,
      .build = ssd_mobilenet_v1,
  }};
  return rows;
}

}  // namespace ridgeline
