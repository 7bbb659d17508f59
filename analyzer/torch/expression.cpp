// A recursive descent over both notations; values are doubles, which hold every size exactly.
#include "analyzer/torch/expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

namespace ridgeline::pytorch {
namespace {

using SizeOf = std::function<std::optional<std::int64_t>(std::string_view)>;

struct NoValue {};

class Evaluator {
 public:
  Evaluator(std::string_view text, const SizeOf& size_of) : text_(text), size_of_(size_of) {}

  double run() {
    const double value = sum();
    blanks();
    if (at_ != text_.size()) throw NoValue{};
    return value;
  }

 private:
  static constexpr int max_depth = 64;

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
    if (!accept(word)) throw NoValue{};
  }

  double sum() {
    double value = product();
    while (true) {
      if (accept("+"))
        value += product();
      else if (accept("-"))
        value -= product();
      else
        return value;
    }
  }

  double product() {
    double value = power();
    while (true) {
      if (accept("//"))
        value = std::floor(value / nonzero(power()));
      else if (accept("/"))
        value /= nonzero(power());
      else if (accept("%"))
        value = modulo(value, power());
      else if (!text_.substr(at_).starts_with("**") && accept("*"))
        value *= power();
      else
        return value;
    }
  }

  double power() {
    const double base = unary();
    return accept("**") ? std::pow(base, unary()) : base;
  }

  double unary() {
    if (++depth_ > max_depth) throw NoValue{};
    const double value = accept("-") ? -unary() : primary();
    --depth_;
    return value;
  }

  static double nonzero(double value) {
    if (value == 0) throw NoValue{};
    return value;
  }
  static double modulo(double a, double b) { return a - std::floor(a / nonzero(b)) * b; }

  double number() {
    double value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      value = value * 10 + (text_[at_++] - '0');
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      for (double place = 0.1;
           at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
           place /= 10)
        value += place * (text_[at_++] - '0');
    }
    return value;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  double symbol(std::string_view name) {
    const auto size = size_of_(name);
    if (!size) throw NoValue{};
    return static_cast<double>(*size);
  }

  // Symbol('s77', positive=True, integer=True): the assumptions do not matter.
  double quoted_symbol() {
    blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) throw NoValue{};
    const char mark = text_[at_++];
    const std::size_t end = text_.find(mark, at_);
    const std::size_t close = end == std::string_view::npos ? end : text_.find(')', end);
    if (close == std::string_view::npos) throw NoValue{};
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = close + 1;
    return symbol(name);
  }

  double primary() {
    blanks();
    if (at_ >= text_.size()) throw NoValue{};
    if (accept("(")) {
      const double value = sum();
      expect(")");
      return value;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number();
    const std::string_view name = word();
    if (name.empty()) throw NoValue{};
    if (!accept("(")) return symbol(name);
    if (name == "Symbol") return quoted_symbol();
    std::vector<double> values;
    do values.push_back(sum());
    while (accept(","));
    expect(")");
    return call(name, values);
  }

  static double call(std::string_view name, const std::vector<double>& values) {
    double value = values.front();
    const auto fold = [&](auto combine) {
      for (std::size_t i = 1; i < values.size(); ++i) value = combine(value, values[i]);
      return value;
    };
    if (name == "Add") return fold([](double a, double b) { return a + b; });
    if (name == "Mul") return fold([](double a, double b) { return a * b; });
    if (name == "Max") return fold([](double a, double b) { return std::max(a, b); });
    if (name == "Min") return fold([](double a, double b) { return std::min(a, b); });
    if (values.size() == 1) {
      if (name == "Integer" || name == "Float" || name == "TruncToInt" || name == "ToFloat" ||
          name == "Identity")
        return name == "TruncToInt" ? std::trunc(value) : value;
      if (name == "floor" || name == "FloorToInt") return std::floor(value);
      if (name == "ceiling" || name == "CeilToInt") return std::ceil(value);
      if (name == "Abs") return std::abs(value);
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
    throw NoValue{};
  }

  std::string_view text_;
  const SizeOf& size_of_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::int64_t> evaluate(std::string_view expression, const SizeOf& size_of) {
  try {
    const double value = Evaluator(expression, size_of).run();
    constexpr double most = 9007199254740992.0;  // 2^53: beyond it doubles skip integers
    if (!(std::abs(value) <= most)) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(value));
  } catch (const NoValue&) {
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
