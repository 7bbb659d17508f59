// Parts that several families emit, and the names of fused activations. For the cost of a function
// per element see analyzer/count/op_weights.cpp.
#include "analyzer/onnx/operators/emission.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

namespace ridgeline::onnx {
namespace {

struct FusedActivation {
  std::string_view name;  // in lower case
  ElementFunction function;
};

constexpr FusedActivation activations[] = {
    {"relu", ElementFunction::relu},
    {"leakyrelu", ElementFunction::leaky_relu},
    {"prelu", ElementFunction::leaky_relu},
    {"thresholdedrelu", ElementFunction::relu},
    {"elu", ElementFunction::elu},
    {"celu", ElementFunction::elu},
    {"selu", ElementFunction::elu},
    {"clip", ElementFunction::clip},
    {"tanh", ElementFunction::tanh},
    {"scaledtanh", ElementFunction::tanh},
    {"sigmoid", ElementFunction::sigmoid},
    {"hardsigmoid", ElementFunction::hard_sigmoid},
    {"hardswish", ElementFunction::hard_swish},
    {"silu", ElementFunction::swish},
    {"swish", ElementFunction::swish},
    {"quickgelu", ElementFunction::swish},
    {"gelu", ElementFunction::gelu},
    {"fastgelu", ElementFunction::gelu_tanh},
    {"softplus", ElementFunction::softplus},
    {"softsign", ElementFunction::softsign},
    {"mish", ElementFunction::mish},
    {"affine", ElementFunction::multiply},
};

}  // namespace

void emit_in(NodeContext& context, Op op, ElementType type) {
  if (const std::optional<DType> dtype = compute_dtype(type))
    context.emit(std::move(op), *dtype);
  else
    context.emit(std::move(op));
}

void emit_elementwise(NodeContext& context, ElementFunction function, std::int64_t elements) {
  context.emit(Elementwise{function, elements});
}

void emit_activation(NodeContext& context, std::string_view name, std::int64_t elements) {
  std::string key(name);
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (key.empty() || key == "none" || key == "identity") return;
  if (key == "softmax" || key == "logsoftmax")
    return context.emit(Softmax{elements, key == "logsoftmax"});
  for (const FusedActivation& row : activations)
    if (row.name == key) return emit_elementwise(context, row.function, elements);
  context.fail("its activation '" + std::string(name) + "' is not known");
}

void unary_like_input(NodeContext& context, ElementFunction function) {
  const Shape& shape = context.shape(0);
  context.set(0, context.type(0), shape);
  emit_elementwise(context, function, element_count(shape));
}

ElementType first_known_type(const NodeContext& context, const std::vector<std::size_t>& inputs) {
  for (const std::size_t input : inputs)
    if (context.has(input) && context.type(input) != ElementType::unknown)
      return context.type(input);
  return ElementType::unknown;
}

}  // namespace ridgeline::onnx
