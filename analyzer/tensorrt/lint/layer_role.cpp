// ParameterType is what a layer computes and stays the same over versions; LayerType is its
// implementation. Layers of Myelin have no ParameterType.
#include "analyzer/tensorrt/lint/layer_role.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/tensorrt/kernels.h"

namespace ridgeline::tensorrt {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 4> product_parameters = {"Convolution", "Deconvolution",
                                                                "ConvActPool", "MatrixMultiply"};
constexpr std::array<std::string_view, 4> product_types = {
    "gemm", "MatrixMultiply", "CaskGemmMatrixMultiply", "FullyConnected"};
constexpr std::array<std::string_view, 5> pointwise_parameters = {"PointWise", "ElementWise",
                                                                  "Scale", "Activation", "Unary"};
constexpr std::array<std::string_view, 9> copy_parameters = {
    "Shuffle", "Slice", "Concatenation", "Padding", "Copy", "Gather", "Scatter", "Select", "Tile"};
constexpr std::array<std::string_view, 5> copy_origins = {"SLICE", "CONCAT", "SHUFFLE", "COPY",
                                                          "GATHER"};

bool is_reformat_layer(const EngineLayer& layer) {
  return layer.parameter == "Reformat" || layer.type == "Reformat" ||
         layer.type == "MyelinReformat";
}

// Integers and floats of one byte or less, as quantised networks have them.
bool is_quantized(ElementType type) {
  return type != ElementType::boolean && bits(type) > 0 && bits(type) <= 8;
}

}  // namespace

bool does_nothing(const EngineLayer& layer) { return is_idle(layer) && !is_constant(layer); }

bool is_constant(const EngineLayer& layer) {
  return layer.parameter == "Constant" || layer.type == "Constant";
}

bool is_product(const EngineLayer& layer) {
  return is_one_of(layer.parameter, product_parameters) || is_one_of(layer.type, product_types);
}

bool is_depthwise(const EngineLayer& layer) {
  if (!is_product(layer) || layer.groups <= 1 || layer.inputs.empty()) return false;
  const Shape& shape = layer.inputs.front().shape;
  // A few channels per group fill no tile either.
  return shape.size() >= 2 && shape[1] / layer.groups < 8;
}

bool is_pointwise(const EngineLayer& layer) {
  return is_one_of(layer.parameter, pointwise_parameters) && !is_quantization(layer);
}

bool is_quantization(const EngineLayer& layer) {
  if (layer.parameter == "Quantize" || layer.parameter == "Dequantize") return true;
  if (is_reformat_layer(layer) && layer.origin == "QDQ") return true;
  return layer.parameter == "Scale" &&
         is_quantized(input_type(layer)) != is_quantized(output_type(layer));
}

bool is_conversion(const EngineLayer& layer) {
  return is_reformat_layer(layer) && !is_copy(layer) && !is_quantization(layer);
}

bool is_copy(const EngineLayer& layer) {
  if (is_reformat_layer(layer)) return is_one_of(layer.origin, copy_origins);
  return is_one_of(layer.parameter, copy_parameters) || is_one_of(layer.type, copy_parameters);
}

ElementType input_type(const EngineLayer& layer) {
  return layer.inputs.empty() ? ElementType::unknown : layer.inputs.front().format.type;
}

ElementType output_type(const EngineLayer& layer) {
  return layer.outputs.empty() ? ElementType::unknown : layer.outputs.front().format.type;
}

ElementType product_type(const EngineLayer& layer) { return storage_type(compute_type(layer)); }

}  // namespace ridgeline::tensorrt
