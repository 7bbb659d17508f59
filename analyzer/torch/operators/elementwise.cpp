// Arithmetic element by element, comparisons, casts and dropout.
#include <algorithm>

#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

template <Function function>
void pointwise(Call& call) {
  call.elementwise(function);
}

template <Function first, Function second>
void two_steps(Call& call) {
  call.elementwise(first);
  call.elementwise(second);
}

// alpha scales the second operand.
template <Function function>
void scaled(Call& call) {
  call.elementwise(function);
  if (call.real("alpha", 1) != 1) call.elementwise(Function::multiply);
}

// A small whole exponent is a product.
void power(Call& call) {
  const double exponent = call.real("exponent", 0.5);
  if (exponent == 2)
    call.elementwise(Function::multiply);
  else if (exponent == 0.5 && call.has("exponent") && call.tensor("exponent") == nullptr)
    call.elementwise(Function::sqrt);
  else
    call.elementwise(Function::power);
}

void lerp(Call& call) {
  for (const Function function : {Function::subtract, Function::multiply, Function::add})
    call.elementwise(function);
}

// A cast to the same type is the tensor itself, unless its layout changes.
void cast(Call& call) {
  const Tensor& data = call.first();
  call.not_data("other");
  if (data.type == call.output().type)
    call.emit(View{});
  else
    call.elementwise(Function::cast);
}

void copy_of(Call& call) {
  if (call.first().type == call.output().type)
    call.emit(Copy{});
  else
    call.elementwise(Function::cast);
}

// Outside of training nothing is dropped.
void dropout(Call& call) {
  if (call.flag("train", false))
    call.elementwise(Function::dropout);
  else
    call.emit(View{});
}

void running_sum(Call& call) { call.elementwise(Function::add); }

// Differences of neighbours, n times over.
void differences(Call& call) {
  for (std::int64_t i = std::clamp<std::int64_t>(call.integer("n", 1), 0, 64); i > 0; --i)
    call.elementwise(Function::subtract);
}

}  // namespace

