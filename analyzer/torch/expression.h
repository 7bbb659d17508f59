// Expressions of symbolic sizes, as sympy writes them: "Add(Symbol('s0', …), Integer(1))" since
// torch 2.8, "s0 + 1" before.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace ridgeline::pytorch {

// The value with these sizes; nothing if it cannot be read, or a symbol has no size.
std::optional<std::int64_t> evaluate(
    std::string_view expression,
    const std::function<std::optional<std::int64_t>(std::string_view)>& size_of);

std::set<std::string> symbols_in(std::string_view expression);

// The symbol, if the expression is nothing else.
std::optional<std::string> lone_symbol(std::string_view expression);

}  // namespace ridgeline::pytorch
