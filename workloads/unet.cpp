// U-Net as drawn in the paper: convolutions without padding, cropped copies across, 572 in and 388
// out. Many later versions pad, normalise and have other counts.
#include <fmt/format.h>

#include <vector>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace unet_parts {

constexpr int depth = 4;

Operand twice(NetworkBuilder& net, const std::string& name, Operand x, std::int64_t channels) {
  const auto scope = net.scope(name);
  x = net.relu("relu1", net.conv("conv1", x, channels, {.kernel = 3, .bias = true}));
  return net.relu("relu2", net.conv("conv2", x, channels, {.kernel = 3, .bias = true}));
}

Operand cropped(NetworkBuilder& net, const std::string& name, Operand x, Operand like) {
  return net.copy(
      name, "Slice", x,
      {net.dimension(x, 0), net.dimension(x, 1), net.dimension(like, 2), net.dimension(like, 3)});
}

void unet(NetworkBuilder& net) {
  Operand x = net.image_input(1);
  std::vector<Operand> kept;
  std::int64_t channels = 64;
  for (int level = 1; level <= depth; ++level, channels *= 2) {
    x = twice(net, fmt::format("down{}", level), x, channels);
    kept.push_back(x);
    x = net.max_pool(fmt::format("pool{}", level), x, {.kernel = 2, .stride = 2});
  }
  x = twice(net, "bottom", x, channels);
  for (int level = depth; level >= 1; --level) {
    channels /= 2;
    x = net.conv_transpose(fmt::format("up{}.upsample", level), x, channels,
                           {.kernel = 2, .stride = 2, .bias = true});
    const Operand copy = cropped(net, fmt::format("up{}.crop", level), kept.back(), x);
    kept.pop_back();
    x = net.concat(fmt::format("up{}.cat", level), {copy, x}, 1);
    x = twice(net, fmt::format("up{}", level), x, channels);
  }
  net.output(net.conv("out", x, net.settings().classes, {.bias = true}));
}

}  // namespace unet_parts

std::span<const Workload> unet_workloads() {
  using namespace unet_parts;
  static constexpr Workload rows[] = {{
      .name = "unet",
      .family = "unet",
      .source = "paper, Ronneberger 2015",
      .address = "https://arxiv.org/abs/1505.04597",
      .options = image_options,
      .image = 572,
      .classes = 2,
      .build = unet,
  }};
  return rows;
}

}  // namespace ridgeline
