// SqueezeNet 1.1 as in torchvision: fire modules that squeeze channels and expand them again.
// The classifier is a convolution.
#include <fmt/format.h>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace squeezenet_parts {

Operand fire(NetworkBuilder& net, int index, Operand x, std::int64_t squeezed,
             std::int64_t expanded) {
  const auto scope = net.scope(fmt::format("{}", index));
  x = net.relu("squeeze_activation", net.conv("squeeze", x, squeezed, {.bias = true}));
  const Operand one =
      net.relu("expand1x1_activation", net.conv("expand1x1", x, expanded, {.bias = true}));
  const Operand three =
      net.relu("expand3x3_activation",
               net.conv("expand3x3", x, expanded, {.kernel = 3, .padding = 1, .bias = true}));
  return net.concat("cat", {one, three}, 1);
}

Operand features(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("features");
  const PoolOptions overlapping{.kernel = 3, .stride = 2, .ceil = true};
  x = net.relu("1", net.conv("0", x, 64, {.kernel = 3, .stride = 2, .bias = true}));
  x = net.max_pool("2", x, overlapping);
  x = fire(net, 4, fire(net, 3, x, 16, 64), 16, 64);
  x = net.max_pool("5", x, overlapping);
  x = fire(net, 7, fire(net, 6, x, 32, 128), 32, 128);
  x = net.max_pool("8", x, overlapping);
  x = fire(net, 10, fire(net, 9, x, 48, 192), 48, 192);
  return fire(net, 12, fire(net, 11, x, 64, 256), 64, 256);
}

void squeezenet1_1(NetworkBuilder& net) {
  Operand x = features(net, net.image_input());
  {
    const auto scope = net.scope("classifier");
    x = net.conv("1", net.dropout("0", x), net.settings().classes, {.bias = true});
    x = net.global_average_pool("3", net.relu("2", x));
  }
  net.output(net.flatten("flatten", x));
}

}  // namespace squeezenet_parts

std::span<const Workload> squeezenet_workloads() {
  using namespace squeezenet_parts;
  static constexpr Workload rows[] = {{
      .name = "squeezenet1_1",
      .family = "squeezenet",
      .source = "torchvision",
      .address = "https://pytorch.org/vision/stable/models/squeezenet.html",
      .options = image_options,
      .image = 224,
      .classes = 1000,
      .build = squeezenet1_1,
  }};
  return rows;
}

}  // namespace ridgeline
