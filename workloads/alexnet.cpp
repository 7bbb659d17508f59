// AlexNet as in torchvision: one tower, no local response normalisation.
// The two-tower original of 2012 has grouped convolutions and different counts.
#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace alexnet_parts {

Operand features(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("features");
  x = net.conv("0", x, 64, {.kernel = 11, .stride = 4, .padding = 2, .bias = true});
  x = net.max_pool("2", net.relu("1", x), {.kernel = 3, .stride = 2});
  x = net.conv("3", x, 192, {.kernel = 5, .padding = 2, .bias = true});
  x = net.max_pool("5", net.relu("4", x), {.kernel = 3, .stride = 2});
  x = net.relu("7", net.conv("6", x, 384, {.kernel = 3, .padding = 1, .bias = true}));
  x = net.relu("9", net.conv("8", x, 256, {.kernel = 3, .padding = 1, .bias = true}));
  x = net.relu("11", net.conv("10", x, 256, {.kernel = 3, .padding = 1, .bias = true}));
  return net.max_pool("12", x, {.kernel = 3, .stride = 2});
}

void alexnet(NetworkBuilder& net) {
  Operand x = features(net, net.image_input());
  x = net.flatten("flatten", net.adaptive_average_pool("avgpool", x, 6));
  const auto scope = net.scope("classifier");
  x = net.relu("2", net.linear("1", net.dropout("0", x), 4096));
  x = net.relu("5", net.linear("4", net.dropout("3", x), 4096));
  net.output(net.linear("6", x, net.settings().classes));
}

}  // namespace alexnet_parts

std::span<const Workload> alexnet_workloads() {
  using namespace alexnet_parts;
  static constexpr Workload rows[] = {{
      .name = "alexnet",
      .family = "alexnet",
      .source = "torchvision",
      .address = "https://pytorch.org/vision/stable/models/alexnet.html",
      .options = image_options,
      .image = 224,
      .classes = 1000,
      .build = alexnet,
  }};
  return rows;
}

}  // namespace ridgeline
