// MobileViT-S: inverted residuals, and transformers over the positions of 2x2 patches.
// After timm's implementation of the paper (arXiv 2110.02178); Hugging Face's apple/mobilevit-small
// has the same sizes.
#include <fmt/format.h>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace mobilevit_parts {

Operand unit(NetworkBuilder& net, std::string_view name, Operand x, std::int64_t channels,
             const ConvolutionOptions& options, bool active = true) {
  const auto scope = net.scope(name);
  x = net.batch_norm("bn", net.conv("conv", x, channels, options));
  return active ? net.swish("bn.act", x) : x;
}

Operand inverted_residual(NetworkBuilder& net, std::string_view name, Operand x,
                          std::int64_t channels, std::int64_t stride) {
  const auto scope = net.scope(name);
  const std::int64_t in = net.dimension(x, 1), wide = 4 * in;
  Operand y = unit(net, "conv1_1x1", x, wide, {});
  y = unit(net, "conv2_kxk", y, wide,
           {.kernel = 3, .stride = stride, .padding = 1, .groups = wide});
  y = unit(net, "conv3_1x1", y, channels, {}, false);
  return stride == 1 && in == channels ? net.add("add", y, x) : y;
}

Operand transformer_layer(NetworkBuilder& net, Operand x) {
  const std::int64_t width = net.dimension(x, -1);
  Operand y = net.layer_norm("norm1", x);
  {
    const auto scope = net.scope("attn");
    y = net.linear("qkv", y, 3 * width);
    y = net.linear("proj", net.attention("attention", y, {.heads = 4}), width);
  }
  x = net.add("add", x, y);
  y = net.layer_norm("norm2", x);
  {
    const auto scope = net.scope("mlp");
    y = net.linear("fc2", net.swish("act", net.linear("fc1", y, 2 * width)), width);
  }
  return net.add("add", x, y);
}

Operand transformer_block(NetworkBuilder& net, std::string_view name, Operand x, std::int64_t width,
                          int layers) {
  const auto scope = net.scope(name);
  const Operand before = x;
  const std::int64_t batch = net.dimension(x, 0), channels = net.dimension(x, 1);
  x = unit(net, "conv_kxk", x, channels, {.kernel = 3, .padding = 1});
  x = net.conv("conv_1x1", x, width, {});

  // Patches of 2x2 need even sides.
  const Extent image(net.dimension(x, 2), net.dimension(x, 3));
  const Extent even((image.height + 1) / 2 * 2, (image.width + 1) / 2 * 2);
  const bool resizes = even.height != image.height || even.width != image.width;
  if (resizes) x = net.resize("interpolate", x, even, Interpolation::linear);
  const std::int64_t patches = even.height / 2 * (even.width / 2);
  const Shape rows{batch * width * (even.height / 2), even.width / 2, 2, 2};
  x = net.transpose("transpose", x, rows);
  x = net.transpose("transpose", x, {batch * 4, patches, width});
  for (int layer = 0; layer < layers; ++layer) {
    const auto names = net.scope(fmt::format("transformer.{}", layer));
    x = transformer_layer(net, x);
  }
  x = net.layer_norm("norm", x);
  x = net.transpose("transpose", x, rows);
  x = net.transpose("transpose", x, {batch, width, even.height, even.width});
  if (resizes) x = net.resize("interpolate", x, image, Interpolation::linear);

  x = unit(net, "conv_proj", x, channels, {});
  x = net.concat("cat", {before, x}, 1);
  return unit(net, "conv_fusion", x, channels, {.kernel = 3, .padding = 1});
}

void mobilevit_s(NetworkBuilder& net) {
  Operand x = unit(net, "stem", net.image_input(), 16, {.kernel = 3, .stride = 2, .padding = 1});
  {
    const auto scope = net.scope("stages");
    x = inverted_residual(net, "0.0", x, 32, 1);
    x = inverted_residual(net, "1.0", x, 64, 2);
    x = inverted_residual(net, "1.1", x, 64, 1);
    x = inverted_residual(net, "1.2", x, 64, 1);
    x = inverted_residual(net, "2.0", x, 96, 2);
    x = transformer_block(net, "2.1", x, 144, 2);
    x = inverted_residual(net, "3.0", x, 128, 2);
    x = transformer_block(net, "3.1", x, 192, 4);
    x = inverted_residual(net, "4.0", x, 160, 2);
    x = transformer_block(net, "4.1", x, 240, 3);
  }
  x = unit(net, "final_conv", x, 640, {});
  const auto scope = net.scope("head");
  x = net.flatten("global_pool.flatten", net.global_average_pool("global_pool.pool", x));
  net.output(net.linear("fc", x, net.settings().classes));
}

}  // namespace mobilevit_parts

std::span<const Workload> mobilevit_workloads() {
  using namespace mobilevit_parts;
  static constexpr Workload rows[] = {{
      .name = "mobilevit_s",
      .family = "mobilevit",
      .source = "timm",
      .address = "https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/"
                 "mobilevit.py",
      .options = image_attention_options,
      .image = 256,
      .classes = 1000,
      .build = mobilevit_s,
  }};
  return rows;
}

}  // namespace ridgeline
