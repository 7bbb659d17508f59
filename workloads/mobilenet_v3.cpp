// MobileNetV3, large and small, as in torchvision: inverted residuals with squeeze-and-excitation
// and hard activations.
#include <fmt/format.h>

#include "workloads/builder.h"
#include "workloads/families.h"
#include "workloads/mobile_blocks.h"

namespace ridgeline {
namespace mobilenet_v3_parts {

struct MobileBlock {
  std::int64_t kernel, expanded, channels;
  bool excites;
  Function activation;
  std::int64_t stride;
};

constexpr Function relu = Function::relu;
constexpr Function hard_swish = Function::hard_swish;

constexpr MobileBlock large[] = {
    {3, 16, 16, false, relu, 1},        {3, 64, 24, false, relu, 2},
    {3, 72, 24, false, relu, 1},        {5, 72, 40, true, relu, 2},
    {5, 120, 40, true, relu, 1},        {5, 120, 40, true, relu, 1},
    {3, 240, 80, false, hard_swish, 2}, {3, 200, 80, false, hard_swish, 1},
    {3, 184, 80, false, hard_swish, 1}, {3, 184, 80, false, hard_swish, 1},
    {3, 480, 112, true, hard_swish, 1}, {3, 672, 112, true, hard_swish, 1},
    {5, 672, 160, true, hard_swish, 2}, {5, 960, 160, true, hard_swish, 1},
    {5, 960, 160, true, hard_swish, 1},
};

constexpr MobileBlock small[] = {
    {3, 16, 16, true, relu, 2},        {3, 72, 24, false, relu, 2},
    {3, 88, 24, false, relu, 1},       {5, 96, 40, true, hard_swish, 2},
    {5, 240, 40, true, hard_swish, 1}, {5, 240, 40, true, hard_swish, 1},
    {5, 120, 48, true, hard_swish, 1}, {5, 144, 48, true, hard_swish, 1},
    {5, 288, 96, true, hard_swish, 2}, {5, 576, 96, true, hard_swish, 1},
    {5, 576, 96, true, hard_swish, 1},
};

Operand inverted_residual(NetworkBuilder& net, Operand x, const MobileBlock& form) {
  const std::int64_t in = net.dimension(x, 1);
  Operand y = x;
  {
    const auto scope = net.scope("block");
    int index = 0;
    const auto next = [&] { return fmt::format("{}", index++); };
    if (form.expanded != in)
      y = conv_norm_activation(net, next(), y,
                               {.channels = form.expanded, .activation = form.activation});
    y = conv_norm_activation(net, next(), y,
                             {.channels = form.expanded,
                              .kernel = form.kernel,
                              .stride = form.stride,
                              .groups = form.expanded,
                              .activation = form.activation});
    if (form.excites)
      y = squeeze_excitation(net, next(), y,
                             {.squeezed = rounded_channels(static_cast<double>(form.expanded) / 4),
                              .gate = Function::hard_sigmoid});
    y = conv_norm_activation(net, next(), y, {.channels = form.channels, .activation = {}});
  }
  return form.stride == 1 && in == form.channels ? net.add("add", y, x) : y;
}

void mobilenet_v3(NetworkBuilder& net, std::span<const MobileBlock> blocks, std::int64_t last) {
  Operand x = net.image_input();
  {
    const auto scope = net.scope("features");
    x = conv_norm_activation(net, "0", x,
                             {.channels = 16, .kernel = 3, .stride = 2, .activation = hard_swish});
    int index = 1;
    for (const MobileBlock& block : blocks) {
      const auto names = net.scope(fmt::format("{}", index++));
      x = inverted_residual(net, x, block);
    }
    x = conv_norm_activation(net, fmt::format("{}", index), x,
                             {.channels = 6 * blocks.back().channels, .activation = hard_swish});
  }
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  const auto scope = net.scope("classifier");
  x = net.activation("1", net.linear("0", x, last), hard_swish);
  net.output(net.linear("3", net.dropout("2", x), net.settings().classes));
}

constexpr Workload row(std::string_view name, void (*build)(NetworkBuilder&)) {
  return {.name = name,
          .family = "mobilenet_v3",
          .source = "torchvision",
          .address = "https://pytorch.org/vision/stable/models/mobilenetv3.html",
          .options = image_options,
          .image = 224,
          .classes = 1000,
          .build = build};
}

}  // namespace mobilenet_v3_parts

std::span<const Workload> mobilenet_v3_workloads() {
  using namespace mobilenet_v3_parts;
  static constexpr Workload rows[] = {
      row("mobilenet_v3_small", [](NetworkBuilder& net) { mobilenet_v3(net, small, 1024); }),
      row("mobilenet_v3_large", [](NetworkBuilder& net) { mobilenet_v3(net, large, 1280); }),
  };
  return rows;
}

}  // namespace ridgeline
