// The networks of edge-train-bench, with which DREAM:Lab measured training on Jetson boards: a
// MobileNetV3-Large, a ResNet-18 for images of 32x32 and a LeNet. They differ from torchvision's
// where it matters for time: hard activations are four kernels instead of one, convolutions have
// biases, a projection ends with an activation, and ResNet-18 normalises each image by itself.
#include <fmt/format.h>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace dreamlab_parts {

// relu6(x + 3) / 6, written step by step.
Operand hard_sigmoid(NetworkBuilder& net, std::string_view name, Operand x) {
  const auto scope = net.scope(name);
  x = net.add("add", x, net.constant("add.number", {}));
  x = net.activation("relu6", x, Function::clip);
  return net.combine("div", x, net.constant("div.number", {}), Function::divide);
}

Operand hard_swish(NetworkBuilder& net, std::string_view name, Operand x) {
  const Operand gate = hard_sigmoid(net, name, x);
  const auto scope = net.scope(name);
  return net.multiply("mul", gate, x);
}

enum class Activation { relu, hard_swish };

Operand activated(NetworkBuilder& net, std::string_view name, Operand x, Activation activation) {
  return activation == Activation::relu ? net.relu(name, x) : hard_swish(net, name, x);
}

// The mean of each channel, by a window as large as the image.
Operand mean_of_channels(NetworkBuilder& net, std::string_view name, Operand x) {
  const Extent image(net.dimension(x, 2), net.dimension(x, 3));
  return net.average_pool(name, x, {.kernel = image, .stride = image});
}

Operand squeeze_block(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("squeeze_block");
  const std::int64_t batch = net.dimension(x, 0), channels = net.dimension(x, 1);
  Operand weight = net.reshape("view", mean_of_channels(net, "avg_pool2d", x), {batch, channels});
  {
    const auto dense = net.scope("dense");
    weight = net.relu("1", net.linear("0", weight, channels / 4));
    weight = hard_sigmoid(net, "3", net.linear("2", weight, channels));
  }
  return net.multiply("mul", net.reshape("view", weight, {batch, channels, 1, 1}), x);
}

struct MobileBlock {
  std::int64_t channels, kernel, stride;
  Activation activation;
  bool squeezes;
  std::int64_t expanded;
};

constexpr Activation relu = Activation::relu, hard = Activation::hard_swish;

// The last stage has its stride in the second block, where torchvision has it in the first, and
// the second block is narrower.
constexpr MobileBlock mobile_blocks[] = {
    {16, 3, 1, relu, false, 16},  {24, 3, 2, relu, false, 64},  {24, 3, 1, relu, false, 72},
    {40, 5, 2, relu, true, 72},   {40, 5, 1, relu, true, 120},  {40, 5, 1, relu, true, 120},
    {80, 3, 2, hard, false, 240}, {80, 3, 1, hard, false, 200}, {80, 3, 1, hard, false, 184},
    {80, 3, 1, hard, false, 184}, {112, 3, 1, hard, true, 480}, {112, 3, 1, hard, true, 672},
    {160, 5, 1, hard, true, 672}, {160, 5, 2, hard, true, 672}, {160, 5, 1, hard, true, 960},
};

// Every block expands, even the first; nothing activates the depthwise convolution.
Operand mobile_block(NetworkBuilder& net, Operand x, const MobileBlock& form) {
  const std::int64_t in = net.dimension(x, 1);
  Operand y = x;
  {
    const auto scope = net.scope("conv");
    y = net.batch_norm("1", net.conv("0", y, form.expanded, {}));
    y = activated(net, "2", y, form.activation);
  }
  {
    const auto scope = net.scope("depth_conv");
    y = net.conv("0", y, form.expanded,
                 {.kernel = form.kernel,
                  .stride = form.stride,
                  .padding = (form.kernel - 1) / 2,
                  .groups = form.expanded,
                  .bias = true});
    y = net.batch_norm("1", y);
  }
  if (form.squeezes) y = squeeze_block(net, y);
  {
    const auto scope = net.scope("point_conv");
    y = net.batch_norm("1", net.conv("0", y, form.channels, {.bias = true}));
    y = activated(net, "2", y, form.activation);
  }
  return form.stride == 1 && in == form.channels ? net.add("add", x, y) : y;
}

