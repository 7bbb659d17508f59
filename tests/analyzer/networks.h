// Well-known networks, built layer by layer as exporters write them: structure and sizes without
// weights. For tests only; their counts are published.
#pragma once

#include <cstdint>

#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {

// torchvision's, as torch exports it for inference: batch normalisation is folded into the
// convolutions, the first input dimension is called "batch".
OnnxBuilder resnet50();

// torchvision's, at an opset that has HardSwish (14 and later).
OnnxBuilder mobilenet_v3_large();

// Word model: embedding, two LSTM layers, projection to all words. Batch and sequence are free.
OnnxBuilder lstm_word_model(std::int64_t words = 29423, std::int64_t width = 256);

// One encoder layer of BERT in primitive operators, then a pooler; "batch" is free.
OnnxBuilder bert_layer(std::int64_t length, std::int64_t width, std::int64_t heads);

// Self-attention of a decoder as torch exports it: rotary embedding by slices, negation and
// concatenation, keys and values repeated for the query heads that share them. One sequence.
struct GroupedAttention {
  std::int64_t length, width, heads, kv_heads;
};
OnnxBuilder grouped_attention(const GroupedAttention& sizes);

// DequantizeLinear → Conv → QuantizeLinear with int8 weights and activations.
OnnxBuilder quantized_convolution();

}  // namespace ridgeline::testing
