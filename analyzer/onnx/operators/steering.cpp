// Reads the attributes and inputs that steer an operator.
#include "analyzer/onnx/operators/steering.h"

#include <string>

#include "base/text.h"

namespace ridgeline::onnx {

std::optional<std::vector<std::int64_t>> steering(NodeContext& context, std::size_t input,
                                                  std::string_view attribute) {
  if (!context.has(input)) return context.integers(attribute);
  context.not_data(input);
  return context.needed_integers(input);
}

std::int64_t steering_integer(NodeContext& context, std::size_t input) {
  context.not_data(input);
  const auto values = context.needed_integers(input);
  if (values.size() != 1)
    context.fail("input " + quote(context.input(input).name) + " holds " +
                 std::to_string(values.size()) + " elements, not 1");
  return values[0];
}

long double steering_number(NodeContext& context, std::size_t input) {
  context.not_data(input);
  const std::string name = quote(context.input(input).name);
  const Contents* contents = context.contents(input);
  if (contents != nullptr && contents->size() != 1)
    context.fail("input " + name + " holds " + std::to_string(contents->size()) +
                 " elements, not 1");
  if (contents == nullptr || !contents->front())
    throw CannotInfer{"the values of " + name + " depend on data"};
  return *contents->front();
}

std::vector<std::optional<std::int64_t>> partly_known_integers(const NodeContext& context,
                                                               std::size_t input) {
  const std::string name = quote(context.input(input).name);
  const Shape& shape = context.shape(input);
  if (shape.size() > 1)
    context.fail("input " + name + " has rank " + std::to_string(shape.size()) + ", not 1");
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (count > max_contents)
    context.fail("input " + name + " holds " + std::to_string(count) + " elements, too many");
  std::vector<std::optional<std::int64_t>> values(count);
  const Contents* contents = context.contents(input);
  // Values in a missing external file are an Error; they do not depend on data.
  if (contents == nullptr && context.input(input).proto != nullptr) context.needed_integers(input);
  if (contents == nullptr || contents->size() != count) return values;
  for (std::size_t i = 0; i < count; ++i) {
    const Element& element = (*contents)[i];
    if (!element) continue;
    constexpr long double limit = 9223372036854775807.0L;
    if (!(*element >= -limit - 1 && *element <= limit))
      context.fail("element " + std::to_string(i) + " of " + name + " is not a 64-bit integer");
    values[i] = static_cast<std::int64_t>(*element);
  }
  return values;
}

}  // namespace ridgeline::onnx
