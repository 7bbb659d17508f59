// Quantisation steps, as PT2E writes them around layers that compute in fp32. A later pass absorbs
// them into these layers (fusion/absorb_quantization.h).
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

// Zero points only shift; scales are read with the data.
void quantize(Call& call) {
  call.not_data("zero_point");
  call.not_data("zero_points");
  call.elementwise(Function::quantize);
}

void dequantize(Call& call) {
  call.not_data("zero_point");
  call.not_data("zero_points");
  call.emit(Elementwise{Function::dequantize, call.out_elements()},
            compute_dtype(call.output().type).value_or(DType::fp32));
}

// The least and the greatest element give scale and zero point.
void choose_parameters(Call& call) {
  const std::int64_t count = element_count(call.first().shape);
  call.emit(Reduce{Reduction::max, count, 1});
  call.emit(Reduce{Reduction::min, count, 1});
}

void fake_quantize(Call& call) {
  call.elementwise(Function::quantize);
  call.elementwise(Function::dequantize);
}

}  // namespace

std::span<const Operator> quantization_operators() {
  static constexpr Operator rows[] = {
      {"quantized_decomposed::quantize_per_tensor", quantize},
      {"quantized_decomposed::quantize_per_channel", quantize},
      {"quantized_decomposed::quantize_per_token", quantize},
      {"quantized_decomposed::quantize_per_channel_group", quantize},
      {"quantized_decomposed::dequantize_per_tensor", dequantize},
      {"quantized_decomposed::dequantize_per_channel", dequantize},
      {"quantized_decomposed::dequantize_per_token", dequantize},
      {"quantized_decomposed::dequantize_per_channel_group", dequantize},
      {"quantized_decomposed::choose_qparams", choose_parameters},
      {"quantized_decomposed::choose_qparams_symmetric", choose_parameters},
      {"quantized_decomposed::choose_qparams_per_token", choose_parameters},
      {"quantized_decomposed::choose_qparams_per_token_asymmetric", choose_parameters},
      {"torchao::quantize_affine", quantize},
      {"torchao::dequantize_affine", dequantize},
      {"torchao::choose_qparams_affine", choose_parameters},
      {"aten::quantize_per_tensor", quantize},
      {"aten::quantize_per_channel", quantize},
      {"aten::dequantize", dequantize},
      {"aten::fake_quantize_per_tensor_affine", fake_quantize},
      {"aten::fake_quantize_per_channel_affine", fake_quantize},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
