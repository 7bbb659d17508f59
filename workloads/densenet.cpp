// DenseNet-121 as in torchvision: each layer takes the concatenation of all layers before it.
// Activations precede their convolutions, so the first batch normalisation of a layer cannot be
// folded.
#include <fmt/format.h>

#include <array>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace densenet_parts {

constexpr std::int64_t growth = 32;

Operand dense_layer(NetworkBuilder& net, int index, const std::vector<Operand>& before) {
  const auto scope = net.scope(fmt::format("denselayer{}", index + 1));
  Operand x = net.concat("cat", before, 1);  // torch copies even a single one
  x = net.relu("relu1", net.batch_norm("norm1", x));
  x = net.conv("conv1", x, 4 * growth, {});
  x = net.relu("relu2", net.batch_norm("norm2", x));
  return net.conv("conv2", x, growth, {.kernel = 3, .padding = 1});
}

Operand dense_block(NetworkBuilder& net, int index, Operand x, int layers) {
  const auto scope = net.scope(fmt::format("denseblock{}", index + 1));
  std::vector<Operand> all{x};
  for (int layer = 0; layer < layers; ++layer) all.push_back(dense_layer(net, layer, all));
  return net.concat("cat", all, 1);
}

Operand transition(NetworkBuilder& net, int index, Operand x) {
  const auto scope = net.scope(fmt::format("transition{}", index + 1));
  x = net.relu("relu", net.batch_norm("norm", x));
  x = net.conv("conv", x, net.dimension(x, 1) / 2, {});
  return net.average_pool("pool", x, {.kernel = 2, .stride = 2});
}

void densenet121(NetworkBuilder& net) {
  constexpr std::array layers = {6, 12, 24, 16};
  Operand x = net.image_input();
  {
    const auto scope = net.scope("features");
    x = net.conv("conv0", x, 64, {.kernel = 7, .stride = 2, .padding = 3});
    x = net.relu("relu0", net.batch_norm("norm0", x));
    x = net.max_pool("pool0", x, {.kernel = 3, .stride = 2, .padding = 1});
    for (int block = 0; block < 4; ++block) {
      x = dense_block(net, block, x, layers[static_cast<std::size_t>(block)]);
      if (block < 3) x = transition(net, block, x);
    }
    x = net.batch_norm("norm5", x);
  }
  x = net.global_average_pool("avgpool", net.relu("relu", x));
  x = net.flatten("flatten", x);
  net.output(net.linear("classifier", x, net.settings().classes));
}

}  // namespace densenet_parts

std::span<const Workload> densenet_workloads() {
  using namespace densenet_parts;
  static constexpr Workload rows[] = {{
      .name = "densenet121",
      .family = "densenet",
      .source = "torchvision",
      .address = "https://pytorch.org/vision/stable/models/densenet.html",
      .options = image_options,
      .image = 224,
      .classes = 1000,
      .build = densenet121,
  }};
  return rows;
}

}  // namespace ridgeline
