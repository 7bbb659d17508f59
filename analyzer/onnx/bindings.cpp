// Options first (--shape, --dim, --batch), then --assume-dim; sizes that are still missing are an
// Error. The order matters: a shape given for one input binds its symbols for all the others.
#include "analyzer/onnx/bindings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "analyzer/onnx/name_map.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

// --- Graph inputs that are really weights: nodes read them only as weights. They have no batch,
// whatever their first dimension. MatMul of two activations looks the same as with weights, so the
// rank decides.

struct WeightPlaces {
  std::string_view op;
  std::size_t first, last;  // inputs
};

// One row per operator with weights among its inputs.
constexpr WeightPlaces weight_places[] = {
    {"Conv", 1, 2},
    {"ConvTranspose", 1, 2},
    {"ConvInteger", 1, 1},
    {"QLinearConv", 3, 3},
    {"Gemm", 1, 2},
    {"BatchNormalization", 1, 4},
    {"InstanceNormalization", 1, 2},
    {"LayerNormalization", 1, 2},
    {"GroupNormalization", 1, 2},
    {"RMSNormalization", 1, 1},
    {"PRelu", 1, 1},
    {"LSTM", 1, 3},
    {"GRU", 1, 3},
    {"RNN", 1, 3},
};

bool is_weight_place(const Node& node, std::size_t input) {
  return node.domain.empty() && std::any_of(std::begin(weight_places), std::end(weight_places),
                                            [&](const WeightPlaces& row) {
                                              return row.op == node.op_type && input >= row.first &&
                                                     input <= row.last;
                                            });
}

// A second operand of rank 2 is shared by the whole batch.
bool is_second_matrix(const Node& node, std::size_t input, const ValueInfo& info) {
  return node.domain.empty() && node.op_type == "MatMul" && input == 1 && info.type.dims &&
         info.type.dims->size() == 2;
}

