// Patterns of ONNX Runtime's graph optimisations at their default level, as its CPU provider has
// them (graphs that version 1.31.1 writes are the reference, see docs/lowering.md). Its CUDA
// provider has the same but for convolutions, which take in no other activation than Relu there.
#pragma once

#include "analyzer/fusion/patterns.h"

namespace ridgeline::onnxruntime {

// FusedConv: a residual sum, then one activation. Not x · sigmoid(x), and nothing of two tensors.
bool convolution_and_activation(const FusionCandidate& c);

// Gemm, FusedGemm: a bias, then one activation; sums of activations stay.
bool product_and_activation(const FusionCandidate& c);

// Gelu, FastGelu, QuickGelu: a function of one tensor that an exporter took apart.
bool function_of_one_tensor(const FusionCandidate& c);

// LayerNormalization and SkipLayerNormalization: along the last axis, taken apart or whole, with
// the sum before it.
bool normalization_of_sum(const FusionCandidate& c);

// FusedMatMul: a number that scales an operand or the result, an operand that is transposed.
bool scaled_or_transposed_product(const FusionCandidate& c);

// A batch normalisation that is left becomes a convolution of one tap per channel.
bool batch_norm_and_activation(const FusionCandidate& c);

}  // namespace ridgeline::onnxruntime
