// Operators of classical machine learning (ai.onnx.ml) around networks: scalers, linear models,
// encoders, the final map. Trees and support vector machines: classical_models.cpp.
#include <algorithm>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// A vector counts as one row.
Shape as_rows(const NodeContext& context, std::size_t input) {
  const Shape& shape = context.shape(input);
  if (shape.size() == 1) return {1, shape[0]};
  want_rank(context, input, 2);
  return shape;
}

void scaler(NodeContext& context) {
  const Shape& shape = context.shape(0);
  context.set(0, ElementType::fp32, shape);
  emit_elementwise(context, ElementFunction::subtract, element_count(shape));
  emit_elementwise(context, ElementFunction::multiply, element_count(shape));
}

void normalizer(NodeContext& context) {
  const Shape rows = as_rows(context, 0);
  context.set(0, ElementType::fp32, context.shape(0));
  context.emit(Normalize{Normalization::lp, element_count(rows), rows[0], false, false, 0});
}

void binarizer(NodeContext& context) { unary_like_input(context, ElementFunction::compare); }

void imputer(NodeContext& context) { unary_like_input(context, ElementFunction::where); }

// The type that labels are mapped to, from the attribute that holds the values.
ElementType mapped_type(const NodeContext& context) {
  if (context.attribute("values_floats") != nullptr) return ElementType::fp32;
  if (context.attribute("values_int64s") != nullptr) return ElementType::int64;
  if (const Attribute* tensor = context.attribute("values_tensor"); tensor && tensor->tensor)
    return tensor->tensor->type;
  if (context.attribute("values_strings") != nullptr) return ElementType::string;
  // Version 1 maps between classes_strings and their indices, in both directions.
  return context.type(0) == ElementType::string ? ElementType::int64 : ElementType::string;
}

void label_encoder(NodeContext& context) {
  context.set(0, mapped_type(context), context.shape(0));
  context.emit(Copy{});
}

void one_hot_encoder(NodeContext& context) {
  Shape shape = context.shape(0);
  const Attribute* numbers = context.attribute("cats_int64s");
  const Attribute* texts = context.attribute("cats_strings");
  const std::size_t categories = numbers != nullptr && !numbers->ints.empty() ? numbers->ints.size()
                                 : texts != nullptr ? texts->strings.size()
                                                    : 0;
  shape.push_back(static_cast<std::int64_t>(categories));
  context.set(0, ElementType::fp32, shape);
  context.emit(Copy{});
}

void feature_vectorizer(NodeContext& context) {
  Shape shape{as_rows(context, 0)[0], 0};
  for (std::size_t i = 0; i < context.input_count(); ++i)
    shape[1] = added(context, {shape[1], as_rows(context, i)[1]});
  context.set(0, ElementType::fp32, shape);
  context.emit(Copy{});
}

// Coefficients [outputs, features] and one intercept per output, as attributes.
std::int64_t linear_outputs(const NodeContext& context, std::int64_t features) {
  if (const Attribute* intercepts = context.attribute("intercepts");
      intercepts != nullptr && !intercepts->floats.empty())
    return static_cast<std::int64_t>(intercepts->floats.size());
  const Attribute* coefficients = context.attribute("coefficients");
  if (coefficients == nullptr) context.fail("a linear model without coefficients");
  return divided(context, "the number of coefficients",
                 static_cast<std::int64_t>(coefficients->floats.size()), features);
}

void linear_regressor(NodeContext& context) {
  const Shape rows = as_rows(context, 0);
  const std::int64_t outputs = linear_outputs(context, rows[1]);
  context.set(0, ElementType::fp32, {rows[0], outputs});
  context.emit(MatMul{1, rows[0], outputs, rows[1], context.attribute("intercepts") != nullptr});
}

void linear_classifier(NodeContext& context) {
  const Shape rows = as_rows(context, 0);
  const std::int64_t outputs = linear_outputs(context, rows[1]);
  const bool names = context.attribute("classlabels_strings") != nullptr &&
                     !context.attribute("classlabels_strings")->strings.empty();
  context.set(0, names ? ElementType::string : ElementType::int64, {rows[0]});
  // One row of coefficients separates two classes.
  context.set(1, ElementType::fp32, {rows[0], std::max<std::int64_t>(outputs, 2)});
  context.emit(MatMul{1, rows[0], outputs, rows[1], context.attribute("intercepts") != nullptr});
}

// A map from class to score for every row; the output is not a tensor.
void zip_map(NodeContext& context) {
  const Shape rows = as_rows(context, 0);
  context.set_sequence(0, context.type(0), std::nullopt, rows[0]);
  context.emit(View{});
}

}  // namespace

std::span<const Operator> classical_operators() {
  static constexpr Operator rows[] = {
      {"ai.onnx.ml", "Scaler", scaler},
      {"ai.onnx.ml", "Normalizer", normalizer},
      {"ai.onnx.ml", "Binarizer", binarizer},
      {"ai.onnx.ml", "Imputer", imputer},
      {"ai.onnx.ml", "LabelEncoder", label_encoder},
      {"ai.onnx.ml", "CategoryMapper", label_encoder},
      {"ai.onnx.ml", "OneHotEncoder", one_hot_encoder},
      {"ai.onnx.ml", "FeatureVectorizer", feature_vectorizer},
      {"ai.onnx.ml", "LinearRegressor", linear_regressor},
      {"ai.onnx.ml", "LinearClassifier", linear_classifier},
      {"ai.onnx.ml", "ZipMap", zip_map},
  };
  return rows;
}

}  // namespace ridgeline::onnx
