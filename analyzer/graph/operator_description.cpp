// The file format of described operators, and the names that formulas may use.
#include "analyzer/graph/operator_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::string_view operators_schema = "ridgeline.operators/1";
constexpr std::size_t max_formula = 2000;  // characters
constexpr std::size_t max_operands = 64;   // inputs, outputs and dimensions of one operator
constexpr std::string_view known_names =
    "known are in0[1], in0.elements, in0.bytes, in0.rank, in0.value, out0[1], out0.elements, "
    "out0.bytes, out0.rank, attr.NAME and attr.NAME[1]";

// "in12" → 12 after its prefix; nothing if that is not a small number.
std::optional<std::size_t> index_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::size_t index = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (fault != std::errc() || end != text.data() + text.size() || index >= max_operands)
    return std::nullopt;
  return index;
}

std::string shortened(std::string_view text) {
  return quote(text.size() > 60 ? std::string(text.substr(0, 60)) + "…" : std::string(text));
}

[[noreturn]] void fail_formula(const OperatorFormula& formula, const std::string& node,
                               const ExpressionFault& fault) {
  const bool is_name = fault.what.ends_with("is not known");
  throw Error(formula.place,
              fmt::format("{}{} at character {}: {}", node.empty() ? "" : node + ": ",
                          shortened(formula.text), fault.at + 1, fault.what),
              is_name ? std::string(known_names) : "");
}

class Reader {
 public:
  OperatorDescription read(const JsonCursor& cursor) {
    description_.name = cursor.at("name").text();
    if (description_.name.empty()) cursor.at("name").fail("empty");
    for (const auto& [name, value] : cursor.members()) {
      if (name == "name" || name == "comment") continue;
      if (name == "attributes")
        for (const auto& [attribute, number] : value.members())
          description_.defaults[attribute] = number.number();
      else if (name == "outputs")
        for (const JsonCursor& item : operands(value)) description_.outputs.push_back(output(item));
      else if (name == "macs")
        description_.macs = formula(value, true);
      else if (name == "flops")
        description_.flops = formula(value, true);
      else if (name == "reads" || name == "writes")
        moves(value, name == "reads" ? description_.reads : description_.writes);
      else
        value.fail(
            "unknown name, known are name, attributes, outputs, macs, flops, reads, writes, "
            "comment");
    }
    if (!description_.macs && !description_.flops)
      cursor.fail(
          fmt::format("operator {} has neither macs nor flops; write \"flops\": 0 if it "
                      "only moves data",
                      description_.name));
    return std::move(description_);
  }

 private:
  static std::vector<JsonCursor> operands(const JsonCursor& cursor) {
    std::vector<JsonCursor> items = cursor.items();
    if (items.size() > max_operands) cursor.fail(fmt::format("more than {} items", max_operands));
    return items;
  }

  // A number or a text; tried with stand-in numbers.
  OperatorFormula formula(const JsonCursor& cursor, bool knows_outputs) const {
    OperatorFormula formula;
    formula.place = fmt::format("{}: operator {}", cursor.path(), description_.name);
    if (cursor.value().is_number()) {
      formula.text = fmt::format("{}", cursor.non_negative());
      if (formula.text.find('e') != std::string::npos) cursor.fail("write it without an exponent");
    } else {
      formula.text = cursor.text();
    }
    if (formula.text.size() > max_formula)
      cursor.fail(fmt::format("a formula of more than {} characters", max_formula));
    try {
      evaluate_expression(formula.text, [&](std::string_view name) -> std::optional<double> {
        const auto symbol = parse_formula_symbol(name);
        if (!symbol || (symbol->kind == FormulaSymbol::Kind::output && !knows_outputs))
          return std::nullopt;
        return 1009;  // a prime: few divisors become zero
      });
    } catch (const ExpressionFault& fault) {
      if (!fault.is_of_value) fail_formula(formula, "", fault);
    }
    return formula;
  }

