// Arithmetic expressions in text, as a user writes them ("2 * in0[1] * ceil(attr.size / 3)") and as
// sympy does ("Add(Symbol('s0'), Integer(1))").
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ridgeline {

// What is wrong with an expression, and where in its text, from 0.
struct ExpressionFault {
  std::string what;
  std::size_t at = 0;
  bool is_of_value = false;  // a division by zero, an overflow: other values may be fine
};

// The value of a symbol, which may have a place in brackets ("in0[1]"); nothing if there is none.
using SymbolValue = std::function<std::optional<double>(std::string_view symbol)>;

// Throws ExpressionFault. Numbers are doubles: whole ones are exact to 2^53, and a number that is
// not finite is a fault. Nesting is limited, so the work is linear in the length of the text.
double evaluate_expression(std::string_view text, const SymbolValue& value_of);

}  // namespace ridgeline
