// Swin-T: attention inside windows that shift from block to block.
// As in torchvision, which computes attention step by step; the shift mask is a constant here,
// since it depends on sizes only.
#include <fmt/format.h>

#include <array>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace swin_parts {

constexpr std::int64_t window = 7;
constexpr std::int64_t tokens = window * window;

std::int64_t whole_windows(std::int64_t side) { return (side + window - 1) / window; }

// [1, heads, tokens, tokens], looked up in the learned table.
Operand relative_position_bias(NetworkBuilder& net, std::int64_t heads) {
  const Operand table =
      net.parameter("relative_position_bias_table", {(2 * window - 1) * (2 * window - 1), heads});
  const Operand index =
      net.constant("relative_position_index", {tokens * tokens}, ElementType::int64);
  const Operand rows = net.gather("getitem", table, index);
  return net.transpose("permute", rows, {1, heads, tokens, tokens});
}

Operand window_attention(NetworkBuilder& net, Operand x, std::int64_t heads, bool shifts) {
  const auto scope = net.scope("attn");
  const Shape image = net.shape(x);
  const std::int64_t batch = image[0], width = image[3];
  const std::int64_t high = whole_windows(image[1]), wide = whole_windows(image[2]);
  const Shape padded{batch, high * window, wide * window, width};
  const bool rolls = shifts && (high > 1 || wide > 1);  // one window needs no shift

  AttentionOptions options{.heads = heads, .scales_query = true, .form = AttentionForm::eager};
  options.biases.push_back(relative_position_bias(net, heads));
  if (padded != image) x = net.copy("pad", "Pad", x, padded);
  if (rolls) {
    x = net.copy("roll", "Roll", x, padded);
    options.biases.push_back(net.constant("attn_mask", {high * wide, 1, tokens, tokens}));
  }
  x = net.transpose("partition", x, {batch * high * wide, tokens, width});
  x = net.linear("qkv", x, 3 * width);
  x = net.attention("attention", x, options);
  x = net.linear("proj", x, width);
  x = net.transpose("reverse", x, padded);
  if (rolls) x = net.copy("roll", "Roll", x, padded);
  return padded != image ? net.copy("slice", "Slice", x, image) : x;
}

Operand block(NetworkBuilder& net, Operand x, std::int64_t heads, bool shifts) {
  const std::int64_t width = net.dimension(x, -1);
  Operand y = window_attention(net, net.layer_norm("norm1", x), heads, shifts);
  x = net.add("add", x, net.stochastic_depth("stochastic_depth", y));
  y = net.layer_norm("norm2", x);
  {
    const auto scope = net.scope("mlp");
    y = net.linear("3", net.gelu("1", net.linear("0", y, 4 * width)), width);
  }
  return net.add("add", x, net.stochastic_depth("stochastic_depth", y));
}

// Four neighbours become one position of twice the width.
Operand patch_merging(NetworkBuilder& net, Operand x) {
  const Shape image = net.shape(x);
  const std::int64_t high = (image[1] + 1) / 2, wide = (image[2] + 1) / 2, width = image[3];
  if (image[1] % 2 != 0 || image[2] % 2 != 0)
    x = net.copy("pad", "Pad", x, {image[0], 2 * high, 2 * wide, width});
  x = net.copy("cat", "Concat", x, {image[0], high, wide, 4 * width});
  return net.linear("reduction", net.layer_norm("norm", x), 2 * width, false);
}

void swin_t(NetworkBuilder& net) {
  constexpr std::array<int, 4> depths = {2, 2, 6, 2};
  constexpr std::array<std::int64_t, 4> heads = {3, 6, 12, 24};
  Operand x = net.image_input();
  {
    const auto scope = net.scope("features");
    x = net.conv("0.0", x, 96, {.kernel = 4, .stride = 4, .bias = true});
    x = net.transpose("0.1", x,
                      {net.dimension(x, 0), net.dimension(x, 2), net.dimension(x, 3), 96});
    x = net.layer_norm("0.2", x);
    for (std::size_t stage = 0; stage < depths.size(); ++stage) {
      {
        const auto outer = net.scope(fmt::format("{}", 2 * stage + 1));
        for (int i = 0; i < depths[stage]; ++i) {
          const auto inner = net.scope(fmt::format("{}", i));
          x = block(net, x, heads[stage], i % 2 == 1);
        }
      }
      if (stage + 1 == depths.size()) break;
      const auto names = net.scope(fmt::format("{}", 2 * stage + 2));
      x = patch_merging(net, x);
    }
  }
  x = net.layer_norm("norm", x);
  x = net.transpose_view(
      "permute", x,
      {net.dimension(x, 0), net.dimension(x, 3), net.dimension(x, 1), net.dimension(x, 2)});
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  net.output(net.linear("head", x, net.settings().classes));
}

}  // namespace swin_parts

std::span<const Workload> swin_workloads() {
  using namespace swin_parts;
  static constexpr Workload rows[] = {{
      .name = "swin_t",
      .family = "swin",
      .source = "torchvision",
      .address = "https://pytorch.org/vision/stable/models/swin_transformer.html",
      .options = image_options,
      .image = 224,
      .classes = 1000,
      .build = swin_t,
  }};
  return rows;
}

}  // namespace ridgeline