  DescribedOutput output(const JsonCursor& cursor) const {
    DescribedOutput result;
    for (const auto& [name, value] : cursor.members()) {
      if (name == "shape" && value.value().is_string()) {
        result.like = index_after(value.text(), "in");
        if (!result.like)
          value.fail("neither a list of sizes nor an input whose shape it has, such as \"in0\"");
      } else if (name == "shape") {
        for (const JsonCursor& item : operands(value)) result.shape.push_back(formula(item, false));
      } else if (name == "type") {
        if (const auto input = index_after(value.text(), "in"))
          result.type_of = *input;
        else
          result.type = value.token<ElementType>();
      } else {
        value.fail("unknown name, known are shape, type");
      }
    }
    cursor.at("shape");
    return result;
  }

  void moves(const JsonCursor& cursor, std::vector<std::optional<OperatorFormula>>& list) const {
    for (const JsonCursor& item : operands(cursor)) {
      list.emplace_back();
      if (!item.value().is_null()) list.back() = formula(item, true);
    }
  }

  OperatorDescription description_;
};

}  // namespace

std::optional<FormulaSymbol> parse_formula_symbol(std::string_view text) {
  using Kind = FormulaSymbol::Kind;
  using Field = FormulaSymbol::Field;
  FormulaSymbol symbol;
  if (const std::size_t bracket = text.find('['); bracket != std::string_view::npos) {
    std::int64_t place = 0;
    const std::string_view digits = text.substr(bracket + 1);
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), place);
    if (fault != std::errc() || *end != ']') return std::nullopt;
    symbol.place = place;
    text = text.substr(0, bracket);
  }
  constexpr std::string_view attribute = "attr.";
  if (text.starts_with(attribute)) {
    symbol.kind = Kind::attribute;
    symbol.attribute = text.substr(attribute.size());
    return symbol.attribute.empty() ? std::nullopt : std::optional(symbol);
  }
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view operand = text.substr(0, dot), field = text.substr(dot);
  auto index = index_after(operand, "in");
  if (!index) {
    symbol.kind = Kind::output;
    index = index_after(operand, "out");
  }
  if (!index) return std::nullopt;
  symbol.index = *index;
  if (field == ".value" && symbol.kind == Kind::input) {
    symbol.field = Field::value;
    return symbol;
  }
  if (symbol.place.has_value() != field.empty()) return std::nullopt;
  if (field.empty()) return symbol;
  if (field == ".elements")
    symbol.field = Field::elements;
  else if (field == ".bytes")
    symbol.field = Field::bytes;
  else if (field == ".rank")
    symbol.field = Field::rank;
  else
    return std::nullopt;
  return symbol;
}

double evaluate(const OperatorFormula& formula, const SymbolValue& value_of,
                const std::string& node) {
  try {
    return evaluate_expression(formula.text, value_of);
  } catch (const ExpressionFault& fault) {
    fail_formula(formula, node, fault);
  }
}

std::vector<OperatorDescription> operators_from_json(const JsonCursor& document) {
  check_schema(document, operators_schema);
  for (const auto& [name, value] : document.members())
    if (name != "schema" && name != "operators" && name != "comment")
      value.fail("unknown name, known are schema, operators, comment");
  std::vector<OperatorDescription> descriptions;
  for (const JsonCursor& item : document.at("operators").items()) {
    descriptions.push_back(Reader().read(item));
    const std::string& name = descriptions.back().name;
    if (std::count_if(descriptions.begin(), descriptions.end(),
                      [&](const OperatorDescription& one) { return one.name == name; }) > 1)
      item.fail("operator " + quote(name) + " is described twice");
  }
  if (descriptions.empty()) document.at("operators").fail("describes no operator");
  return descriptions;
}

std::vector<OperatorDescription> operators_from_file(const std::string& path) {
  const Json document = read_json_file(path);
  return operators_from_json(file_cursor(document, path));
}

}  // namespace ridgeline