void mobilenet_v3_large(NetworkBuilder& net) {
  Operand x = net.image_input();
  {
    const auto scope = net.scope("init_conv");
    x = net.conv("0", x, 16, {.kernel = 3, .stride = 2, .padding = 1, .bias = true});
    x = hard_swish(net, "2", net.batch_norm("1", x));
  }
  int index = 0;
  for (const MobileBlock& form : mobile_blocks) {
    const auto scope = net.scope(fmt::format("block.{}", index++));
    x = mobile_block(net, x, form);
  }
  {
    const auto scope = net.scope("out_conv1");
    x = net.batch_norm("1", net.conv("0", x, 960, {.bias = true}));
    x = hard_swish(net, "2", x);
  }
  x = mean_of_channels(net, "avg_pool2d", x);
  {
    const auto scope = net.scope("out_conv2");
    x = hard_swish(net, "1", net.conv("0", x, 1280, {.bias = true}));
    x = net.conv("3", net.dropout("2", x), net.settings().classes, {.bias = true});
  }
  net.output(net.reshape("view", x, {net.dimension(x, 0), net.dimension(x, 1)}));
}

// Group normalisation with one channel per group.
Operand image_norm(NetworkBuilder& net, std::string_view name, Operand x) {
  return net.group_norm(name, x, net.dimension(x, 1));
}

Operand basic_block(NetworkBuilder& net, Operand x, std::int64_t channels, std::int64_t stride) {
  Operand y = net.conv("conv1", x, channels, {.kernel = 3, .stride = stride, .padding = 1});
  y = net.relu("relu", image_norm(net, "bn1", y));
  y = image_norm(net, "bn2", net.conv("conv2", y, channels, {.kernel = 3, .padding = 1}));
  if (stride != 1 || net.dimension(x, 1) != channels) {
    const auto scope = net.scope("shortcut");
    x = image_norm(net, "1", net.conv("0", x, channels, {.stride = stride}));
  }
  return net.relu("relu", net.add("add", y, x));
}

void resnet18(NetworkBuilder& net) {
  Operand x = net.image_input();
  x = net.conv("conv1", x, 64, {.kernel = 3, .padding = 1});
  x = net.relu("relu", image_norm(net, "bn1", x));
  std::int64_t channels = 64;
  for (int stage = 1; stage <= 4; ++stage, channels *= 2)
    for (int block = 0; block < 2; ++block) {
      const auto scope = net.scope(fmt::format("layer{}.{}", stage, block));
      x = basic_block(net, x, channels, stage > 1 && block == 0 ? 2 : 1);
    }
  x = net.flatten("view", net.average_pool("avg_pool2d", x, {.kernel = 4, .stride = 4}));
  net.output(net.linear("classifier", x, net.settings().classes));
}

void lenet5(NetworkBuilder& net) {
  Operand x = net.image_input(1);
  {
    const auto scope = net.scope("features");
    x = net.relu("1", net.conv("0", x, 6, {.kernel = 5, .padding = 2, .bias = true}));
    x = net.max_pool("2", x, {.kernel = 2, .stride = 2});
    x = net.relu("4", net.conv("3", x, 16, {.kernel = 5, .bias = true}));
    x = net.max_pool("5", x, {.kernel = 2, .stride = 2});
  }
  x = net.flatten("view", x);
  x = net.relu("relu", net.linear("fc_1", x, 120));
  x = net.relu("relu", net.linear("fc_2", x, 84));
  net.output(net.linear("fc_3", x, net.settings().classes));
}

// The classes are those of the dataset that each was trained on.
constexpr Workload row(std::string_view name, const OptionSet& options, std::int64_t image,
                       std::int64_t classes, void (*build)(NetworkBuilder&)) {
  return {.name = name,
          .family = "dreamlab",
          .source = "edge-train-bench",
          .address = "https://github.com/dream-lab/edge-train-bench/tree/sigmetrics-2023",
          .options = options,
          .image = image,
          .classes = classes,
          .build = build};
}

// Fully connected layers fit one image size only.
constexpr OptionSet fixed_image_options = {WorkloadOption::batch, WorkloadOption::dtype,
                                           WorkloadOption::precision, WorkloadOption::classes};

}  // namespace dreamlab_parts

std::span<const Workload> dreamlab_workloads() {
  using namespace dreamlab_parts;
  static constexpr Workload rows[] = {
      row("mobilenet_v3_large_dreamlab", image_options, 224, 203, mobilenet_v3_large),
      row("resnet18_dreamlab", fixed_image_options, 32, 10, resnet18),
      row("lenet5_dreamlab", fixed_image_options, 28, 10, lenet5),
  };
  return rows;
}

}  // namespace ridgeline
