// EfficientNet B0 and B1 as in torchvision: one table of stages, scaled in depth (and from B2 on in
// width). Each residual has stochastic depth, which does nothing at inference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/builder.h"
#include "workloads/families.h"
#include "workloads/mobile_blocks.h"

namespace ridgeline {
namespace efficientnet_parts {

constexpr Function swish = Function::swish;

struct EfficientStage {
  std::int64_t expansion, kernel, stride, channels, blocks;
};

constexpr EfficientStage stages[] = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
                                     {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
                                     {6, 3, 1, 320, 1}};

Operand inverted_residual(NetworkBuilder& net, Operand x, const EfficientStage& form,
                          std::int64_t stride) {
  const std::int64_t in = net.dimension(x, 1), expanded = in * form.expansion;
  Operand y = x;
  {
    const auto scope = net.scope("block");
    int index = 0;
    const auto next = [&] { return fmt::format("{}", index++); };
    if (form.expansion != 1)
      y = conv_norm_activation(net, next(), y, {.channels = expanded, .activation = swish});
    y = conv_norm_activation(net, next(), y,
                             {.channels = expanded,
                              .kernel = form.kernel,
                              .stride = stride,
                              .groups = expanded,
                              .activation = swish});
    y = squeeze_excitation(net, next(), y,
                           {.squeezed = std::max<std::int64_t>(1, in / 4), .activation = swish});
    y = conv_norm_activation(net, next(), y, {.channels = form.channels, .activation = {}});
  }
  if (stride != 1 || in != form.channels) return y;
  return net.add("add", net.stochastic_depth("stochastic_depth", y), x);
}

void efficientnet(NetworkBuilder& net, double depth) {
  Operand x = net.image_input();
  {
    const auto scope = net.scope("features");
    x = conv_norm_activation(net, "0", x,
                             {.channels = 32, .kernel = 3, .stride = 2, .activation = swish});
    int index = 1;
    for (const EfficientStage& stage : stages) {
      const auto outer = net.scope(fmt::format("{}", index++));
      const int blocks = static_cast<int>(std::ceil(static_cast<double>(stage.blocks) * depth));
      for (int block = 0; block < blocks; ++block) {
        const auto inner = net.scope(fmt::format("{}", block));
        x = inverted_residual(net, x, stage, block == 0 ? stage.stride : 1);
      }
    }
    x = conv_norm_activation(net, fmt::format("{}", index), x,
                             {.channels = 1280, .activation = swish});
  }
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  const auto scope = net.scope("classifier");
  net.output(net.linear("1", net.dropout("0", x), net.settings().classes));
}

constexpr Workload row(std::string_view name, std::int64_t image, void (*build)(NetworkBuilder&)) {
  return {.name = name,
          .family = "efficientnet",
          .source = "torchvision",
          .address = "https://pytorch.org/vision/stable/models/efficientnet.html",
          .options = image_options,
          .image = image,
          .classes = 1000,
          .build = build};
}

}  // namespace efficientnet_parts

std::span<const Workload> efficientnet_workloads() {
  using namespace efficientnet_parts;
  static constexpr Workload rows[] = {
      row("efficientnet_b0", 224, [](NetworkBuilder& net) { efficientnet(net, 1.0); }),
      row("efficientnet_b1", 240, [](NetworkBuilder& net) { efficientnet(net, 1.1); }),
  };
  return rows;
}

}  // namespace ridgeline
