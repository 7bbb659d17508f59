// Evaluates the formulas of a described operator for one node: shapes first, then arithmetic and
// the elements moved, which may depend on the outputs.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/order.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

class DescribedNode {
 public:
  DescribedNode(NodeContext& context, const OperatorDescription& description)
      : context_(context), description_(description) {}

  void run() {
    for (std::size_t i = 0; i < context_.output_count(); ++i) set_output(i);
    const double macs = amount(description_.macs), flop = amount(description_.flops);
    context_.emit(Described{macs, flop});
    for (std::size_t i = 0; i < description_.reads.size(); ++i)
      if (const auto& formula = description_.reads[i]) context_.reads(i, elements(*formula));
    for (std::size_t i = 0; i < description_.writes.size(); ++i)
      if (const auto& formula = description_.writes[i]) context_.writes(i, elements(*formula));
  }

 private:
  std::string place() const { return describe(context_.node()); }

  double value(const OperatorFormula& formula) {
    return evaluate(
        formula, [this](std::string_view name) { return symbol(name); }, place());
  }

  // FLOP beyond this are a mistake, and their sums stay far from infinity.
  double amount(const std::optional<OperatorFormula>& formula) {
    if (!formula) return 0;
    constexpr double most = 1e30;
    const double result = value(*formula);
    if (result < 0 || result > most)
      fail(*formula,
           fmt::format("gives {:g}, which is {}", result, result < 0 ? "negative" : "too large"));
    return result;
  }

  // A whole number; parts of an element count as one if `rounds`.
  std::int64_t whole(const OperatorFormula& formula, bool rounds) {
    constexpr double most = 9007199254740992.0;  // 2^53: beyond it doubles skip integers
    double result = value(formula);
    if (rounds) result = std::ceil(result);
    if (result < 0 || result > most || result != std::floor(result))
      fail(formula, fmt::format("gives {:g}, which is {}", result,
                                result < 0      ? "negative"
                                : result > most ? "too large"
                                                : "no whole number"));
    return static_cast<std::int64_t>(result);
  }
  std::int64_t elements(const OperatorFormula& formula) { return whole(formula, true); }

  [[noreturn]] void fail(const OperatorFormula& formula, const std::string& what) const {
    throw Error(formula.place, fmt::format("{}: {} {}", place(), quote(formula.text), what));
  }

  void set_output(std::size_t index) {
    if (index >= description_.outputs.size()) {
      if (context_.wants(index) && !context_.take_declared(index))
        throw CannotInfer{
            fmt::format("neither its description nor the file gives a shape for output {}", index)};
      return;
    }
    const DescribedOutput& output = description_.outputs[index];
    Shape shape;
    if (output.like)
      shape = context_.shape(*output.like);
    else
      for (const OperatorFormula& formula : output.shape) shape.push_back(whole(formula, false));
    context_.set(index, output.type ? *output.type : context_.type(output.type_of),
                 std::move(shape));
  }

  std::optional<double> symbol(std::string_view name) {
    const auto symbol = parse_formula_symbol(name);
    if (!symbol) return std::nullopt;
    if (symbol->kind == FormulaSymbol::Kind::attribute) return attribute(*symbol, name);
    const bool is_input = symbol->kind == FormulaSymbol::Kind::input;
    if (symbol->field == FormulaSymbol::Field::value) return element(*symbol, name);
    const bool is_there = is_input ? context_.has(symbol->index) : context_.wants(symbol->index);
    if (!is_there && symbol->field != FormulaSymbol::Field::dimension) return 0;
    if (!is_there) no_value(name, "the node has none");
    const Value& value = is_input ? context_.input(symbol->index) : context_.output(symbol->index);
    if (!value.shape || value.is_sequence) throw CannotInfer{"the shape of an input is unknown"};
    const auto count = static_cast<double>(element_count(*value.shape));
    switch (symbol->field) {
      case FormulaSymbol::Field::elements:
        return count;
      case FormulaSymbol::Field::bytes:
        return storage_bytes(value.type, element_count(*value.shape)).value_or(0);
      case FormulaSymbol::Field::rank:
        return static_cast<double>(value.shape->size());
      default:
        break;
    }
    const auto axis = normalized_axis(*symbol->place, value.shape->size());
    if (!axis) no_value(name, "its shape is " + to_string(*value.shape));
    return static_cast<double>((*value.shape)[*axis]);
  }

  // An element of a list, or the only one.
  template <class List>
  double entry(const List& list, const FormulaSymbol& symbol, std::string_view name) {
    const std::int64_t at = symbol.place.value_or(0);
    const auto place = normalized_axis(at, list.size());
    if (!place || (!symbol.place && list.size() != 1))
      no_value(name, fmt::format("it has {} values", list.size()));
    return static_cast<double>(list[*place]);
  }

  std::optional<double> element(const FormulaSymbol& symbol, std::string_view name) {
    if (!context_.has(symbol.index)) no_value(name, "the node has none");
    const Contents* contents = context_.contents(symbol.index);
    std::vector<double> values;
    if (contents != nullptr)
      for (const Element& one : *contents) {
        if (!one) break;
        values.push_back(static_cast<double>(*one));
      }
    if (contents == nullptr || values.size() != contents->size())
      throw CannotInfer{"the values of " + quote(context_.input(symbol.index).name) +
                        " depend on data"};
    return entry(values, symbol, name);
  }

  std::optional<double> attribute(const FormulaSymbol& symbol, std::string_view name) {
    const Attribute* found = context_.attribute(symbol.attribute);
    if (found == nullptr) {
      const auto given = description_.defaults.find(symbol.attribute);
      if (given == description_.defaults.end())
        no_value(name, "the node has no such attribute, and \"attributes\" gives no default");
      return given->second;
    }
    if (!found->s.empty() || found->graph != nullptr || found->tensor != nullptr)
      no_value(name, "the attribute is not a number");
    if (!found->ints.empty() || !found->floats.empty())
      return found->ints.empty() ? entry(found->floats, symbol, name)
                                 : entry(found->ints, symbol, name);
    if (symbol.place) no_value(name, "the attribute is not a list");
    constexpr int is_float = 1;  // AttributeProto.FLOAT
    return found->type == is_float ? static_cast<double>(found->f) : static_cast<double>(found->i);
  }

  [[noreturn]] void no_value(std::string_view name, const std::string& why) const {
    throw ExpressionFault{fmt::format("{} has no value: {}", quote(name), why), 0, true};
  }

  NodeContext& context_;
  const OperatorDescription& description_;
};

}  // namespace

void apply_description(NodeContext& context, const OperatorDescription& description) {
  DescribedNode(context, description).run();
}

}  // namespace ridgeline::onnx
