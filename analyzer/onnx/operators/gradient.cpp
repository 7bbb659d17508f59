// Gradient operators as onnxruntime writes them into training graphs (com.microsoft). Each reads
// the gradient of the output and what the forward pass saved, and costs about as much as that pass.
#include <algorithm>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// dX has the shape of dY; each function is computed once per element.
void pointwise(NodeContext& context, std::initializer_list<ElementFunction> functions) {
  const Shape& shape = context.shape(0);
  context.set(0, context.type(0), shape);
  for (const ElementFunction function : functions)
    context.emit(Elementwise{function, element_count(shape)});
}

void relu_gradient(NodeContext& context) { pointwise(context, {ElementFunction::relu}); }

void leaky_relu_gradient(NodeContext& context) {
  pointwise(context, {ElementFunction::leaky_relu});
}

void sigmoid_gradient(NodeContext& context) {  // dY·Y·(1 − Y)
  pointwise(context,
            {ElementFunction::subtract, ElementFunction::multiply, ElementFunction::multiply});
}

void tanh_gradient(NodeContext& context) {  // dY·(1 − Y²)
  pointwise(context,
            {ElementFunction::multiply, ElementFunction::subtract, ElementFunction::multiply});
}

void gelu_gradient(NodeContext& context) {
  pointwise(context, {ElementFunction::gelu, ElementFunction::exp, ElementFunction::multiply});
}

void gelu_tanh_gradient(NodeContext& context) {
  pointwise(context,
            {ElementFunction::gelu_tanh, ElementFunction::multiply, ElementFunction::multiply});
}

void bias_gelu_gradient(NodeContext& context) {
  pointwise(context, {ElementFunction::add, ElementFunction::gelu, ElementFunction::exp,
                      ElementFunction::multiply});
}

void bias_gelu_tanh_gradient(NodeContext& context) {
  pointwise(context, {ElementFunction::add, ElementFunction::gelu_tanh, ElementFunction::multiply,
                      ElementFunction::multiply});
}

void quick_gelu_gradient(NodeContext& context) {
  pointwise(context,
            {ElementFunction::swish, ElementFunction::multiply, ElementFunction::multiply});
}

void dropout_gradient(NodeContext& context) {
  context.not_data(2);
  context.not_data(3);
  pointwise(context, {ElementFunction::dropout});
}

void softmax_gradient(NodeContext& context) {  // Y·(dY − Σ Y·dY)
  pointwise(context, {ElementFunction::multiply, ElementFunction::add, ElementFunction::subtract,
                      ElementFunction::multiply});
}

void log_softmax_gradient(NodeContext& context) {  // dY − exp(Y)·Σ dY
  pointwise(context, {ElementFunction::add, ElementFunction::exp, ElementFunction::multiply,
                      ElementFunction::subtract});
}

void softmax_dropout_gradient(NodeContext& context) {
  context.not_data(3);
  pointwise(context, {ElementFunction::dropout, ElementFunction::multiply, ElementFunction::add,
                      ElementFunction::subtract, ElementFunction::multiply});
}

// (softmax − one-hot) · dY, in the shape of the logits.
void cross_entropy_gradient(NodeContext& context) {
  const std::int64_t count = element_count(context.shape(1));
  context.set(0, context.type(1), context.shape(1));
  emit_elementwise(context, ElementFunction::exp, count);
  emit_elementwise(context, ElementFunction::subtract, count);
  emit_elementwise(context, ElementFunction::multiply, count);
}

// One convolution for each gradient wanted: with the weights for dX, with dY for dW.
void convolution_gradient(NodeContext& context, bool transposed) {
  want_rank_at_least(context, 1, 3);
  const Shape& input = context.shape(1);
  const Shape& weights = context.shape(2);
  const Shape& output = context.shape(0);
  want_rank(context, 0, input.size());
  want_rank(context, 2, input.size());
  const std::int64_t groups = std::max<std::int64_t>(context.integer("group", 1), 1);
  const Convolution product{input[0],
                            input[1],
                            output[1],
                            groups,
                            Shape(weights.begin() + 2, weights.end()),
                            Shape(input.begin() + 2, input.end()),
                            Shape(output.begin() + 2, output.end()),
                            transposed,
                            false,
                            false};
  context.set(0, context.type(1), input);
  context.set(1, context.type(2), weights);
  context.set(2, context.type(2), {output[1]});
  for (const std::size_t gradient : {0u, 1u})
    if (context.wants(gradient)) context.emit(product);
  if (context.wants(2)) context.emit(Reduce{Reduction::sum, element_count(output), output[1]});
}

void conv_gradient(NodeContext& context) { convolution_gradient(context, false); }

void conv_transpose_gradient(NodeContext& context) { convolution_gradient(context, true); }

// dX in the shape of X, plus the gradients of scale and shift: about two forward passes.
void normalize_gradient(NodeContext& context, Normalization kind, std::int64_t rows) {
  const std::int64_t count = element_count(context.shape(1));
  context.set(0, context.type(1), context.shape(1));
  context.set(1, context.type(2), context.shape(2));
  context.set(2, context.type(2), context.shape(2));
  const Normalize pass{kind, count, rows, true, kind == Normalization::batch, 0};
  context.emit(pass);
  context.emit(pass);
}

