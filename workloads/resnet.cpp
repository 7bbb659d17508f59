// ResNet: residual blocks, plain or bottleneck, after torchvision ("v1.5": a bottleneck has its
// stride in the 3x3 convolution).
#include "workloads/resnet.h"

#include <fmt/format.h>

#include <array>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace resnet_parts {

// The block's input, fitted by a 1x1 convolution if sizes differ.
Operand shortcut(NetworkBuilder& net, Operand x, std::int64_t channels, std::int64_t stride,
                 bool frozen) {
  if (stride == 1 && net.dimension(x, 1) == channels) return x;
  const auto scope = net.scope("downsample");
  return net.batch_norm("1", net.conv("0", x, channels, {.stride = stride}), frozen);
}

Operand basic_block(NetworkBuilder& net, Operand x, std::int64_t channels, std::int64_t stride,
                    bool frozen) {
  Operand y = net.conv("conv1", x, channels, {.kernel = 3, .stride = stride, .padding = 1});
  y = net.relu("relu", net.batch_norm("bn1", y, frozen));
  y = net.conv("conv2", y, channels, {.kernel = 3, .padding = 1});
  y = net.batch_norm("bn2", y, frozen);
  return net.relu("relu", net.add("add", y, shortcut(net, x, channels, stride, frozen)));
}

Operand bottleneck(NetworkBuilder& net, Operand x, std::int64_t channels, std::int64_t stride,
                   const ResidualForm& form) {
  const std::int64_t width = channels * form.width_per_group / 64 * form.groups;
  const std::int64_t out = 4 * channels;
  const bool frozen = form.frozen_norm;
  Operand y = net.conv("conv1", x, width, {});
  y = net.relu("relu", net.batch_norm("bn1", y, frozen));
  y = net.conv("conv2", y, width,
               {.kernel = 3, .stride = stride, .padding = 1, .groups = form.groups});
  y = net.relu("relu", net.batch_norm("bn2", y, frozen));
  y = net.batch_norm("bn3", net.conv("conv3", y, out, {}), frozen);
  return net.relu("relu", net.add("add", y, shortcut(net, x, out, stride, frozen)));
}

void resnet(NetworkBuilder& net, const std::array<int, 4>& blocks, const ResidualForm& form) {
  Operand x = residual_stem(net, net.image_input(), form);
  std::int64_t channels = 64;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, channels *= 2)
    x = residual_stage(net, fmt::format("layer{}", stage + 1), x, channels, blocks[stage],
                       stage == 0 ? 1 : 2, form);
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  net.output(net.linear("fc", x, net.settings().classes));
}

constexpr Workload row(std::string_view name, void (*build)(NetworkBuilder&)) {
  return {.name = name,
          .family = "resnet",
          .source = "torchvision",
          .address = "https://pytorch.org/vision/stable/models/resnet.html",
          .options = image_options,
          .image = 224,
          .classes = 1000,
          .build = build};
}

}  // namespace resnet_parts

Operand residual_stem(NetworkBuilder& net, Operand x, const ResidualForm& form) {
  x = net.conv("conv1", x, 64, {.kernel = 7, .stride = 2, .padding = 3});
  x = net.relu("relu", net.batch_norm("bn1", x, form.frozen_norm));
  return net.max_pool("maxpool", x, {.kernel = 3, .stride = 2, .padding = 1});
}

Operand residual_stage(NetworkBuilder& net, std::string_view name, Operand x, std::int64_t channels,
                       int blocks, std::int64_t stride, const ResidualForm& form) {
  using namespace resnet_parts;
  const auto stage = net.scope(name);
  for (int block = 0; block < blocks; ++block) {
    const auto scope = net.scope(fmt::format("{}", block));
    const std::int64_t step = block == 0 ? stride : 1;
    x = form.bottleneck ? bottleneck(net, x, channels, step, form)
                        : basic_block(net, x, channels, step, form.frozen_norm);
  }
  return x;
}

std::span<const Workload> resnet_workloads() {
  using namespace resnet_parts;
  static constexpr Workload rows[] = {
      row("resnet18",
          [](NetworkBuilder& net) {
            resnet(net, {2, 2, 2, 2}, {});
          }),
      row("resnet34",
          [](NetworkBuilder& net) {
            resnet(net, {3, 4, 6, 3}, {});
          }),
      row("resnet50",
          [](NetworkBuilder& net) {
            resnet(net, {3, 4, 6, 3}, {.bottleneck = true});
          }),
      row("resnet101",
          [](NetworkBuilder& net) {
            resnet(net, {3, 4, 23, 3}, {.bottleneck = true});
          }),
  };
  return rows;
}

}  // namespace ridgeline
