// Sizes are whole numbers up to 2^53; base/expression.h evaluates.
#include "analyzer/torch/expression.h"

#include <cmath>

#include "base/expression.h"

namespace ridgeline::pytorch {
namespace {

using SizeOf = std::function<std::optional<std::int64_t>(std::string_view)>;

}  // namespace

std::optional<std::int64_t> evaluate(std::string_view expression, const SizeOf& size_of) {
  try {
    const double value =
        evaluate_expression(expression, [&](std::string_view name) -> std::optional<double> {
          const auto size = size_of(name);
          return size ? std::optional(static_cast<double>(*size)) : std::nullopt;
        });
    constexpr double most = 9007199254740992.0;  // 2^53: beyond it doubles skip integers
    if (!(std::abs(value) <= most) || value != std::round(value)) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(value));
  } catch (const ExpressionFault&) {
    return std::nullopt;
  }
}

std::set<std::string> symbols_in(std::string_view expression) {
  std::set<std::string> names;
  evaluate(expression, [&](std::string_view name) -> std::optional<std::int64_t> {
    names.emplace(name);
    return 1000003;  // large and odd: no divisor becomes zero
  });
  return names;
}

std::optional<std::string> lone_symbol(std::string_view expression) {
  const std::set<std::string> names = symbols_in(expression);
  if (names.size() != 1) return std::nullopt;
  for (const std::int64_t probe : {7, 1000003})
    if (evaluate(expression, [&](std::string_view) { return std::optional(probe); }) != probe)
      return std::nullopt;
  return *names.begin();
}

}  // namespace ridgeline::pytorch
