// MaxViT-T: inverted residuals, then attention inside windows and across a grid of them.
// As in torchvision, which computes attention step by step.
#include <fmt/format.h>

#include <array>

#include "workloads/builder.h"
#include "workloads/families.h"
#include "workloads/mobile_blocks.h"

namespace ridgeline {
namespace maxvit_parts {

constexpr std::int64_t partition = 7;
constexpr std::int64_t tokens = partition * partition;
constexpr std::int64_t head_width = 32;

Operand inverted_residual(NetworkBuilder& net, Operand x, std::int64_t channels,
                          std::int64_t stride, bool drops) {
  const auto scope = net.scope("MBconv");
  Operand kept = x;
  if (stride != 1 || net.dimension(x, 1) != channels) {
    const auto names = net.scope("proj");
    if (stride == 2) kept = net.average_pool("0", kept, {.kernel = 3, .stride = 2, .padding = 1});
    kept = net.conv(stride == 2 ? "1" : "0", kept, channels, {.bias = true});
  }
  {
    const auto names = net.scope("layers");
    const std::int64_t wide = 4 * channels;
    x = net.batch_norm("pre_norm", x);
    x = conv_norm_activation(net, "conv_a", x, {.channels = wide, .activation = Function::gelu});
    x = conv_norm_activation(net, "conv_b", x,
                             {.channels = wide,
                              .kernel = 3,
                              .stride = stride,
                              .groups = wide,
                              .activation = Function::gelu});
    x = squeeze_excitation(net, "squeeze_excitation", x,
                           {.squeezed = channels / 4, .activation = Function::swish});
    x = net.conv("conv_c", x, channels, {.bias = true});
  }
  if (drops) x = net.stochastic_depth("stochastic_depth", x);
  return net.add("add", kept, x);
}

Operand relative_attention(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("1");
  const std::int64_t width = net.dimension(x, -1), heads = width / head_width;
  const Operand table = net.parameter("relative_position_bias_table",
                                      {(2 * partition - 1) * (2 * partition - 1), heads});
  const Operand index =
      net.constant("relative_position_index", {tokens * tokens}, ElementType::int64);
  const Operand bias =
      net.transpose("permute", net.gather("getitem", table, index), {1, heads, tokens, tokens});
  x = net.linear("to_qkv", x, 3 * width);
  x = net.attention(
      "attention", x,
      {.heads = heads, .biases = {bias}, .scales_query = true, .form = AttentionForm::eager});
  return net.linear("merge", x, width);
}

// A window holds neighbouring positions; a grid holds one position from each of its cells.
Operand partition_attention(NetworkBuilder& net, std::string_view name, Operand x, bool grid) {
  const auto scope = net.scope(name);
  const Shape image = net.shape(x);
  const std::int64_t batch = image[0], width = image[1];
  const Shape parts{batch, image[2] * image[3] / tokens, tokens, width};
  const Shape cells{batch, tokens, image[2] * image[3] / tokens, width};
  x = net.transpose("partition_op", x, grid ? cells : parts);
  if (grid) x = net.transpose("partition_swap", x, parts);
  Operand y = x;
  {
    const auto names = net.scope("attn_layer");
    y = relative_attention(net, net.layer_norm("0", y));
  }
  x = net.add("add", x, net.stochastic_depth("stochastic_dropout", y));
  {
    const auto names = net.scope("mlp_layer");
    y = net.linear("1", net.layer_norm("0", x), 4 * width);
    y = net.linear("3", net.gelu("2", y), width);
  }
  x = net.add("add", x, net.stochastic_depth("stochastic_dropout", y));
  if (grid) x = net.transpose_view("departition_swap", x, cells);
  return net.transpose("departition_op", x, image);
}

void maxvit_t(NetworkBuilder& net) {
  constexpr std::array<std::int64_t, 4> channels = {64, 128, 256, 512};
  constexpr std::array<int, 4> layers = {2, 2, 5, 2};
  Operand x = net.image_input();
  x = conv_norm_activation(
      net, "stem.0", x, {.channels = 64, .kernel = 3, .stride = 2, .activation = Function::gelu});
  x = net.conv("stem.1.0", x, 64, {.kernel = 3, .padding = 1, .bias = true});
  bool first = true;  // whose stochastic depth has probability 0
  for (std::size_t stage = 0; stage < channels.size(); ++stage)
    for (int i = 0; i < layers[stage]; ++i) {
      const auto names = net.scope(fmt::format("blocks.{}.layers.{}.layers", stage, i));
      x = inverted_residual(net, x, channels[stage], i == 0 ? 2 : 1, !first);
      if (net.dimension(x, 2) % partition != 0)
        net.refuse(fmt::format("an image of {0}x{0} leaves {1}x{1} positions, which do not divide "
                               "into windows of {2}x{2}",
                               net.settings().image, net.dimension(x, 2), partition),
                   "give an --image that is a multiple of 224");
      x = partition_attention(net, "window_attention", x, false);
      x = partition_attention(net, "grid_attention", x, true);
      first = false;
    }
  const auto scope = net.scope("classifier");
  x = net.flatten("1", net.global_average_pool("0", x));
  x = net.linear("3", net.layer_norm("2", x), channels.back());
  x = net.activation("4", x, Function::tanh);
  net.output(net.linear("5", x, net.settings().classes, false));
}

}  // namespace maxvit_parts

std::span<const Workload> maxvit_workloads() {
  using namespace maxvit_parts;
  static constexpr Workload rows[] = {{
      .name = "maxvit_t",
      .family = "maxvit",
      .source = "torchvision",
      .address = "https://pytorch.org/vision/stable/models/maxvit.html",
      .options = image_options,
      .image = 224,
      .classes = 1000,
      .build = maxvit_t,
  }};
  return rows;
}

}  // namespace ridgeline
