// Operators that a user describes by formulas (`--ops FILE`): the shapes of their outputs, their
// arithmetic and what they move, in terms of a node's inputs and attributes. Read and checked here;
// the front end that finds such a node evaluates the formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "base/expression.h"
#include "base/json_fwd.h"

namespace ridgeline {

struct OperatorFormula {
  std::string text;
  std::string place;  // in the file, for messages: "my-ops.json: operators[0].flops"
};

struct DescribedOutput {
  std::optional<std::size_t> like;  // shape of this input, instead of the formulas
  std::vector<OperatorFormula> shape;
  std::optional<ElementType> type;  // absent: that of the input `type_of`
  std::size_t type_of = 0;
};

struct OperatorDescription {
  std::string name;                                     // with its domain: "com.acme.Mix"
  std::map<std::string, double, std::less<>> defaults;  // of attributes that a node may omit
  std::vector<DescribedOutput> outputs;                 // none: as the file declares them
  std::optional<OperatorFormula> macs, flops;           // flops: besides those of the MACs
  // Elements moved of each input and output; absent: all.
  std::vector<std::optional<OperatorFormula>> reads, writes;
};

// A name in a formula: "in0[1]", "in0.elements", "out0.bytes", "in2.value[0]", "attr.heads".
struct FormulaSymbol {
  enum class Kind { input, output, attribute };
  enum class Field { dimension, elements, bytes, rank, value };
  Kind kind = Kind::input;
  Field field = Field::dimension;
  std::size_t index = 0;       // of the input or output
  std::string_view attribute;  // its name
  std::optional<std::int64_t> place;
};
std::optional<FormulaSymbol> parse_formula_symbol(std::string_view text);

// Evaluates; a fault is an Error with file, operator, column and place in the formula. `node` says
// for which node, if any.
double evaluate(const OperatorFormula& formula, const SymbolValue& value_of,
                const std::string& node = {});

// `ridgeline.operators/1`; every formula is checked as far as it can be without a node.
std::vector<OperatorDescription> operators_from_json(const JsonCursor& document);
std::vector<OperatorDescription> operators_from_file(const std::string& path);

}  // namespace ridgeline
