// Options first, in the order of their weight; what is still free has the size of the example.
#include "analyzer/torch/symbol_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/torch/expression.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"

namespace ridgeline::pytorch {
namespace {

constexpr const char* export_dynamic =
    "export it with dynamic_shapes, or with an example of the size wanted";

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) (text += text.empty() ? "" : ", ") += name;
  return text;
}

template <class Named>
void require_known(const std::map<std::string, Named>& given, const std::set<std::string>& known,
                   const char* option, const char* noun, const std::string& path) {
  for (const auto& [name, value] : given) {
    if (known.contains(name)) continue;
    const auto near = nearest(name, std::vector<std::string>(known.begin(), known.end()));
    throw usage_error(fmt::format("{} {}", option, name),
                      fmt::format("{} has no {} of this name", path, noun),
                      near            ? fmt::format("did you mean {}?", quote(*near))
                      : known.empty() ? "it has none at all"
                                      : "it has " + listed(known));
  }
}

}  // namespace

SymbolSizes::SymbolSizes(const Program& program, const ReadOptions& options, std::string path)
    : program_(program), options_(options), path_(std::move(path)) {
  for (const InputSpec& spec : program.inputs)
    if (const auto meta = program.graph.tensors.find(spec.graph_name);
        spec.kind == InputKind::user && meta != program.graph.tensors.end())
      inputs_.emplace_back(spec.graph_name, &meta->second);
  collect(program.graph);
  check_options();
  for (const auto& [symbol, size] : options.dims) give(symbol, size, "--dim " + symbol);
  bind_shapes();
  if (options.batch) bind_batch(*options.batch);
  bind_rest();
  check_given_shapes();
  for (const auto& [name, meta] : inputs_)
    if (const auto axis = batch_axis(name, *meta); axis && !batch_)
      batch_ = size(meta->sizes[*axis]).first;
}

void SymbolSizes::note(const Size& size) {
  if (size.expression.empty() || known_.contains(size.expression)) return;
  known_.emplace(size.expression, std::pair{0, ShapeSource::unknown});
  for (const std::string& symbol : symbols_in(size.expression)) symbols_[symbol];
  if (const auto lone = lone_symbol(size.expression); lone && size.hint)
    symbols_[*lone] = size.hint;
}

void SymbolSizes::collect(const ProgramGraph& graph) {
  for (const auto& [name, meta] : graph.tensors)
    for (const Size& size : meta.sizes) note(size);
  for (const auto& [name, size] : graph.sym_ints) note(size);
  for (const ProgramNode& node : graph.nodes)
    for (const ProgramArgument& argument : node.inputs)
      if (const auto* nested = std::get_if<std::shared_ptr<ProgramGraph>>(&argument.value))
        collect(**nested);
}

void SymbolSizes::check_options() const {
  std::set<std::string> names, symbols;
  for (const auto& [name, meta] : inputs_) names.insert(name);
  for (const auto& [symbol, hint] : symbols_) symbols.insert(symbol);
  require_known(options_.dims, symbols, "--dim", "symbolic size", path_);
  require_known(options_.shapes, names, "--shape", "input", path_);
  require_known(options_.batch_axes, names, "--batch-axis", "input", path_);
  if (!options_.values.empty())
    throw usage_error("--input", "no shape of an exported program depends on the values of inputs",
                      "leave it out");
}

void SymbolSizes::give(const std::string& symbol, std::int64_t size, const std::string& option) {
  if (const auto range = program_.ranges.find(symbol); range != program_.ranges.end()) {
    // torch traces free sizes as 2 or more; the graph is the same for 1.
    const std::int64_t low = range->second.low.value_or(0);
    const bool too_small = size < low && !(low == 2 && size == 1);
    if (too_small || (range->second.high && size > *range->second.high))
      throw usage_error(option,
                        fmt::format("{} is {}, outside of what {} was exported for ({} to {})",
                                    quote(symbol), size, path_, low,
                                    range->second.high ? std::to_string(*range->second.high)
                                                       : std::string("any")),
                        "choose a size in this range, or export it again");
  }
  const auto [place, is_new] = bound_.emplace(symbol, Bound{size, ShapeSource::given});
  if (!is_new && place->second.size != size)
    throw usage_error(option, fmt::format("{} is {} here and {} elsewhere", quote(symbol), size,
                                          place->second.size));
}

void SymbolSizes::bind_shapes() {
  for (const auto& [name, meta] : inputs_) {
    const auto given = options_.shapes.find(name);
    if (given == options_.shapes.end()) continue;
    const std::string option = "--shape " + name;
    if (given->second.size() != meta->sizes.size())
      throw usage_error(option, fmt::format("has {} dimensions, the input has {}",
                                            given->second.size(), meta->sizes.size()));
    for (std::size_t i = 0; i < meta->sizes.size(); ++i) {
      const Size& size = meta->sizes[i];
      if (size.expression.empty()) {
        if (size.value != given->second[i])
          throw usage_error(option,
                            fmt::format("axis {} is {}, and fixed at {} in {}", i, given->second[i],
                                        size.value, path_),
                            export_dynamic);
      } else if (const auto symbol = lone_symbol(size.expression)) {
        give(*symbol, given->second[i], option);
      }
    }
  }
}

