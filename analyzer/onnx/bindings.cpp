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

// --- Where the batch is: dimension 0, unless something else is known of an input.

bool is_recurrent(const Node& node) {
  return node.domain.empty() &&
         (node.op_type == "LSTM" || node.op_type == "GRU" || node.op_type == "RNN");
}

// Inputs that a recurrent layer reads as steps × batch × features, or as its first state.
std::set<std::string_view> inputs_over_time(const GraphProto& graph) {
  std::set<std::string_view> names;
  for (const Node& node : graph.nodes) {
    if (!is_recurrent(node)) continue;
    const auto layout =
        std::find_if(node.attributes.begin(), node.attributes.end(),
                     [](const Attribute& attribute) { return attribute.name == "layout"; });
    if (layout != node.attributes.end() && layout->i != 0) continue;
    for (const std::size_t place : {0U, 5U, 6U})  // X, initial_h, initial_c
      if (place < node.inputs.size() && !node.inputs[place].empty())
        names.insert(node.inputs[place]);
  }
  return names;
}

bool says_batch(std::string_view symbol) {
  return lower(symbol).find("batch") != std::string::npos;
}

// One image without a batch, as detectors take them: 3 channels × height × width.
bool is_single_image(std::span<const Dimension> dims) {
  constexpr std::int64_t smallest = 32;
  const auto is_side = [](const Dimension& dimension) {
    return !dimension.value || *dimension.value < 0 || *dimension.value >= smallest;
  };
  return dims.size() == 3 && dims[0].value == 3 && is_side(dims[1]) && is_side(dims[2]);
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
    over_time_ = inputs_over_time(graph_);
    if (options_.batch) bind_batch(*options_.batch);
    for (const ValueInfo* input : inputs_) result_.inputs.push_back(bound(*input));
    if (!missing_.empty() || !unranked_.empty()) ask();
    for (const BoundInput& input : result_.inputs) {
      const auto axis = input.shape ? batch_axis_of(*input.info) : std::nullopt;
      if (!axis || *axis >= input.shape->size()) continue;
      result_.batch = (*input.shape)[*axis];
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
    for (const auto& [name, axis] : options_.batch_axes)
      require(name, names, "--batch-axis", "input");
    for (const auto& [name, values] : options_.values) require(name, names, "--input", "input");
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

  // The dimension that is the batch, if the input has one. Inputs that nodes read as weights have
  // none, which is looked up only if the batch is to be changed.
  std::optional<std::size_t> batch_axis_of(const ValueInfo& input) const {
    if (const auto given = options_.batch_axes.find(std::string(input.name));
        given != options_.batch_axes.end()) {
      if (!given->second) return std::nullopt;
      const std::size_t rank =
          input.type.dims ? input.type.dims->size() : static_cast<std::size_t>(*given->second) + 1;
      const auto axis = normalized_axis(*given->second, rank);
      if (!axis)
        throw usage_error(
            fmt::format("--batch-axis {}={}", option_word(input.name), *given->second),
            fmt::format("the input has {} dimensions, counted from 0", rank));
      return axis;
    }
    if (!is_tensor(input)) return std::nullopt;
    if (!input.type.dims) return 0;
    const auto& dims = *input.type.dims;
    if (dims.empty() || weights_.contains(input.name)) return std::nullopt;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (is_free(dims[i]) && says_batch(dims[i].symbol)) return i;
    if (over_time_.contains(input.name) && dims.size() > 1) return 1;
    if (is_single_image(dims)) return std::nullopt;
    return 0;
  }

  // The batch is changed wherever its dimension is free. If none is free, it is that of the first
  // input, and is changed in every input whose batch is the same number.
  void bind_batch(std::int64_t batch) {
    weights_ = weight_inputs(graph_);
    bool has_free = false;
    for (const ValueInfo* input : inputs_) {
      const auto axis = changeable_axis(*input);
      if (!axis || !is_free((*input->type.dims)[*axis])) continue;
      has_free = true;
      if (const auto symbol = (*input->type.dims)[*axis].symbol; !symbol.empty())
        bind_symbol(symbol, batch, fmt::format("--batch {}", batch));
      batch_inputs_.emplace(input->name, *axis);
    }
    if (has_free) {
      // Exporters trace with a batch of one, so that is the number they bake in.
      result_.batch_change = BatchChange{1, batch, true};
      return;
    }
    for (const ValueInfo* input : inputs_) {
      const auto axis = changeable_axis(*input);
      if (!axis) continue;
      const std::int64_t in_file = *(*input->type.dims)[*axis].value;
      if (!result_.batch_change) result_.batch_change = BatchChange{in_file, batch, false};
      if (result_.batch_change->in_file == in_file) batch_inputs_.emplace(input->name, *axis);
    }
    if (!result_.batch_change)
      throw usage_error(fmt::format("--batch {}", batch),
                        file_ + " has no input with a dimension that could be a batch",
                        "--batch-axis INPUT=0 names one");
  }

  std::optional<std::size_t> changeable_axis(const ValueInfo& input) const {
    if (!input.type.dims || options_.shapes.contains(std::string(input.name))) return std::nullopt;
    return batch_axis_of(input);
  }

  BoundInput bound(const ValueInfo& input) {
    BoundInput result{&input, std::nullopt, ShapeSource::fixed, std::nullopt};
    if (!is_tensor(input)) return result;
    if (const auto found = batch_inputs_.find(input.name); found != batch_inputs_.end())
      result.batch_axis = found->second;
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
    if (const auto given = options_.values.find(std::string(input.name));
        given != options_.values.end()) {
      result.shape = shape_of_values(input, given->second.size());
      result.values = given->second;
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

  // As declared; a free dimension has as many elements as were given.
  Shape shape_of_values(const ValueInfo& input, std::size_t given) const {
    const auto count = static_cast<std::int64_t>(given);
    Shape shape;
    for (const Dimension& dimension : *input.type.dims)
      shape.push_back(is_free(dimension) ? count : *dimension.value);
    if (checked_element_count(shape) != count)
      throw usage_error(fmt::format("--input {}", option_word(input.name)),
                        fmt::format("{} for an input of {}",
                                    given == 1 ? "one value" : fmt::format("{} values", given),
                                    to_string(shape)));
    return shape;
  }

  std::pair<std::int64_t, ShapeSource> size_of(const ValueInfo& input, std::size_t axis) {
    const Dimension& dimension = (*input.type.dims)[axis];
    if (const auto found = batch_inputs_.find(input.name);
        found != batch_inputs_.end() && found->second == axis)
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
        const std::string place = fmt::format("axis {} of {}", one.axis, quote(one.input));
        (what += what.empty() ? "" : ", ") += place;
        if (asked.insert(one.input).second)
          (fix += fix.empty() ? "" : " ") += fmt::format("--shape {}=…", option_word(one.input));
      } else if (asked.insert(one.symbol).second) {
        (what += what.empty() ? "" : ", ") +=
            fmt::format("{} (axis {} of {})", quote(one.symbol), one.axis, quote(one.input));
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
  std::set<std::string_view> over_time_;                  // see inputs_over_time
  std::map<std::string_view, std::size_t> batch_inputs_;  // and their axis
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
