// VGG as in torchvision: stacks of 3x3 convolutions between poolings, without batch normalisation.
// Configurations A (11), D (16) and E (19).
#include <fmt/format.h>

#include <initializer_list>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace vgg_parts {

// Convolutions of each of the five stages.
void vgg(NetworkBuilder& net, std::initializer_list<int> depths) {
  Operand x = net.image_input();
  {
    const auto scope = net.scope("features");
    int index = 0;
    const auto next = [&] { return fmt::format("{}", index++); };
    std::int64_t channels = 64;
    for (const int depth : depths) {
      for (int i = 0; i < depth; ++i) {
        x = net.conv(next(), x, channels, {.kernel = 3, .padding = 1, .bias = true});
        x = net.relu(next(), x);
      }
      x = net.max_pool(next(), x, {.kernel = 2, .stride = 2});
      if (channels < 512) channels *= 2;
    }
  }
  x = net.flatten("flatten", net.adaptive_average_pool("avgpool", x, 7));
  const auto scope = net.scope("classifier");
  x = net.dropout("2", net.relu("1", net.linear("0", x, 4096)));
  x = net.dropout("5", net.relu("4", net.linear("3", x, 4096)));
  net.output(net.linear("6", x, net.settings().classes));
}

constexpr Workload row(std::string_view name, void (*build)(NetworkBuilder&)) {
  return {.name = name,
          .family = "vgg",
          .source = "torchvision",
          .address = "https://pytorch.org/vision/stable/models/vgg.html",
          .options = image_options,
          .image = 224,
          .classes = 1000,
          .build = build};
}

}  // namespace vgg_parts

std::span<const Workload> vgg_workloads() {
  using namespace vgg_parts;
  static constexpr Workload rows[] = {
      row("vgg11",
          [](NetworkBuilder& net) {
            vgg(net, {1, 1, 2, 2, 2});
          }),
      row("vgg16",
          [](NetworkBuilder& net) {
            vgg(net, {2, 2, 3, 3, 3});
          }),
      row("vgg19",
          [](NetworkBuilder& net) {
            vgg(net, {2, 2, 4, 4, 4});
          }),
  };
  return rows;
}

}  // namespace ridgeline
