// Blocks that mobile networks share, after torchvision's ops.misc.
#include "workloads/mobile_blocks.h"

#include <algorithm>

namespace ridgeline {

Operand conv_norm_activation(NetworkBuilder& net, std::string_view name, Operand x,
                             const ConvNormForm& form) {
  const auto scope = net.scope(name);
  x = net.conv("0", x, form.channels,
               {.kernel = form.kernel,
                .stride = form.stride,
                .padding = (form.kernel - 1) / 2,
                .groups = form.groups});
  x = net.batch_norm("1", x);
  return form.activation ? net.activation("2", x, *form.activation) : x;
}

Operand squeeze_excitation(NetworkBuilder& net, std::string_view name, Operand x,
                           const ExcitationForm& form) {
  const auto scope = net.scope(name);
  const std::int64_t channels = net.dimension(x, 1);
  Operand scale = net.global_average_pool("avgpool", x);
  scale = net.conv("fc1", scale, form.squeezed, {.bias = true});
  scale = net.activation("activation", scale, form.activation);
  scale = net.conv("fc2", scale, channels, {.bias = true});
  scale = net.activation("scale_activation", scale, form.gate);
  return net.multiply("mul", scale, x);
}

std::int64_t rounded_channels(double channels) {
  const auto nearest = static_cast<std::int64_t>(channels + 4) / 8 * 8;
  const std::int64_t rounded = std::max<std::int64_t>(8, nearest);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

}  // namespace ridgeline