std::span<const Operator> elementwise_operators() {
  static constexpr Operator rows[] = {
      {"aten::add", scaled<Function::add>},
      {"aten::sub", scaled<Function::subtract>},
      {"aten::subtract", scaled<Function::subtract>},
      {"aten::rsub", scaled<Function::subtract>},
      {"aten::mul", pointwise<Function::multiply>},
      {"aten::multiply", pointwise<Function::multiply>},
      {"aten::div", pointwise<Function::divide>},
      {"aten::divide", pointwise<Function::divide>},
      {"aten::true_divide", pointwise<Function::divide>},
      {"aten::floor_divide", pointwise<Function::divide>},
      {"aten::pow", power},
      {"aten::float_power", power},
      {"aten::square", pointwise<Function::multiply>},
      {"aten::remainder", pointwise<Function::modulo>},
      {"aten::fmod", pointwise<Function::modulo>},
      {"aten::minimum", pointwise<Function::minimum>},
      {"aten::maximum", pointwise<Function::maximum>},
      {"aten::fmin", pointwise<Function::minimum>},
      {"aten::fmax", pointwise<Function::maximum>},
      {"aten::clamp", pointwise<Function::clip>},
      {"aten::clip", pointwise<Function::clip>},
      {"aten::clamp_min", pointwise<Function::maximum>},
      {"aten::clamp_max", pointwise<Function::minimum>},
      {"aten::eq", pointwise<Function::compare>},
      {"aten::ne", pointwise<Function::compare>},
      {"aten::not_equal", pointwise<Function::compare>},
      {"aten::lt", pointwise<Function::compare>},
      {"aten::less", pointwise<Function::compare>},
      {"aten::le", pointwise<Function::compare>},
      {"aten::less_equal", pointwise<Function::compare>},
      {"aten::gt", pointwise<Function::compare>},
      {"aten::greater", pointwise<Function::compare>},
      {"aten::ge", pointwise<Function::compare>},
      {"aten::greater_equal", pointwise<Function::compare>},
      {"aten::isnan", pointwise<Function::compare>},
      {"aten::isinf", pointwise<Function::compare>},
      {"aten::isfinite", pointwise<Function::compare>},
      {"aten::isin", pointwise<Function::compare>},
      {"aten::logical_and", pointwise<Function::logical>},
      {"aten::logical_or", pointwise<Function::logical>},
      {"aten::logical_xor", pointwise<Function::logical>},
      {"aten::logical_not", pointwise<Function::logical>},
      {"aten::bitwise_and", pointwise<Function::bitwise>},
      {"aten::bitwise_or", pointwise<Function::bitwise>},
      {"aten::bitwise_xor", pointwise<Function::bitwise>},
      {"aten::bitwise_not", pointwise<Function::bitwise>},
      {"aten::bitwise_left_shift", pointwise<Function::bitwise>},
      {"aten::bitwise_right_shift", pointwise<Function::bitwise>},
      {"aten::__and__", pointwise<Function::bitwise>},
      {"aten::__or__", pointwise<Function::bitwise>},
      {"aten::__xor__", pointwise<Function::bitwise>},
      {"aten::__lshift__", pointwise<Function::bitwise>},
      {"aten::__rshift__", pointwise<Function::bitwise>},
      {"aten::where", pointwise<Function::where>},
      {"aten::masked_fill", pointwise<Function::where>},
      {"aten::nan_to_num", pointwise<Function::where>},
      {"aten::neg", pointwise<Function::negate>},
      {"aten::negative", pointwise<Function::negate>},
      {"aten::abs", pointwise<Function::absolute>},
      {"aten::sign", pointwise<Function::sign>},
      {"aten::sgn", pointwise<Function::sign>},
      {"aten::round", pointwise<Function::round>},
      {"aten::floor", pointwise<Function::round>},
      {"aten::ceil", pointwise<Function::round>},
      {"aten::trunc", pointwise<Function::round>},
      {"aten::frac", pointwise<Function::round>},
      {"aten::reciprocal", pointwise<Function::reciprocal>},
      {"aten::sqrt", pointwise<Function::sqrt>},
      {"aten::rsqrt", two_steps<Function::sqrt, Function::reciprocal>},
      {"aten::exp", pointwise<Function::exp>},
      {"aten::exp2", pointwise<Function::exp>},
      {"aten::special_exp2", pointwise<Function::exp>},
      {"aten::expm1", pointwise<Function::exp>},
      {"aten::log", pointwise<Function::log>},
      {"aten::log2", pointwise<Function::log>},
      {"aten::log10", pointwise<Function::log>},
      {"aten::log1p", pointwise<Function::log>},
      {"aten::logit", two_steps<Function::divide, Function::log>},
      {"aten::logaddexp", two_steps<Function::exp, Function::log>},
      {"aten::sin", pointwise<Function::trigonometric>},
      {"aten::cos", pointwise<Function::trigonometric>},
      {"aten::tan", pointwise<Function::trigonometric>},
      {"aten::asin", pointwise<Function::trigonometric>},
      {"aten::acos", pointwise<Function::trigonometric>},
      {"aten::atan", pointwise<Function::trigonometric>},
      {"aten::atan2", pointwise<Function::trigonometric>},
      {"aten::sinh", pointwise<Function::hyperbolic>},
      {"aten::cosh", pointwise<Function::hyperbolic>},
      {"aten::asinh", pointwise<Function::hyperbolic>},
      {"aten::acosh", pointwise<Function::hyperbolic>},
      {"aten::atanh", pointwise<Function::hyperbolic>},
      {"aten::erf", pointwise<Function::erf>},
      {"aten::erfc", pointwise<Function::erf>},
      {"aten::erfinv", pointwise<Function::erf>},
      {"aten::special_erf", pointwise<Function::erf>},
      {"aten::absolute", pointwise<Function::absolute>},
      {"aten::arccos", pointwise<Function::trigonometric>},
      {"aten::arcsin", pointwise<Function::trigonometric>},
      {"aten::arctan", pointwise<Function::trigonometric>},
      {"aten::arctan2", pointwise<Function::trigonometric>},
      {"aten::angle", pointwise<Function::trigonometric>},
      {"aten::sinc", two_steps<Function::trigonometric, Function::divide>},
      {"aten::arccosh", pointwise<Function::hyperbolic>},
      {"aten::arcsinh", pointwise<Function::hyperbolic>},
      {"aten::arctanh", pointwise<Function::hyperbolic>},
      {"aten::deg2rad", pointwise<Function::multiply>},
      {"aten::rad2deg", pointwise<Function::multiply>},
      {"aten::ldexp", two_steps<Function::exp, Function::multiply>},
      {"aten::logaddexp2", two_steps<Function::exp, Function::log>},
      {"aten::xlogy", two_steps<Function::log, Function::multiply>},
      {"aten::special_xlogy", two_steps<Function::log, Function::multiply>},
      {"aten::hypot", two_steps<Function::multiply, Function::sqrt>},
      {"aten::copysign", pointwise<Function::sign>},
      {"aten::signbit", pointwise<Function::compare>},
      {"aten::heaviside", pointwise<Function::compare>},
      {"aten::isclose", two_steps<Function::subtract, Function::compare>},
      {"aten::isneginf", pointwise<Function::compare>},
      {"aten::isposinf", pointwise<Function::compare>},
      {"aten::isreal", pointwise<Function::compare>},
      {"aten::fix", pointwise<Function::round>},
      {"aten::special_log1p", pointwise<Function::log>},
      {"aten::special_expm1", pointwise<Function::exp>},
      {"aten::special_logit", two_steps<Function::divide, Function::log>},
      {"aten::addcmul", two_steps<Function::multiply, Function::add>},
      {"aten::addcdiv", two_steps<Function::divide, Function::add>},
      {"aten::lerp", lerp},
      {"aten::outer", pointwise<Function::multiply>},
      {"aten::ger", pointwise<Function::multiply>},
      {"aten::complex", pointwise<Function::cast>},
      {"aten::polar", two_steps<Function::trigonometric, Function::multiply>},
      {"aten::cumsum", running_sum},
      {"aten::cumprod", pointwise<Function::multiply>},
      {"aten::cummax", pointwise<Function::maximum>},
      {"aten::cummin", pointwise<Function::minimum>},
      {"aten::diff", differences},
      {"aten::logcumsumexp", two_steps<Function::exp, Function::add>},
      {"aten::to", cast},
      {"aten::_to_copy", copy_of},
      {"aten::type_as", cast},
      {"aten::float", cast},
      {"aten::half", cast},
      {"aten::bfloat16", cast},
      {"aten::long", cast},
      {"aten::int", cast},
      {"aten::bool", cast},
      {"aten::double", cast},
      {"aten::copy", copy_of},
      {"aten::dropout", dropout},
      {"aten::feature_dropout", dropout},
      {"aten::alpha_dropout", dropout},
      {"aten::native_dropout", dropout},
      {"aten::mse_loss", two_steps<Function::subtract, Function::multiply>},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