std::int64_t rows_before_axis(const NodeContext& context) {
  const Shape& shape = context.shape(1);
  const std::size_t axis = context.axis(context.integer("axis", -1), shape.size());
  return extent(context, shape, 0, axis);
}

void layer_norm_gradient(NodeContext& context) {
  normalize_gradient(context, Normalization::layer, rows_before_axis(context));
}

void rms_norm_gradient(NodeContext& context) {
  normalize_gradient(context, Normalization::rms, rows_before_axis(context));
}

void batch_norm_gradient(NodeContext& context) {
  normalize_gradient(context, Normalization::batch, element_count(context.shape(2)));
}

// dX has the shape of the forward input, which is not among the node's inputs.
void pool_gradient(NodeContext& context) {
  context.emit(Elementwise{ElementFunction::add, element_count(context.shape(0))});
  throw CannotInfer{"a pooling gradient does not know the shape of the pooled tensor"};
}

// Adds gradients up at their source, in a tensor of the given shape.
void scattered(NodeContext& context, std::size_t shape, std::size_t gradient, bool reduces) {
  context.not_data(shape);
  context.emit(Scatter{element_count(context.shape(gradient)), reduces});
  context.set(0, context.type(gradient), context.needed_integers(shape));
}

void gather_gradient(NodeContext& context) { scattered(context, 0, 2, true); }

void gather_elements_gradient(NodeContext& context) { scattered(context, 1, 0, true); }

void slice_gradient(NodeContext& context) {
  for (std::size_t i = 2; i < 6; ++i) context.not_data(i);
  scattered(context, 1, 0, false);
}

void divide_gradient(NodeContext& context) {
  const std::int64_t count = element_count(context.shape(0));
  context.set(0, context.type(0), context.shape(1));
  context.set(1, context.type(0), context.shape(2));
  for (const std::size_t gradient : {0u, 1u})
    if (context.wants(gradient))
      for (std::size_t i = 0; i < 1 + 2 * gradient; ++i)
        emit_elementwise(context, ElementFunction::divide, count);
}

void resize_gradient(NodeContext& context) {
  context.not_data(2);
  context.not_data(3);
  context.set(0, context.type(0), context.shape(1));
  context.emit(Resize{Interpolation::linear, 2, element_count(context.shape(0)), 1});
}

}  // namespace

std::span<const Operator> gradient_operators() {
  static constexpr Operator rows[] = {
      {"", "AveragePoolGrad", pool_gradient},
      {"", "MaxPoolGrad", pool_gradient},
      {"com.microsoft", "AveragePoolGrad", pool_gradient},
      {"com.microsoft", "MaxPoolGrad", pool_gradient},
      {"com.microsoft", "ReluGrad", relu_gradient},
      {"com.microsoft", "LeakyReluGrad", leaky_relu_gradient},
      {"com.microsoft", "SigmoidGrad", sigmoid_gradient},
      {"com.microsoft", "TanhGrad", tanh_gradient},
      {"com.microsoft", "GeluGrad", gelu_gradient},
      {"com.microsoft", "FastGeluGrad", gelu_tanh_gradient},
      {"com.microsoft", "BiasGeluGrad_dX", bias_gelu_gradient},
      {"com.microsoft", "BiasFastGeluGrad_dX", bias_gelu_tanh_gradient},
      {"com.microsoft", "QuickGeluGrad", quick_gelu_gradient},
      {"com.microsoft", "DropoutGrad", dropout_gradient},
      {"com.microsoft", "BitmaskDropoutGrad", dropout_gradient},
      {"com.microsoft", "SoftmaxGrad", softmax_gradient},
      {"com.microsoft", "SoftmaxGrad_13", softmax_gradient},
      {"com.microsoft", "LogSoftmaxGrad", log_softmax_gradient},
      {"com.microsoft", "LogSoftmaxGrad_13", log_softmax_gradient},
      {"com.microsoft", "SoftmaxDropoutGrad", softmax_dropout_gradient},
      {"com.microsoft", "SoftmaxCrossEntropyGrad", cross_entropy_gradient},
      {"com.microsoft", "SoftmaxCrossEntropyLossGrad", cross_entropy_gradient},
      {"com.microsoft", "SoftmaxCrossEntropyLossInternalGrad", cross_entropy_gradient},
      {"com.microsoft", "SparseSoftmaxCrossEntropyGrad", cross_entropy_gradient},
      {"com.microsoft", "ConvGrad", conv_gradient},
      {"com.microsoft", "ConvTransposeGrad", conv_transpose_gradient},
      {"com.microsoft", "LayerNormalizationGrad", layer_norm_gradient},
      {"com.microsoft", "InvertibleLayerNormalizationGrad", layer_norm_gradient},
      {"com.microsoft", "SimplifiedLayerNormalizationGrad", rms_norm_gradient},
      {"com.microsoft", "BatchNormalizationGrad", batch_norm_gradient},
      {"com.microsoft", "GatherGrad", gather_gradient},
      {"com.microsoft", "GatherNDGrad", gather_gradient},
      {"com.microsoft", "GatherElementsGrad", gather_elements_gradient},
      {"com.microsoft", "SliceGrad", slice_gradient},
      {"com.microsoft", "DivGrad", divide_gradient},
      {"com.microsoft", "ResizeGrad", resize_gradient},
  };
  return rows;
}

}  // namespace ridgeline::onnx
