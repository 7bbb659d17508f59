// Vision transformers ViT-B/16, ViT-B/32 and ViT-L/16.
// As in torchvision, whose attention is torch's module with one packed projection.
#include <fmt/format.h>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace vision_transformer_parts {

struct VisionForm {
  std::int64_t patch, layers, heads, width, hidden;
};

Operand encoder_layer(NetworkBuilder& net, Operand x, const VisionForm& form) {
  Operand y = net.layer_norm("ln_1", x);
  net.bookkeeping(
      3);  // the check of the input's rank: comparison, shape for its message, assertion
  {
    const auto module = net.module("self_attention");
    y = net.linear("in_proj", y, 3 * form.width);
    y = net.attention("attention", y, {.heads = form.heads});
    y = net.linear("out_proj", y, form.width);
  }
  y = net.dropout("dropout", y);
  net.bookkeeping(2);  // unpacks the attention's two results
  x = net.add("add", y, x);
  y = net.layer_norm("ln_2", x);
  {
    const auto scope = net.scope("mlp");
    y = net.dropout("2", net.gelu("1", net.linear("0", y, form.hidden)));
    y = net.dropout("4", net.linear("3", y, form.width));
  }
  return net.add("add", x, y);
}

void vision_transformer(NetworkBuilder& net, const VisionForm& form) {
  const Settings& settings = net.settings();
  if (settings.image % form.patch != 0)
    net.refuse(fmt::format("an image of {0}x{0} does not divide into patches of {1}x{1}",
                           settings.image, form.patch),
               fmt::format("give an --image that is a multiple of {}", form.patch));
  Operand x = net.conv("conv_proj", net.image_input(), form.width,
                       {.kernel = form.patch, .stride = form.patch, .bias = true});
  // The image's shape and its four sizes, two checks (comparison, assertion), rows, columns and
  // number of patches.
  net.bookkeeping(5 + 4 + 3);
  const std::int64_t patches = net.dimension(x, 2) * net.dimension(x, 3);
  x = net.reshape("reshape", x, {settings.batch, form.width, patches});
  x = net.transpose_view("permute", x, {settings.batch, patches, form.width});
  net.bookkeeping(2);  // the batch: shape and its first size
  // One class token precedes the patches of every image.
  const Operand token =
      net.layer("expand", "Expand", View{}, {net.parameter("class_token", {1, 1, form.width})},
                {settings.batch, 1, form.width});
  x = net.concat("cat", {token, x}, 1);
  {
    const auto scope = net.scope("encoder");
    x = net.add("add", x, net.parameter("pos_embedding", {1, patches + 1, form.width}));
    net.bookkeeping(3);  // as in each layer
    x = net.dropout("dropout", x);
    for (std::int64_t layer = 0; layer < form.layers; ++layer) {
      const auto names = net.scope(fmt::format("layers.encoder_layer_{}", layer));
      x = encoder_layer(net, x, form);
    }
    x = net.layer_norm("ln", x);
  }
  x = net.layer("getitem", "Slice", View{}, {x}, {settings.batch, form.width});
  net.output(net.linear("heads.head", x, settings.classes));
}

constexpr Workload row(std::string_view name, void (*build)(NetworkBuilder&)) {
  return {.name = name,
          .family = "vit",
          .source = "torchvision",
          .address = "https://pytorch.org/vision/stable/models/vision_transformer.html",
          .options = image_attention_options,
          .image = 224,
          .classes = 1000,
          .build = build};
}

}  // namespace vision_transformer_parts

std::span<const Workload> vision_transformer_workloads() {
  using namespace vision_transformer_parts;
  static constexpr Workload rows[] = {
      row("vit_b_16",
          [](NetworkBuilder& net) {
            vision_transformer(net, {16, 12, 12, 768, 3072});
          }),
      row("vit_b_32",
          [](NetworkBuilder& net) {
            vision_transformer(net, {32, 12, 12, 768, 3072});
          }),
      row("vit_l_16",
          [](NetworkBuilder& net) {
            vision_transformer(net, {16, 24, 16, 1024, 4096});
          }),
  };
  return rows;
}

}  // namespace ridgeline
