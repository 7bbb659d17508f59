// RetinaNet with a ResNeXt-50 (32x4d) trunk and a feature pyramid on 800x800, as in MLPerf. The
// trunk's batch normalisation is frozen, so it has no parameters; boxes are neither decoded nor
// suppressed.
#include <fmt/format.h>

#include <array>

#include "workloads/builder.h"
#include "workloads/families.h"
#include "workloads/resnet.h"

namespace ridgeline {
namespace retinanet_parts {

constexpr std::int64_t width = 256;
constexpr std::int64_t anchors = 9;
constexpr ConvolutionOptions three{.kernel = 3, .padding = 1, .bias = true};
constexpr ConvolutionOptions three_halving{.kernel = 3, .stride = 2, .padding = 1, .bias = true};

// The last three stages.
std::array<Operand, 3> trunk(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("backbone.body");
  const ResidualForm form{
      .bottleneck = true, .groups = 32, .width_per_group = 4, .frozen_norm = true};
  x = residual_stage(net, "layer1", residual_stem(net, x, form), 64, 3, 1, form);
  const Operand c3 = residual_stage(net, "layer2", x, 128, 4, 2, form);
  const Operand c4 = residual_stage(net, "layer3", c3, 256, 6, 2, form);
  const Operand c5 = residual_stage(net, "layer4", c4, 512, 3, 2, form);
  return {c3, c4, c5};
}

// From coarse to fine, each scale adds the upsampled coarser one; two still coarser ones follow.
std::vector<Operand> pyramid(NetworkBuilder& net, const std::array<Operand, 3>& stages) {
  const auto scope = net.scope("backbone.fpn");
  std::vector<Operand> levels(3);
  Operand last = stages[2];
  for (std::size_t i = stages.size(); i-- > 0;) {
    const Operand lateral =
        net.conv(fmt::format("inner_blocks.{}.0", i), stages[i], width, {.bias = true});
    if (i + 1 == stages.size()) {
      last = lateral;
    } else {
      const Extent fine(net.dimension(lateral, 2), net.dimension(lateral, 3));
      last = net.add("add", lateral, net.resize("interpolate", last, fine, Interpolation::nearest));
    }
    levels[i] = net.conv(fmt::format("layer_blocks.{}.0", i), last, width, three);
  }
  levels.push_back(net.conv("extra_blocks.p6", levels.back(), width, three_halving));
  levels.push_back(net.conv("extra_blocks.p7", net.relu("extra_blocks.relu", levels.back()), width,
                            three_halving));
  return levels;
}

// All scales share one head's parameters, but each has its own layers.
std::vector<Operand> head(NetworkBuilder& net, std::string_view name, std::string_view last,
                          const std::vector<Operand>& levels, std::int64_t values) {
  const auto scope = net.scope(name);
  std::vector<ConvolutionWeights> weights;
  for (int i = 0; i < 4; ++i)
    weights.push_back(net.conv_weights(fmt::format("conv.{}.0", i), width, width, three));
  weights.push_back(net.conv_weights(last, width, anchors * values, three));

  std::vector<Operand> results;
  for (Operand x : levels) {
    for (std::size_t i = 0; i < 4; ++i) {
      x = net.conv(fmt::format("conv.{}.0", i), x, weights[i], three);
      x = net.relu(fmt::format("conv.{}.1", i), x);
    }
    x = net.conv(last, x, weights.back(), three);
    const std::int64_t positions = net.dimension(x, 2) * net.dimension(x, 3) * anchors;
    results.push_back(net.transpose("permute", x, {net.dimension(x, 0), positions, values}));
  }
  return results;
}

void retinanet(NetworkBuilder& net) {
  const std::vector<Operand> levels = pyramid(net, trunk(net, net.image_input()));
  const auto scope = net.scope("head");
  const auto scores =
      head(net, "classification_head", "cls_logits", levels, net.settings().classes);
  const auto boxes = head(net, "regression_head", "bbox_reg", levels, 4);
  net.output(net.activation("sigmoid", net.concat("cat", scores, 1), Function::sigmoid));
  net.output(net.concat("cat", boxes, 1));
}

}  // namespace retinanet_parts

std::span<const Workload> retinanet_workloads() {
  using namespace retinanet_parts;
  static constexpr Workload rows[] = {{
      .name = "retinanet",
      .family = "retinanet",
      .source = "MLPerf",
      .address =
          "https://github.com/mlcommons/training/tree/master/single_stage_detector/ssd/model",
      .options = image_options,
      .image = 800,
      .classes = 264,
      .build = retinanet,
  }};
  return rows;
}

}  // namespace ridgeline
