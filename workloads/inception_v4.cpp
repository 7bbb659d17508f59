// Inception v4: a longer stem and more blocks of parallel branches than v3.
// After timm's implementation of the paper (arXiv 1602.07261).
#include <fmt/format.h>

#include <string>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace inception_v4_parts {

constexpr ConvolutionOptions one_by_one{};
constexpr ConvolutionOptions three{.kernel = 3, .padding = 1};
constexpr ConvolutionOptions valid{.kernel = 3};
constexpr ConvolutionOptions wide{.kernel = {1, 7}, .padding = {0, 3}};
constexpr ConvolutionOptions tall{.kernel = {7, 1}, .padding = {3, 0}};
constexpr ConvolutionOptions shrinking{.kernel = 3, .stride = 2};

struct UnitForm {
  std::int64_t channels;
  ConvolutionOptions options;
};

Operand unit(NetworkBuilder& net, std::string_view name, Operand x, const UnitForm& form) {
  const auto scope = net.scope(name);
  x = net.batch_norm("bn", net.conv("conv", x, form.channels, form.options));
  return net.relu("bn.act", x);
}

// Units "name.0", "name.1", … in sequence.
Operand chain(NetworkBuilder& net, std::string_view name, Operand x,
              const std::vector<UnitForm>& units, int first = 0) {
  const auto scope = net.scope(name);
  for (const UnitForm& form : units) x = unit(net, fmt::format("{}", first++), x, form);
  return x;
}

Operand pooled(NetworkBuilder& net, Operand x, std::int64_t channels) {
  x = net.average_pool("branch3.0", x, {.kernel = 3, .stride = 1, .padding = 1});
  return chain(net, "branch3", x, {{channels, one_by_one}}, 1);
}

Operand shrunk(NetworkBuilder& net, std::string_view name, Operand x) {
  return net.max_pool(name, x, {.kernel = 3, .stride = 2});
}

Operand mixed_3a(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("features.3");
  const Operand pool = shrunk(net, "maxpool", x);
  return net.concat("cat", {pool, unit(net, "conv", x, {96, shrinking})}, 1);
}

Operand mixed_4a(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("features.4");
  const Operand once = chain(net, "branch0", x, {{64, one_by_one}, {96, valid}});
  const Operand seven =
      chain(net, "branch1", x, {{64, one_by_one}, {64, wide}, {64, tall}, {96, valid}});
  return net.concat("cat", {once, seven}, 1);
}

Operand mixed_5a(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("features.5");
  const Operand conv = unit(net, "conv", x, {192, shrinking});
  return net.concat("cat", {conv, shrunk(net, "maxpool", x)}, 1);
}

Operand inception_a(NetworkBuilder& net, Operand x) {
  const Operand one = unit(net, "branch0", x, {96, one_by_one});
  const Operand once = chain(net, "branch1", x, {{64, one_by_one}, {96, three}});
  const Operand twice = chain(net, "branch2", x, {{64, one_by_one}, {96, three}, {96, three}});
  return net.concat("cat", {one, once, twice, pooled(net, x, 96)}, 1);
}

Operand reduction_a(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("features.10");
  const Operand once = unit(net, "branch0", x, {384, shrinking});
  const Operand twice =
      chain(net, "branch1", x, {{192, one_by_one}, {224, three}, {256, shrinking}});
  return net.concat("cat", {once, twice, shrunk(net, "branch2", x)}, 1);
}

Operand inception_b(NetworkBuilder& net, Operand x) {
  const Operand one = unit(net, "branch0", x, {384, one_by_one});
  const Operand once = chain(net, "branch1", x, {{192, one_by_one}, {224, wide}, {256, tall}});
  const Operand twice = chain(
      net, "branch2", x, {{192, one_by_one}, {192, tall}, {224, wide}, {224, tall}, {256, wide}});
  return net.concat("cat", {one, once, twice, pooled(net, x, 128)}, 1);
}

Operand reduction_b(NetworkBuilder& net, Operand x) {
  const auto scope = net.scope("features.18");
  const Operand once = chain(net, "branch0", x, {{192, one_by_one}, {192, shrinking}});
  const Operand seven =
      chain(net, "branch1", x, {{256, one_by_one}, {256, wide}, {320, tall}, {320, shrinking}});
  return net.concat("cat", {once, seven, shrunk(net, "branch2", x)}, 1);
}

// A branch that ends in a 1x3 and a 3x1 convolution side by side.
Operand forked(NetworkBuilder& net, const std::string& name, Operand x) {
  const Operand flat = unit(net, name + "a", x, {256, {.kernel = {1, 3}, .padding = {0, 1}}});
  const Operand upright = unit(net, name + "b", x, {256, {.kernel = {3, 1}, .padding = {1, 0}}});
  return net.concat("cat", {flat, upright}, 1);
}

Operand inception_c(NetworkBuilder& net, Operand x) {
  const Operand one = unit(net, "branch0", x, {256, one_by_one});
  Operand once = unit(net, "branch1_0", x, {384, one_by_one});
  once = forked(net, "branch1_1", once);
  Operand twice = unit(net, "branch2_0", x, {384, one_by_one});
  twice = unit(net, "branch2_1", twice, {448, {.kernel = {3, 1}, .padding = {1, 0}}});
  twice = unit(net, "branch2_2", twice, {512, {.kernel = {1, 3}, .padding = {0, 1}}});
  twice = forked(net, "branch2_3", twice);
  return net.concat("cat", {one, once, twice, pooled(net, x, 256)}, 1);
}

// Blocks of one kind, numbered from `first` up to, but not including, `end`.
Operand repeated(NetworkBuilder& net, int first, int end, Operand x,
                 Operand (*block)(NetworkBuilder&, Operand)) {
  for (int index = first; index < end; ++index) {
    const auto scope = net.scope(fmt::format("features.{}", index));
    x = block(net, x);
  }
  return x;
}

void inception_v4(NetworkBuilder& net) {
  Operand x = net.image_input();
  x = chain(net, "features", x, {{32, shrinking}, {32, valid}, {64, three}});
  x = mixed_5a(net, mixed_4a(net, mixed_3a(net, x)));
  x = repeated(net, 6, 10, x, inception_a);
  x = repeated(net, 11, 18, reduction_a(net, x), inception_b);
  x = repeated(net, 19, 22, reduction_b(net, x), inception_c);
  x = net.flatten("global_pool.flatten", net.global_average_pool("global_pool.pool", x));
  net.output(net.linear("last_linear", x, net.settings().classes));
}

}  // namespace inception_v4_parts

std::span<const Workload> inception_v4_workloads() {
  using namespace inception_v4_parts;
  static constexpr Workload rows[] = {{
      .name = "inception_v4",
      .family = "inception",
      .source = "timm",
      .address = "https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/"
                 "inception_v4.py",
      .options = image_options,
      .image = 299,
      .classes = 1000,
      .build = inception_v4,
  }};
  return rows;
}

}  // namespace ridgeline
