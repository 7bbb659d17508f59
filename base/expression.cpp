// A recursive descent over both notations.
#include "base/expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace ridgeline {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Evaluator {
 public:
  Evaluator(std::string_view text, const SymbolValue& value_of)
      : text_(text), value_of_(value_of) {}

  double run() {
    const double value = sum();
    blanks();
    if (at_ != text_.size()) fail(quote(text_.substr(at_, 1)) + " does not belong here");
    return value;
  }

 private:
  static constexpr int max_depth = 64;

  [[noreturn]] void fail(std::string what) const { throw ExpressionFault{std::move(what), at_}; }
  [[noreturn]] void fail_value(std::string what) const {
    throw ExpressionFault{std::move(what), at_, true};
  }
  double finite(double value) const {
    if (!std::isfinite(value)) fail_value("the number gets too large, or is none");
    return value;
  }
  double nonzero(double value) const {
    if (value == 0) fail_value("a division by zero");
    return value;
  }
  double modulo(double a, double b) const { return a - std::floor(a / nonzero(b)) * b; }

  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view word) {
    blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!accept(word)) fail(quote(word) + " is missing");
  }

  double sum() {
    double value = product();
    while (true) {
      if (accept("+"))
        value = finite(value + product());
      else if (accept("-"))
        value = finite(value - product());
      else
        return value;
    }
  }

  double product() {
    double value = unary();
    while (true) {
      if (accept("//"))
        value = finite(std::floor(value / nonzero(unary())));
      else if (accept("/"))
        value = finite(value / nonzero(unary()));
      else if (accept("%"))
        value = finite(modulo(value, unary()));
      else if (accept("*"))
        value = finite(value * unary());
      else
        return value;
    }
  }

  // A power binds more tightly than the sign before it: -2 ** 2 is -4.
  double unary() {
    if (++depth_ > max_depth) fail("nested deeper than 64");
    const double value = accept("-") ? -unary() : power();
    --depth_;
    return value;
  }

  double power() {
    const double base = primary();
    return accept("**") ? finite(std::pow(base, unary())) : base;
  }

  double number() {
    double value = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) value = value * 10 + (text_[at_++] - '0');
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      for (double place = 0.1; at_ < text_.size() && is_digit(text_[at_]); place /= 10)
        value += place * (text_[at_++] - '0');
    }
    return finite(value);
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  double symbol(std::string_view name) const {
    const auto at = static_cast<std::size_t>(name.data() - text_.data());
    try {
      const auto value = value_of_(name);
      if (!value) throw ExpressionFault{quote(name) + " is not known"};
      return finite(*value);
    } catch (ExpressionFault& fault) {
      fault.at = at;
      throw;
    }
  }

  // "in0[-1]": the brackets are part of the symbol.
  double symbol_with_place(std::string_view name) {
    if (at_ >= text_.size() || text_[at_] != '[') return symbol(name);
    const auto begin = static_cast<std::size_t>(name.data() - text_.data());
    ++at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    const std::size_t digits = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == digits) fail("a number is missing in the brackets");
    if (at_ >= text_.size() || text_[at_] != ']') fail("']' is missing");
    ++at_;
    return symbol(text_.substr(begin, at_ - begin));
  }

  // Symbol('s77', positive=True, integer=True): the assumptions do not matter.
  double quoted_symbol() {
    blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      fail("a name in quotes is missing");
    const char mark = text_[at_++];
    const std::size_t end = text_.find(mark, at_);
    const std::size_t close = end == std::string_view::npos ? end : text_.find(')', end);
    if (close == std::string_view::npos) fail("the name does not end");
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = close + 1;
    return symbol(name);
  }

  double primary() {
    blanks();
    if (at_ >= text_.size()) fail("ends where a number or name is missing");
    if (accept("(")) {
      const double value = sum();
      expect(")");
      return value;
    }
    if (is_digit(text_[at_])) return number();
    const std::string_view name = word();
    if (name.empty()) fail("a number or name is missing before " + quote(text_.substr(at_, 1)));
    if (!accept("(")) return symbol_with_place(name);
    if (name == "Symbol") return quoted_symbol();
    std::vector<double> values;
    do values.push_back(sum());
    while (accept(","));
    expect(")");
    return finite(call(name, values));
  }

  double call(std::string_view name, const std::vector<double>& values) const {
    double value = values.front();
    const auto fold = [&](auto combine) {
      for (std::size_t i = 1; i < values.size(); ++i) value = combine(value, values[i]);
      return value;
    };
    if (name == "Add") return fold([](double a, double b) { return a + b; });
    if (name == "Mul") return fold([](double a, double b) { return a * b; });
    if (name == "Max" || name == "max")
      return fold([](double a, double b) { return std::max(a, b); });
    if (name == "Min" || name == "min")
      return fold([](double a, double b) { return std::min(a, b); });
    if (values.size() == 1) {
      if (name == "Integer" || name == "Float" || name == "TruncToInt" || name == "ToFloat" ||
          name == "Identity")
        return name == "TruncToInt" ? std::trunc(value) : value;
      if (name == "floor" || name == "FloorToInt") return std::floor(value);
      if (name == "ceil" || name == "ceiling" || name == "CeilToInt") return std::ceil(value);
      if (name == "Abs" || name == "abs") return std::abs(value);
      if (name == "sqrt") return std::sqrt(value);
      if (name == "log2") return std::log2(value);
    }
    if (values.size() == 2) {
      const double other = values[1];
      if (name == "Rational" || name == "IntTrueDiv" || name == "FloatTrueDiv" ||
          name == "CleanDiv")
        return value / nonzero(other);
      if (name == "FloorDiv") return std::floor(value / nonzero(other));
      if (name == "CeilDiv") return std::ceil(value / nonzero(other));
      if (name == "Mod" || name == "PythonMod") return modulo(value, other);
      if (name == "Pow" || name == "PowByNatural") return std::pow(value, other);
    }
    const auto at = static_cast<std::size_t>(name.data() - text_.data());
    throw ExpressionFault{quote(name) + " is not a function of " + std::to_string(values.size()) +
                              (values.size() == 1 ? " number" : " numbers"),
                          at};
  }

  std::string_view text_;
  const SymbolValue& value_of_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double evaluate_expression(std::string_view text, const SymbolValue& value_of) {
  return Evaluator(text, value_of).run();
}

}  // namespace ridgeline
