// SSD with ResNet-34 on 1200x1200, as in MLPerf Inference: the trunk without its last stage, six
// scales of boxes and scores. Boxes are neither decoded nor suppressed.
#include <fmt/format.h>

#include <array>

#include "workloads/builder.h"
#include "workloads/families.h"
#include "workloads/resnet.h"

namespace ridgeline {
namespace ssd_resnet_parts {

struct ExtraForm {
  std::int64_t middle, channels, stride, padding;
};

constexpr ExtraForm extras[] = {
    {256, 512, 2, 1}, {256, 512, 2, 1}, {128, 256, 2, 1}, {128, 256, 2, 0}, {128, 256, 1, 0}};

// Everything before the third stage is one module of numbered parts.
Operand trunk(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("model");
  {
    const auto first = net.scope("layer1");
    x = net.conv("0", x, 64, {.kernel = 7, .stride = 2, .padding = 3});
    x = net.relu("2", net.batch_norm("1", x));
    x = net.max_pool("3", x, {.kernel = 3, .stride = 2, .padding = 1});
    x = residual_stage(net, "4", x, 64, 3, 1, {});
    x = residual_stage(net, "5", x, 128, 4, 2, {});
  }
  return residual_stage(net, "layer2.0", x, 256, 6, 1, {});
}

void ssd_resnet34(NetworkBuilder& net) {
  std::vector<Operand> features{trunk(net, net.image_input())};
  int index = 0;
  for (const ExtraForm& form : extras) {
    const auto scope = net.scope(fmt::format("additional_blocks.{}", index++));
    Operand x = net.relu("1", net.conv("0", features.back(), form.middle, {.bias = true}));
    x = net.conv("2", x, form.channels,
                 {.kernel = 3, .stride = form.stride, .padding = form.padding, .bias = true});
    features.push_back(net.relu("3", x));
  }
  constexpr std::array<std::int64_t, 6> anchors = {4, 6, 6, 6, 4, 4};
  const ConvolutionOptions sparse{.kernel = 3, .stride = 3, .padding = 1, .bias = true};
  const std::int64_t batch = net.settings().batch, classes = net.settings().classes;
  std::vector<Operand> boxes, scores;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Operand box = net.conv(fmt::format("loc.{}", i), features[i], anchors[i] * 4, sparse);
    const std::int64_t positions = net.dimension(box, 2) * net.dimension(box, 3) * anchors[i];
    boxes.push_back(net.reshape("view", box, {batch, 4, positions}));
    const Operand score =
        net.conv(fmt::format("conf.{}", i), features[i], anchors[i] * classes, sparse);
    scores.push_back(net.reshape("view", score, {batch, classes, positions}));
  }
  net.output(net.concat("cat", boxes, 2));
  net.output(net.softmax("softmax", net.concat("cat", scores, 2)));
}

}  // namespace ssd_resnet_parts

std::span<const Workload> ssd_resnet_workloads() {
  using namespace ssd_resnet_parts;
  static constexpr Workload rows[] = {{
      .name = "ssd_resnet34",
      .family = "ssd",
      .source = "MLPerf Inference",
      .address = "https://github.com/mlcommons/inference/tree/master/retired_benchmarks/vision/"
                 "classification_and_detection",
      .options = image_options,
      .image = 1200,
      .classes = 81,
      .build = ssd_resnet34,
  }};
  return rows;
}

}  // namespace ridgeline
