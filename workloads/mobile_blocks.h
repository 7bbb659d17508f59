// Blocks of mobile networks, under the names that torchvision gives their modules.
// How many there are, and of which width, is each family's own.
#pragma once

#include <optional>

#include "workloads/builder.h"

namespace ridgeline {

// Convolution "0", batch normalisation "1" and activation "2", padded to keep the image's size up
// to the stride.
struct ConvNormForm {
  std::int64_t channels = 1, kernel = 1, stride = 1, groups = 1;
  std::optional<Function> activation = Function::relu;
};
Operand conv_norm_activation(NetworkBuilder& net, std::string_view name, Operand x,
                             const ConvNormForm& form);

// Channels weighted by what two 1x1 convolutions make of their means.
struct ExcitationForm {
  std::int64_t squeezed = 1;
  Function activation = Function::relu, gate = Function::sigmoid;
};
Operand squeeze_excitation(NetworkBuilder& net, std::string_view name, Operand x,
                           const ExcitationForm& form);

// To a multiple of 8, and by no more than a tenth down, as widths of mobile networks are rounded.
std::int64_t rounded_channels(double channels);

}  // namespace ridgeline
