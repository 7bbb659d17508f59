// One pass over the JSON; members that nothing here needs are skipped.
#include "analyzer/torch/program.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json_scanner.h"

namespace ridgeline::pytorch {
namespace {

// Codes of torch.export's own schema, not those of c10.
ElementType element_type(std::int64_t code) {
  switch (code) {
    case 1:
      return ElementType::uint8;
    case 2:
      return ElementType::int8;
    case 3:
      return ElementType::int16;
    case 4:
      return ElementType::int32;
    case 5:
      return ElementType::int64;
    case 6:
      return ElementType::fp16;
    case 7:
      return ElementType::fp32;
    case 8:
      return ElementType::fp64;
    case 10:
      return ElementType::complex64;
    case 11:
      return ElementType::complex128;
    case 12:
      return ElementType::boolean;
    case 13:
      return ElementType::bf16;
    case 28:
      return ElementType::uint16;
    case 29:
      return ElementType::fp8_e4m3fn;
    case 30:
      return ElementType::fp8_e5m2;
    case 31:
      return ElementType::fp8_e4m3fnuz;
    case 32:
      return ElementType::fp8_e5m2fnuz;
    case 33:
      return ElementType::fp8_e8m0;
    case 34:
      return ElementType::uint32;
    case 35:
      return ElementType::uint64;
    default:
      return ElementType::unknown;
  }
}

class ProgramReader {
 public:
  ProgramReader(std::string_view text, const std::string& name)
      : text_(text), scanner_(text, name) {}

  Program run() {
    Program program;
    bool has_graph = false;
    scanner_.object([&](std::string_view key) {
      if (key == "graph_module") {
        has_graph = true;
        read_module(program);
      } else if (key == "opset_version") {
        scanner_.object([&](std::string_view domain) {
          std::string own(domain);
          program.opsets.emplace_back(std::move(own), scanner_.integer());
        });
      } else if (key == "range_constraints") {
        read_ranges(program);
      } else if (key == "schema_version") {
        read_version(program);
      } else if (key == "torch_version" && scanner_.peek() == '"') {
        program.torch_version = scanner_.text();
      } else {
        scanner_.skip();
      }
    });
    if (!has_graph)
      scanner_.fail("the program has no member \"graph_module\"",
                    "export the network again with torch.export.save");
    return program;
  }

 private:
  static constexpr int most_nested_graphs = 32;

  // Reads null, or calls read().
  template <class Read>
  void unless_null(const Read& read) {
    if (scanner_.peek() == 'n')
      scanner_.skip();
    else
      read();
  }

  // Of a union, the one member that is set.
  template <class Visit>
  void chosen(const Visit& visit) {
    if (scanner_.peek() != '{') return scanner_.skip();
    scanner_.object([&](std::string_view key) {
      if (scanner_.peek() == 'n')
        scanner_.skip();
      else
        visit(key);
    });
  }

  std::string text() { return std::string(scanner_.text()); }

  bool boolean() {
    const bool value = scanner_.peek() == 't';
    scanner_.skip();
    return value;
  }

  // Infinities are quoted, or bare words that JSON does not know; beyond all doubles counts as one.
  double real() {
    if (scanner_.peek() == '"') return word_value(scanner_.text());
    const std::size_t begin = scanner_.position();
    scanner_.skip();
    return word_value(text_.substr(begin, scanner_.position() - begin));
  }

