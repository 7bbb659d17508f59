// Program: an exported program as its JSON spells it, before symbols have sizes. Both generations
// of the schema (torch 2.1 to 2.7, and since 2.8) have this form.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/graph/element_type.h"

namespace ridgeline::pytorch {

// A size: a number, or an expression of symbols with its value in the example.
struct Size {
  std::int64_t value = 0;
  std::string expression = {};  // empty: the value counts
  std::optional<std::int64_t> hint = {};
};

struct TensorMeta {
  ElementType type = ElementType::unknown;
  std::vector<Size> sizes, strides;
};

struct ProgramGraph;

struct TensorName {
  std::string name;  // empty: None
};
struct SymbolName {
  std::string name;  // in ProgramGraph::sym_ints; empty: the value counts
  std::int64_t value = 0;
};

using ProgramValue =
    std::variant<std::monostate, TensorName, std::vector<TensorName>, bool, std::int64_t, double,
                 std::string, std::vector<std::int64_t>, std::vector<double>, SymbolName,
                 std::vector<SymbolName>, std::shared_ptr<ProgramGraph>>;

struct ProgramArgument {
  std::string name;
  ProgramValue value;
};

struct ProgramNode {
  std::string target;   // "torch.ops.aten.conv2d.default"
  std::string name;     // empty in files of torch 2.4
  std::string modules;  // nn_module_stack
  std::vector<ProgramArgument> inputs;
  std::vector<ProgramValue> outputs;
};

struct ProgramGraph {
  std::vector<ProgramValue> inputs, outputs;
  std::vector<ProgramNode> nodes;
  std::map<std::string, TensorMeta, std::less<>> tensors;
  std::map<std::string, Size, std::less<>> sym_ints;
};

enum class InputKind { user, parameter, buffer, constant, other };

struct InputSpec {
  InputKind kind = InputKind::other;
  std::string graph_name;  // of the graph's input
  std::string name;        // of the parameter: "layer1.0.conv1.weight"
};

enum class OutputKind { user, mutation, other };

struct OutputSpec {
  OutputKind kind = OutputKind::other;
  std::string graph_name;
};

struct SymbolRange {
  std::optional<std::int64_t> low, high;
};

struct Program {
  ProgramGraph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::map<std::string, SymbolRange, std::less<>> ranges;
  std::int64_t major = 0, minor = 0;  // of the schema
  std::string torch_version;          // empty in old files
  std::vector<std::pair<std::string, std::int64_t>> opsets;
};

// `name` is for messages. An Error if the text is not JSON or not a program.
Program parse_program(std::string_view text, const std::string& name);

}  // namespace ridgeline::pytorch
