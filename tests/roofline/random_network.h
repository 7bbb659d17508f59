// Small networks made at random: convolutions of all kinds, normalisation, activations, residuals,
// squeeze-and-excitation, attention and linear layers. For properties that hold for any network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "workloads/builder.h"

namespace ridgeline::testing {

// The same seed is the same network in every batch and type.
inline Graph random_network(std::uint64_t seed, std::int64_t batch, ElementType dtype) {
  Random random{seed + 1};
  const auto pick = [&](std::int64_t count) {
    return static_cast<std::int64_t>(random.unit() * static_cast<double>(count));
  };
  Settings settings;
  settings.batch = batch;
  settings.dtype = dtype;
  NetworkBuilder net("random", settings);
  const std::int64_t side = 8 << pick(4);  // 8 … 64
  std::int64_t channels = 8 << pick(5);    // 8 … 128
  Operand x = net.input("x", {batch, 3, side, side});
  x = net.conv("stem", x, channels, {.kernel = 3, .padding = 1});
  const std::int64_t blocks = 1 + pick(6);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto scope = net.scope("block" + std::to_string(i));
    const Operand before = x;
    switch (pick(6)) {
      case 0:
        x = net.relu("relu", net.batch_norm(
                                 "bn", net.conv("conv", x, channels, {.kernel = 3, .padding = 1})));
        x = net.add("add", x, before);
        break;
      case 1:
        x = net.conv("depthwise", x, channels, {.kernel = 5, .padding = 2, .groups = channels});
        x = net.swish("act", net.batch_norm("bn", x));
        break;
      case 2:
        channels = 8 << pick(6);
        x = net.conv("pointwise", x, channels, {.bias = true});
        break;
      case 3:
        x = net.multiply("scale", x, net.global_average_pool("pool", x));
        break;
      case 4:
        if (net.dimension(x, 2) >= 4) x = net.max_pool("pool", x, {});
        break;
      default: {
        const std::int64_t tokens = net.dimension(x, 2) * net.dimension(x, 3);
        Operand y = net.transpose("tokens", x, {batch, tokens, channels});
        y = net.attention("attention", net.linear("qkv", net.layer_norm("norm", y), 3 * channels),
                          {.heads = channels / 8});
        y = net.gelu("gelu", net.linear("proj", y, channels));
        x = net.transpose("image", y, {batch, channels, net.dimension(x, 2), net.dimension(x, 3)});
      }
    }
  }
  x = net.linear("head", net.flatten("flatten", net.global_average_pool("pool", x)), 10);
  net.output(x);
  return net.finish();
}

}  // namespace ridgeline::testing
