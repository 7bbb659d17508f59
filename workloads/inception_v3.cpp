// Inception v3: blocks of parallel branches with factorised convolutions.
// As in torchvision at inference, without the auxiliary classifier, which only training runs.
#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace inception_v3_parts {

constexpr ConvolutionOptions one_by_one{};
constexpr ConvolutionOptions three{.kernel = 3, .padding = 1};
constexpr ConvolutionOptions wide{.kernel = {1, 7}, .padding = {0, 3}};
constexpr ConvolutionOptions tall{.kernel = {7, 1}, .padding = {3, 0}};
constexpr ConvolutionOptions shrinking{.kernel = 3, .stride = 2};

Operand unit(NetworkBuilder& net, std::string_view name, Operand x, std::int64_t channels,
             const ConvolutionOptions& options) {
  const auto scope = net.scope(name);
  return net.relu("relu", net.batch_norm("bn", net.conv("conv", x, channels, options)));
}

Operand pooled(NetworkBuilder& net, Operand x, std::int64_t channels) {
  x = net.average_pool("avg_pool2d", x, {.kernel = 3, .stride = 1, .padding = 1});
  return unit(net, "branch_pool", x, channels, one_by_one);
}

Operand block_a(NetworkBuilder& net, std::string_view name, Operand x, std::int64_t pool) {
  const auto scope = net.scope(name);
  const Operand one = unit(net, "branch1x1", x, 64, one_by_one);
  Operand five = unit(net, "branch5x5_1", x, 48, one_by_one);
  five = unit(net, "branch5x5_2", five, 64, {.kernel = 5, .padding = 2});
  Operand twice = unit(net, "branch3x3dbl_1", x, 64, one_by_one);
  twice = unit(net, "branch3x3dbl_2", twice, 96, three);
  twice = unit(net, "branch3x3dbl_3", twice, 96, three);
  return net.concat("cat", {one, five, twice, pooled(net, x, pool)}, 1);
}

Operand block_b(NetworkBuilder& net, std::string_view name, Operand x) {
  const auto scope = net.scope(name);
  const Operand once = unit(net, "branch3x3", x, 384, shrinking);
  Operand twice = unit(net, "branch3x3dbl_1", x, 64, one_by_one);
  twice = unit(net, "branch3x3dbl_2", twice, 96, three);
  twice = unit(net, "branch3x3dbl_3", twice, 96, shrinking);
  const Operand pool = net.max_pool("max_pool2d", x, {.kernel = 3, .stride = 2});
  return net.concat("cat", {once, twice, pool}, 1);
}

Operand block_c(NetworkBuilder& net, std::string_view name, Operand x, std::int64_t width) {
  const auto scope = net.scope(name);
  const Operand one = unit(net, "branch1x1", x, 192, one_by_one);
  Operand once = unit(net, "branch7x7_1", x, width, one_by_one);
  once = unit(net, "branch7x7_2", once, width, wide);
  once = unit(net, "branch7x7_3", once, 192, tall);
  Operand twice = unit(net, "branch7x7dbl_1", x, width, one_by_one);
  twice = unit(net, "branch7x7dbl_2", twice, width, tall);
  twice = unit(net, "branch7x7dbl_3", twice, width, wide);
  twice = unit(net, "branch7x7dbl_4", twice, width, tall);
  twice = unit(net, "branch7x7dbl_5", twice, 192, wide);
  return net.concat("cat", {one, once, twice, pooled(net, x, 192)}, 1);
}

Operand block_d(NetworkBuilder& net, std::string_view name, Operand x) {
  const auto scope = net.scope(name);
  Operand once = unit(net, "branch3x3_1", x, 192, one_by_one);
  once = unit(net, "branch3x3_2", once, 320, shrinking);
  Operand seven = unit(net, "branch7x7x3_1", x, 192, one_by_one);
  seven = unit(net, "branch7x7x3_2", seven, 192, wide);
  seven = unit(net, "branch7x7x3_3", seven, 192, tall);
  seven = unit(net, "branch7x7x3_4", seven, 192, shrinking);
  const Operand pool = net.max_pool("max_pool2d", x, {.kernel = 3, .stride = 2});
  return net.concat("cat", {once, seven, pool}, 1);
}

// A branch that ends in a 1x3 and a 3x1 convolution side by side.
Operand forked(NetworkBuilder& net, const std::string& name, Operand x) {
  const Operand flat = unit(net, name + "a", x, 384, {.kernel = {1, 3}, .padding = {0, 1}});
  const Operand upright = unit(net, name + "b", x, 384, {.kernel = {3, 1}, .padding = {1, 0}});
  return net.concat("cat", {flat, upright}, 1);
}

Operand block_e(NetworkBuilder& net, std::string_view name, Operand x) {
  const auto scope = net.scope(name);
  const Operand one = unit(net, "branch1x1", x, 320, one_by_one);
  Operand once = unit(net, "branch3x3_1", x, 384, one_by_one);
  once = forked(net, "branch3x3_2", once);
  Operand twice = unit(net, "branch3x3dbl_1", x, 448, one_by_one);
  twice = unit(net, "branch3x3dbl_2", twice, 384, three);
  twice = forked(net, "branch3x3dbl_3", twice);
  return net.concat("cat", {one, once, twice, pooled(net, x, 192)}, 1);
}

void inception_v3(NetworkBuilder& net) {
  Operand x = net.image_input();
  x = unit(net, "Conv2d_1a_3x3", x, 32, shrinking);
  x = unit(net, "Conv2d_2a_3x3", x, 32, {.kernel = 3});
  x = unit(net, "Conv2d_2b_3x3", x, 64, three);
  x = net.max_pool("maxpool1", x, {.kernel = 3, .stride = 2});
  x = unit(net, "Conv2d_3b_1x1", x, 80, one_by_one);
  x = unit(net, "Conv2d_4a_3x3", x, 192, {.kernel = 3});
  x = net.max_pool("maxpool2", x, {.kernel = 3, .stride = 2});
  x = block_a(net, "Mixed_5b", x, 32);
  x = block_a(net, "Mixed_5c", x, 64);
  x = block_a(net, "Mixed_5d", x, 64);
  x = block_b(net, "Mixed_6a", x);
  x = block_c(net, "Mixed_6b", x, 128);
  x = block_c(net, "Mixed_6c", x, 160);
  x = block_c(net, "Mixed_6d", x, 160);
  x = block_c(net, "Mixed_6e", x, 192);
  x = block_d(net, "Mixed_7a", x);
  x = block_e(net, "Mixed_7b", x);
  x = block_e(net, "Mixed_7c", x);
  x = net.dropout("dropout", net.global_average_pool("avgpool", x));
  net.output(net.linear("fc", net.flatten("flatten", x), net.settings().classes));
}

}  // namespace inception_v3_parts

std::span<const Workload> inception_v3_workloads() {
  using namespace inception_v3_parts;
  static constexpr Workload rows[] = {{
      .name = "inception_v3",
      .family = "inception",
      .source = "torchvision, no aux head",
      .address = "https://pytorch.org/vision/stable/models/inception.html",
      .options = image_options,
      .image = 299,
      .classes = 1000,
      .build = inception_v3,
  }};
  return rows;
}

}  // namespace ridgeline
