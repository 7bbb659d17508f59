// The families of ATen operators: one file each in torch/operators, with a row per operator.
#pragma once

#include <span>

#include "analyzer/torch/call.h"

namespace ridgeline::pytorch {

std::span<const Operator> activation_operators();
std::span<const Operator> attention_operators();
std::span<const Operator> bookkeeping_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> creation_operators();
std::span<const Operator> detection_operators();
std::span<const Operator> elementwise_operators();
std::span<const Operator> fourier_operators();
std::span<const Operator> lookup_operators();
std::span<const Operator> matmul_operators();
std::span<const Operator> movement_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> quantization_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> sorting_operators();
std::span<const Operator> view_operators();

}  // namespace ridgeline::pytorch
