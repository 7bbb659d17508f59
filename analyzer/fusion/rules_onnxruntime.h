// Patterns of ONNX Runtime's graph optimisations at their default level, for its CPU provider
// (checked against graphs written by version 1.31.1, see docs/lowering.md). Its CUDA provider has
// the same patterns, except that convolutions fuse with no activation but Relu.
#pragma once

#include <vector>

#include "analyzer/fusion/patterns.h"

namespace ridgeline::onnxruntime {

// FusedConv: a residual sum, then one activation. Not x · sigmoid(x), nor other functions of two
// tensors.
bool convolution_and_activation(const FusionCandidate& c);

// Gemm, FusedGemm: a bias, then one activation. Sums of two activations are not fused.
bool product_and_activation(const FusionCandidate& c);

// Gelu, FastGelu, QuickGelu: a function of one tensor that an exporter decomposed.
bool function_of_one_tensor(const FusionCandidate& c);

// LayerNormalization and SkipLayerNormalization: along the last axis, decomposed or not, with the
// sum before it.
bool normalization_of_sum(const FusionCandidate& c);

// By layer: steps of an RMS normalisation that multiplies by a reciprocal instead of dividing,
// which no pattern knows. They stay single nodes.
std::vector<bool> unknown_normalizations(const Graph& graph);

// FusedMatMul: a scalar factor of an operand or the result, a transposed operand.
bool scaled_or_transposed_product(const FusionCandidate& c);

// A batch normalisation that was not folded becomes a convolution with one tap per channel.
bool batch_norm_and_activation(const FusionCandidate& c);

}  // namespace ridgeline::onnxruntime