std::optional<std::size_t> SymbolSizes::batch_axis(const std::string& input,
                                                   const TensorMeta& meta) const {
  const auto given = options_.batch_axes.find(input);
  if (given == options_.batch_axes.end())
    return meta.sizes.empty() ? std::nullopt : std::optional<std::size_t>(0);
  if (!given->second) return std::nullopt;
  const auto axis = normalized_axis(*given->second, meta.sizes.size());
  if (!axis)
    throw usage_error(
        fmt::format("--batch-axis {}={}", input, *given->second),
        fmt::format("the input has {} dimensions, counted from 0", meta.sizes.size()));
  return axis;
}

// Sizes without a symbol cannot change: the graph holds what follows from them.
void SymbolSizes::bind_batch(std::int64_t batch) {
  const std::string option = fmt::format("--batch {}", batch);
  bool is_bound = false;
  std::optional<std::int64_t> fixed;
  for (const auto& [name, meta] : inputs_) {
    const auto axis = batch_axis(name, *meta);
    if (!axis || options_.shapes.contains(name)) continue;
    const Size& size = meta->sizes[*axis];
    if (size.expression.empty()) {
      if (!fixed) fixed = size.value;
    } else if (const auto symbol = lone_symbol(size.expression)) {
      give(*symbol, batch, option);
      is_bound = true;
    }
  }
  if (is_bound || fixed == batch) return;
  throw usage_error(option,
                    fixed ? fmt::format("the batch of {} is fixed at {}", path_, *fixed)
                          : path_ + " has no input with a dimension that could be a batch",
                    fixed
                        ? "export it with dynamic_shapes={INPUT: {0: torch.export.Dim(\"batch\")}}"
                        : "--batch-axis INPUT=0 names one");
}

void SymbolSizes::bind_rest() {
  std::string missing, options, hints;
  for (const auto& [symbol, hint] : symbols_) {
    if (bound_.contains(symbol)) continue;
    // Beyond this a limit is none: torch writes 2^63 − 1 and the like.
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const auto range = program_.ranges.find(symbol);
    const bool has_limit =
        range != program_.ranges.end() && range->second.high && *range->second.high <= most;
    if (options_.assumed_dim) {
      bound_.emplace(symbol, Bound{*options_.assumed_dim, ShapeSource::assumed});
    } else if (hint) {
      bound_.emplace(symbol, Bound{*hint, ShapeSource::declared});
      (hints += hints.empty() ? "" : ", ") += fmt::format("{} = {}", symbol, *hint);
      (options += options.empty() ? "" : " ") += fmt::format("--dim {}=…", symbol);
    } else if (has_limit) {
      bound_.emplace(symbol, Bound{*range->second.high, ShapeSource::bound});
    } else {
      (missing += missing.empty() ? "" : ", ") += symbol;
    }
  }
  if (!missing.empty()) {
    std::string fix;
    for (const std::string_view symbol : split_words(missing))
      fix += fmt::format("--dim {}=… ", trimmed(symbol));
    throw Error(path_, "sizes are missing that depend on data: " + missing,
                "give " + fix + "or --assume-dim 1", ExitCode::incomplete);
  }
  if (!hints.empty())
    warnings_.push_back(fmt::format(
        "{} as in the example that the network was exported with (give {})", hints, options));
}

std::pair<std::int64_t, ShapeSource> SymbolSizes::size(const Size& size) {
  if (size.expression.empty()) return {size.value, ShapeSource::fixed};
  auto& known = known_[size.expression];
  if (known.second != ShapeSource::unknown) return known;
  ShapeSource source = ShapeSource::fixed;
  for (const std::string& symbol : symbols_in(size.expression))
    if (const auto bound = bound_.find(symbol); bound != bound_.end())
      source = std::max(source, bound->second.source);
  const auto value =
      evaluate(size.expression, [&](std::string_view symbol) -> std::optional<std::int64_t> {
        const auto bound = bound_.find(symbol);
        return bound == bound_.end() ? std::nullopt : std::optional(bound->second.size);
      });
  if (value) return known = {*value, source};
  const bool as_in_example = source == ShapeSource::fixed || source == ShapeSource::declared;
  if (size.hint && as_in_example) return known = {*size.hint, ShapeSource::declared};
  throw Error(path_, fmt::format("the size {} cannot be computed", quote(size.expression)),
              "leave out --dim, --shape and --batch to take the sizes of the example",
              ExitCode::incomplete);
}

std::pair<Shape, ShapeSource> SymbolSizes::shape(const TensorMeta& meta, const std::string& name) {
  std::pair<Shape, ShapeSource> result{{}, ShapeSource::fixed};
  for (const Size& one : meta.sizes) {
    const auto [value, source] = size(one);
    result.first.push_back(value);
    result.second = std::max(result.second, source);
  }
  if (!checked_element_count(result.first))
    throw Error(path_, fmt::format("{}: the shape {} is negative or too large", quote(name),
                                   to_string(result.first)));
  return result;
}

void SymbolSizes::check_given_shapes() {
  for (const auto& [name, meta] : inputs_)
    if (const auto given = options_.shapes.find(name); given != options_.shapes.end())
      if (const Shape follows = shape(*meta, name).first; follows != given->second)
        throw usage_error("--shape " + name,
                          fmt::format("is {}, but the sizes of {} make it {}",
                                      to_string(given->second), path_, to_string(follows)),
                          "give the symbols with --dim");
}

}  // namespace ridgeline::pytorch
