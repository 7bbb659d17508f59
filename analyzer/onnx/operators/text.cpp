// Operators on text: their shapes are set if they follow from the input. Their work is not counted,
// so they are reported as unknown.

#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

[[noreturn]] void left_unknown() { throw CannotInfer{"operators on text are not counted"}; }

void string_concat(NodeContext& context) {
  context.set(0, ElementType::string, broadcast_inputs(context, {0, 1}));
  left_unknown();
}

void regex_full_match(NodeContext& context) {
  context.set(0, ElementType::boolean, context.shape(0));
  left_unknown();
}

void text_of_unknown_size(NodeContext&) { left_unknown(); }

}  // namespace

std::span<const Operator> text_operators() {
  static constexpr Operator rows[] = {
      {"", "StringConcat", string_concat},
      {"", "RegexFullMatch", regex_full_match},
      {"", "StringNormalizer", text_of_unknown_size},
      {"", "StringSplit", text_of_unknown_size},
      {"", "TfIdfVectorizer", text_of_unknown_size},
      {"com.microsoft", "Tokenizer", text_of_unknown_size},
  };
  return rows;
}

}  // namespace ridgeline::onnx