std::set<std::string_view> weight_inputs(const GraphProto& graph) {
  NameMap<const ValueInfo*> inputs(graph.inputs.size());
  for (const ValueInfo& info : graph.inputs) inputs.set(info.name, &info);
  std::set<std::string_view> weights, activations;
  for (const Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (const auto* info = inputs.find(node.inputs[i]))
        (is_weight_place(node, i) || is_second_matrix(node, i, **info) ? weights : activations)
            .insert(node.inputs[i]);
  for (const std::string_view name : activations) weights.erase(name);
  return weights;
}

// --- binding

// A name as the user would write it in an option, quoted if necessary.
std::string option_word(std::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("_.:/-+@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain ? std::string(name) : quote(name);
}

class Binder {
 public:
  Binder(const GraphProto& graph, const ImportOptions& options, const std::string& file)
      : graph_(graph), options_(options), file_(file) {
    NameMap<bool> initializers(graph.initializers.size());
    for (const TensorProto& tensor : graph.initializers) initializers.set(tensor.name, true);
    NameMap<bool> names;
    // Before IR version 4 every initializer is listed as an input too.
    for (const ValueInfo& input : graph.inputs) {
      if (initializers.find(input.name) != nullptr) continue;
      if (!names.insert(input.name, true).second)
        throw Error(file_, "input " + quote(input.name) + " is listed twice");
      inputs_.push_back(&input);
    }
    result_.assumed = options.assumed_dim;
  }

  Bindings bind() {
    check_names();
    for (const auto& [symbol, size] : options_.dims)
      result_.symbols.emplace(symbol, std::pair{size, ShapeSource::given});
    for (const ValueInfo* input : inputs_) bind_given_shape(*input);
    if (options_.batch) bind_batch(*options_.batch);
    for (const ValueInfo* input : inputs_) result_.inputs.push_back(bound(*input));
    if (!missing_.empty() || !unranked_.empty()) ask();
    for (const BoundInput& input : result_.inputs)
      if (input.shape && !input.shape->empty()) {
        result_.batch = input.shape->front();
        break;
      }
    return std::move(result_);
  }

 private:
  static bool is_tensor(const ValueInfo& input) {
    return input.type.kind == TypeKind::tensor || input.type.kind == TypeKind::sparse_tensor ||
           input.type.kind == TypeKind::absent;
  }

  static bool is_free(const Dimension& dimension) {
    return !dimension.value || *dimension.value < 0;
  }

  void check_names() const {
    std::vector<std::string> names, symbols;
    for (const ValueInfo* input : inputs_) {
      names.emplace_back(input->name);
      if (input->type.dims)
        for (const Dimension& dimension : *input->type.dims)
          if (is_free(dimension) && !dimension.symbol.empty())
            symbols.emplace_back(dimension.symbol);
    }
    for (const auto& [name, shape] : options_.shapes) require(name, names, "--shape", "input");
    for (const auto& [symbol, size] : options_.dims)
      require(symbol, symbols, "--dim", "free dimension");
  }

  void require(const std::string& name, const std::vector<std::string>& names,
               std::string_view option, std::string_view noun) const {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    const auto near = nearest(name, names);
    std::string known;
    for (const std::string& one : std::set<std::string>(names.begin(), names.end()))
      (known += known.empty() ? "" : ", ") += one;
    throw usage_error(fmt::format("{} {}", option, name),
                      fmt::format("{} has no {} of this name", file_, noun),
                      near            ? fmt::format("did you mean {}?", quote(*near))
                      : known.empty() ? fmt::format("it has none at all")
                                      : fmt::format("it has {}", known));
  }

  void bind_symbol(std::string_view symbol, std::int64_t size, std::string_view who) {
    const auto [place, is_new] =
        result_.symbols.emplace(symbol, std::pair{size, ShapeSource::given});
    if (!is_new && place->second.first != size)
      throw usage_error(std::string(who), fmt::format("dimension {} is {} here and {} elsewhere",
                                                      quote(symbol), size, place->second.first));
  }

  void bind_given_shape(const ValueInfo& input) {
    const auto given = options_.shapes.find(std::string(input.name));
    if (given == options_.shapes.end() || !input.type.dims) return;
    const auto& dims = *input.type.dims;
    if (dims.size() != given->second.size())
      throw usage_error(
          fmt::format("--shape {}", option_word(input.name)),
          fmt::format("has {} dimensions, the input has {}", given->second.size(), dims.size()));
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (!is_free(dims[i]))
        result_.overrides_file = result_.overrides_file || *dims[i].value != given->second[i];
      else if (!dims[i].symbol.empty())
        bind_symbol(dims[i].symbol, given->second[i],
                    fmt::format("--shape {}", option_word(input.name)));
  }

  // The batch is dimension 0 wherever that is free. If all shapes in the file are fixed, it is the
  // first dimension of the first input, and is changed in every input that begins with the same
  // number. Inputs that nodes read as weights have no batch.
  void bind_batch(std::int64_t batch) {
    weights_ = weight_inputs(graph_);
    bool has_free = false;
    for (const ValueInfo* input : inputs_) {
      if (!begins(*input) || !is_free(input->type.dims->front())) continue;
      has_free = true;
      if (const auto symbol = input->type.dims->front().symbol; !symbol.empty())
        bind_symbol(symbol, batch, fmt::format("--batch {}", batch));
      else
        batch_inputs_.insert(input->name);
    }
    if (has_free) {
      // Exporters trace with a batch of one, so that is the number they bake in.
      result_.batch_change = BatchChange{1, batch, true};
      return;
    }
    for (const ValueInfo* input : inputs_) {
      if (!begins(*input)) continue;
      const std::int64_t in_file = *input->type.dims->front().value;
      if (!result_.batch_change) result_.batch_change = BatchChange{in_file, batch, false};
      if (result_.batch_change->in_file == in_file) batch_inputs_.insert(input->name);
    }
    if (!result_.batch_change)
      throw usage_error(fmt::format("--batch {}", batch),
                        file_ + " has no input whose first dimension could be a batch");
  }

  bool begins(const ValueInfo& input) const {
    return is_tensor(input) && input.type.dims && !input.type.dims->empty() &&
           !options_.shapes.contains(std::string(input.name)) && !weights_.contains(input.name);
  }

  BoundInput bound(const ValueInfo& input) {
    BoundInput result{&input, std::nullopt, ShapeSource::fixed};
    if (!is_tensor(input)) return result;
    if (const auto given = options_.shapes.find(std::string(input.name));
        given != options_.shapes.end()) {
      result.shape = given->second;
      result.source = ShapeSource::given;
      return checked(result);
    }
    if (!input.type.dims) {
      unranked_.push_back(input.name);
      return result;
    }
    result.shape.emplace();
    for (std::size_t i = 0; i < input.type.dims->size(); ++i) {
      const auto [size, source] = size_of(input, i);
      result.shape->push_back(size);
      result.source = std::max(result.source, source);
    }
    return checked(result);
  }

  std::pair<std::int64_t, ShapeSource> size_of(const ValueInfo& input, std::size_t axis) {
    const Dimension& dimension = (*input.type.dims)[axis];
    if (axis == 0 && batch_inputs_.contains(input.name))
      return {*options_.batch, ShapeSource::given};
    if (!is_free(dimension)) return {*dimension.value, ShapeSource::fixed};
    if (dimension.value && *dimension.value < -1)
      throw Error(file_, fmt::format("input {}: dimension {} is {}", quote(input.name), axis,
                                     *dimension.value));
    if (const auto bound = result_.symbols.find(dimension.symbol);
        !dimension.symbol.empty() && bound != result_.symbols.end())
      return bound->second;
    if (options_.assumed_dim) return {*options_.assumed_dim, ShapeSource::assumed};
    missing_.push_back({input.name, axis, dimension.symbol});
    return {1, ShapeSource::unknown};
  }

  BoundInput checked(BoundInput input) const {
    if (!checked_element_count(*input.shape))
      throw Error(file_, fmt::format("input {}: the shape {} is negative or too large",
                                     quote(input.info->name), to_string(*input.shape)));
    return input;
  }

  [[noreturn]] void ask() const {
    std::string what, fix;
    std::set<std::string_view> asked;
    for (const Missing& one : missing_) {
      if (one.symbol.empty()) {
        const std::string place = fmt::format("dimension {} of {}", one.axis, quote(one.input));
        (what += what.empty() ? "" : ", ") += place;
        if (asked.insert(one.input).second)
          (fix += fix.empty() ? "" : " ") += fmt::format("--shape {}=…", option_word(one.input));
      } else if (asked.insert(one.symbol).second) {
        (what += what.empty() ? "" : ", ") +=
            fmt::format("{} (of {})", quote(one.symbol), quote(one.input));
        (fix += fix.empty() ? "" : " ") += fmt::format("--dim {}=…", option_word(one.symbol));
      }
    }
    for (const std::string_view name : unranked_) {
      (what += what.empty() ? "" : ", ") += fmt::format("the whole shape of {}", quote(name));
      (fix += fix.empty() ? "" : " ") += fmt::format("--shape {}=…", option_word(name));
    }
    if (unranked_.empty()) fix += ", or --assume-dim 1";
    throw Error(file_, "sizes are missing: " + what, "give " + fix, ExitCode::incomplete);
  }

  struct Missing {
    std::string_view input;
    std::size_t axis;
    std::string_view symbol;
  };

  const GraphProto& graph_;
  const ImportOptions& options_;
  const std::string& file_;
  std::set<std::string_view> weights_;  // among the graph's inputs
  std::vector<const ValueInfo*> inputs_;
  std::set<std::string_view> batch_inputs_;
  std::vector<Missing> missing_;
  std::vector<std::string_view> unranked_;
  Bindings result_;
};

}  // namespace

std::optional<Shape> Bindings::resolve(const TypeProto& type) const {
  if (!type.dims || overrides_file) return std::nullopt;
  Shape shape;
  for (const Dimension& dimension : *type.dims) {
    if (dimension.value && *dimension.value >= 0) {
      shape.push_back(*dimension.value);
    } else if (const auto bound = symbols.find(dimension.symbol);
               !dimension.symbol.empty() && bound != symbols.end()) {
      shape.push_back(bound->second.first);
    } else if (assumed) {
      shape.push_back(*assumed);
    } else {
      return std::nullopt;
    }
  }
  const bool begins_with_batch = batch_change && !batch_change->was_free && !shape.empty() &&
                                 shape.front() == batch_change->in_file;
  if (begins_with_batch) shape.front() = batch_change->now;
  if (!checked_element_count(shape)) return std::nullopt;
  return shape;
}

Bindings bind_inputs(const GraphProto& graph, const ImportOptions& options,
                     const std::string& file) {
  return Binder(graph, options, file).bind();
}

}  // namespace ridgeline::onnx
