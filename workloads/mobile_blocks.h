// Blocks of mobile networks, with torchvision's module names.
// Each family defines their number and width.
#pragma once

#include <optional>

#include "workloads/builder.h"

namespace ridgeline {

// Convolution "0", batch normalisation "1" and activation "2", padded so that only the stride
// changes the image's size.
struct ConvNormForm {
  std::int64_t channels = 1, kernel = 1, stride = 1, groups = 1;
  std::optional<Function> activation = Function::relu;
};
Operand conv_norm_activation(NetworkBuilder& net, std::string_view name, Operand x,
                             const ConvNormForm& form);

// Squeeze-and-excitation: weights channels by two 1x1 convolutions of their means.
struct ExcitationForm {
  std::int64_t squeezed = 1;
  Function activation = Function::relu, gate = Function::sigmoid;
};
Operand squeeze_excitation(NetworkBuilder& net, std::string_view name, Operand x,
                           const ExcitationForm& form);

// Rounds to a multiple of 8, down by at most a tenth, as mobile networks round their widths.
std::int64_t rounded_channels(double channels);

}  // namespace ridgeline