  double word_value(std::string_view word) {
    double value = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (fault == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
    if (fault != std::errc() || end != word.data() + word.size())
      scanner_.fail("a number is missing here");
    return value;
  }

  std::optional<std::int64_t> optional_integer() {
    std::optional<std::int64_t> value;
    unless_null([&] { value = scanner_.integer(); });
    return value;
  }

  // Bounds may be infinite.
  std::optional<std::int64_t> bound() {
    constexpr double exact = 9007199254740992.0;  // 2^53: beyond it doubles skip integers
    const double value = real();
    return std::abs(value) <= exact ? std::optional(static_cast<std::int64_t>(value))
                                    : std::nullopt;
  }

  void read_ranges(Program& program) {
    scanner_.object([&](std::string_view symbol) {
      SymbolRange& range = program.ranges[std::string(symbol)];
      chosen([&](std::string_view key) {
        if (key == "min_val")
          range.low = bound();
        else if (key == "max_val")
          range.high = bound();
        else
          scanner_.skip();
      });
    });
  }

  // A number in the first files.
  void read_version(Program& program) {
    if (scanner_.peek() != '{') {
      program.major = optional_integer().value_or(0);
      return;
    }
    scanner_.object([&](std::string_view key) {
      if (key == "major")
        program.major = scanner_.integer();
      else if (key == "minor")
        program.minor = scanner_.integer();
      else
        scanner_.skip();
    });
  }

  void read_module(Program& program) {
    scanner_.object([&](std::string_view key) {
      if (key == "graph")
        program.graph = read_graph();
      else if (key == "signature")
        read_signature(program);
      else
        scanner_.skip();
    });
  }

  void read_signature(Program& program) {
    scanner_.object([&](std::string_view key) {
      if (key == "input_specs")
        scanner_.array([&] { chosen([&](std::string_view kind) { add_input(program, kind); }); });
      else if (key == "output_specs")
        scanner_.array([&] { chosen([&](std::string_view kind) { add_output(program, kind); }); });
      else
        scanner_.skip();
    });
  }

  void add_input(Program& program, std::string_view kind) {
    InputSpec& spec = program.inputs.emplace_back();
    if (kind == "user_input") spec.kind = InputKind::user;
    if (kind == "parameter") spec.kind = InputKind::parameter;
    if (kind == "buffer") spec.kind = InputKind::buffer;
    if (kind == "tensor_constant") spec.kind = InputKind::constant;
    chosen([&](std::string_view key) {
      if (key == "arg")
        spec.graph_name = argument_name();
      else if (key.ends_with("_name"))
        spec.name = text();
      else
        scanner_.skip();
    });
  }

  void add_output(Program& program, std::string_view kind) {
    OutputSpec& spec = program.outputs.emplace_back();
    if (kind == "user_output" || kind == "loss_output") spec.kind = OutputKind::user;
    if (kind.ends_with("_mutation")) spec.kind = OutputKind::mutation;
    chosen([&](std::string_view key) {
      if (key == "arg")
        spec.graph_name = argument_name();
      else
        scanner_.skip();
    });
  }

  // {"name": "x"}, or an Argument with a name: {"as_tensor": {"name": "x"}}.
  std::string argument_name() {
    std::string name;
    chosen([&](std::string_view key) {
      if ((key == "name" || key == "as_name") && scanner_.peek() == '"')
        name = text();
      else if ((key == "as_tensor" || key == "as_sym_int") && scanner_.peek() == '{')
        name = inner_name();
      else
        scanner_.skip();
    });
    return name;
  }

  std::string inner_name() {
    std::string name;
    chosen([&](std::string_view key) {
      if ((key == "name" || key == "as_name") && scanner_.peek() == '"')
        name = text();
      else
        scanner_.skip();
    });
    return name;
  }

  ProgramGraph read_graph() {
    if (++nested_ > most_nested_graphs) scanner_.fail("its graphs are nested too deeply");
    ProgramGraph graph;
    scanner_.object([&](std::string_view key) {
      if (key == "inputs") {
        scanner_.array([&] { graph.inputs.push_back(read_value()); });
      } else if (key == "outputs") {
        scanner_.array([&] { graph.outputs.push_back(read_value()); });
      } else if (key == "nodes") {
        scanner_.array([&] { graph.nodes.push_back(read_node()); });
      } else if (key == "tensor_values") {
        scanner_.object([&](std::string_view name) {
          TensorMeta& meta = graph.tensors[std::string(name)];
          meta = read_meta();
        });
      } else if (key == "sym_int_values") {
        scanner_.object([&](std::string_view name) {
          Size& size = graph.sym_ints[std::string(name)];
          size = read_size();
        });
      } else {
        scanner_.skip();
      }
    });
    --nested_;
    return graph;
  }

  TensorMeta read_meta() {
    TensorMeta meta;
    chosen([&](std::string_view key) {
      if (key == "dtype")
        meta.type = element_type(scanner_.integer());
      else if (key == "sizes")
        scanner_.array([&] { meta.sizes.push_back(read_size()); });
      else if (key == "strides")
        scanner_.array([&] { meta.strides.push_back(read_size()); });
      else
        scanner_.skip();
    });
    return meta;
  }

  Size read_size() {
    Size size;
    bool is_given = false;
    chosen([&](std::string_view key) {
      is_given = is_given || key == "as_int" || key == "as_expr";
      if (key == "as_int")
        size.value = scanner_.integer();
      else if (key == "as_expr")
        chosen([&](std::string_view part) {
          if (part == "expr_str")
            size.expression = text();
          else if (part == "hint")
            chosen([&](std::string_view kind) {
              if (kind == "as_int")
                size.hint = scanner_.integer();
              else
                scanner_.skip();
            });
          else
            scanner_.skip();
        });
      else
        scanner_.skip();
    });
    if (!is_given) scanner_.fail("a size has neither a number nor an expression");
    return size;
  }

  ProgramNode read_node() {
    ProgramNode node;
    scanner_.object([&](std::string_view key) {
      if (key == "target") {
        node.target = text();
      } else if (key == "name") {
        unless_null([&] { node.name = text(); });
      } else if (key == "inputs") {
        scanner_.array([&] { node.inputs.push_back(read_argument()); });
      } else if (key == "outputs") {
        scanner_.array([&] { node.outputs.push_back(read_value()); });
      } else if (key == "metadata") {
        chosen([&](std::string_view part) {
          if (part == "nn_module_stack")
            node.modules = text();
          else
            scanner_.skip();
        });
      } else {
        scanner_.skip();
      }
    });
    return node;
  }

  ProgramArgument read_argument() {
    ProgramArgument argument;
    scanner_.object([&](std::string_view key) {
      if (key == "name")
        argument.name = text();
      else if (key == "arg")
        argument.value = read_value();
      else
        scanner_.skip();
    });
    return argument;
  }

  SymbolName read_symbol() {
    SymbolName symbol;
    chosen([&](std::string_view key) {
      if (key == "as_name")
        symbol.name = text();
      else if (key == "as_int")
        symbol.value = scanner_.integer();
      else
        scanner_.skip();
    });
    return symbol;
  }

  ProgramValue read_value() {
    ProgramValue value;
    chosen([&](std::string_view kind) {
      if (kind == "as_tensor") {
        value = TensorName{inner_name()};
      } else if (kind == "as_tensors") {
        std::vector<TensorName> names;
        scanner_.array([&] { names.push_back({inner_name()}); });
        value = std::move(names);
      } else if (kind == "as_optional_tensors") {
        std::vector<TensorName> names;
        scanner_.array([&] { names.push_back({argument_name()}); });
        value = std::move(names);
      } else if (kind == "as_optional_tensor") {
        if (std::string name = argument_name(); !name.empty()) value = TensorName{std::move(name)};
      } else if (kind == "as_nested_tensors") {
        std::vector<TensorName> names;
        scanner_.array([&] { scanner_.array([&] { names.push_back({inner_name()}); }); });
        value = std::move(names);
      } else if (kind == "as_int") {
        value = scanner_.integer();
      } else if (kind == "as_ints") {
        std::vector<std::int64_t> numbers;
        scanner_.array([&] { numbers.push_back(scanner_.integer()); });
        value = std::move(numbers);
      } else if (kind == "as_float") {
        value = real();
      } else if (kind == "as_floats") {
        std::vector<double> numbers;
        scanner_.array([&] { numbers.push_back(real()); });
        value = std::move(numbers);
      } else if (kind == "as_bool") {
        value = boolean();
      } else if (kind == "as_string") {
        value = text();
      } else if (kind == "as_sym_int") {
        value = read_symbol();
      } else if (kind == "as_sym_ints") {
        std::vector<SymbolName> symbols;
        scanner_.array([&] { symbols.push_back(read_symbol()); });
        value = std::move(symbols);
      } else if (kind == "as_graph") {
        scanner_.object([&](std::string_view key) {
          if (key == "graph")
            value = std::make_shared<ProgramGraph>(read_graph());
          else
            scanner_.skip();
        });
      } else {
        scanner_.skip();
      }
    });
    return value;
  }

  std::string_view text_;
  JsonScanner scanner_;
  int nested_ = 0;
};

}  // namespace

Program parse_program(std::string_view text, const std::string& name) {
  return ProgramReader(text, name).run();
}

}  // namespace ridgeline::pytorch
