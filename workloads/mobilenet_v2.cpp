// MobileNetV2 as in torchvision: inverted residuals, expanded by six, with a linear end.
// Activations are ReLU6.
#include <fmt/format.h>

#include "workloads/builder.h"
#include "workloads/families.h"
#include "workloads/mobile_blocks.h"

namespace ridgeline {
namespace mobilenet_v2_parts {

constexpr Function relu6 = Function::clip;

Operand inverted_residual(NetworkBuilder& net, Operand x, std::int64_t channels,
                          std::int64_t stride, std::int64_t expansion) {
  const std::int64_t in = net.dimension(x, 1), hidden = in * expansion;
  Operand y = x;
  {
    const auto scope = net.scope("conv");
    int index = 0;
    const auto next = [&] { return fmt::format("{}", index++); };
    if (expansion != 1)
      y = conv_norm_activation(net, next(), y, {.channels = hidden, .activation = relu6});
    y = conv_norm_activation(
        net, next(), y,
        {.channels = hidden, .kernel = 3, .stride = stride, .groups = hidden, .activation = relu6});
    y = net.conv(next(), y, channels, {});
    y = net.batch_norm(next(), y);
  }
  return stride == 1 && in == channels ? net.add("add", x, y) : y;
}

void mobilenet_v2(NetworkBuilder& net) {
  struct Stage {
    std::int64_t expansion, channels, blocks, stride;
  };
  constexpr Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                              {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  Operand x = net.image_input();
  {
    const auto scope = net.scope("features");
    x = conv_norm_activation(net, "0", x,
                             {.channels = 32, .kernel = 3, .stride = 2, .activation = relu6});
    int index = 1;
    for (const Stage& stage : stages)
      for (std::int64_t block = 0; block < stage.blocks; ++block) {
        const auto names = net.scope(fmt::format("{}", index++));
        x = inverted_residual(net, x, stage.channels, block == 0 ? stage.stride : 1,
                              stage.expansion);
      }
    x = conv_norm_activation(net, fmt::format("{}", index), x,
                             {.channels = 1280, .activation = relu6});
  }
  x = net.flatten("flatten", net.global_average_pool("adaptive_avg_pool2d", x));
  const auto scope = net.scope("classifier");
  net.output(net.linear("1", net.dropout("0", x), net.settings().classes));
}

}  // namespace mobilenet_v2_parts

std::span<const Workload> mobilenet_v2_workloads() {
  using namespace mobilenet_v2_parts;
  static constexpr Workload rows[] = {{
      .name = "mobilenet_v2",
      .family = "mobilenet_v2",
      .source = "torchvision",
      .address = "https://pytorch.org/vision/stable/models/mobilenetv2.html",
      .options = image_options,
      .image = 224,
      .classes = 1000,
      .build = mobilenet_v2,
  }};
  return rows;
}

}  // namespace ridgeline
