// Matches the layers of two analyses and compares the pairs.
#include "analyzer/analysis/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/json.h"

namespace ridgeline {
namespace {

// --- Matching layers of two networks. One pass per key: the n-th layer of a name matches the n-th
// of that name, and likewise for modules, sizes and operators. No alignment, so linear in the
// layers.

struct LayerMatch {
  std::size_t index = 0;  // into `after`
  MatchedBy by = MatchedBy::name;
};

// A layer with the path of its module: "features.1.0.attn.MatMul".
struct Candidate {
  const AnalysisRow* row;
  std::string path;
};

using Key = std::string (*)(const Candidate&);  // an empty key matches nothing

// Exporters write /features/features.1/features.1.0/attn/MatMul for an operator of the module
// features.1.0.attn. A fused kernel goes by its first name.
std::string path_of(std::string_view name) {
  name = name.substr(0, name.find(" + "));
  std::string path;
  std::size_t last = 0;  // start of the previous component
  while (!name.empty()) {
    const std::size_t end = name.find('/');
    const std::string_view component = name.substr(0, end);
    name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
    if (component.empty()) continue;
    const std::string again = path.substr(last) + '.';
    if (component.substr(0, again.size()) == again) path.resize(last);
    if (!path.empty() && path.back() != '.') path += '.';
    last = path.size();
    path += component;
  }
  return path;
}

std::vector<Candidate> candidates_of(const std::vector<AnalysisRow>& rows) {
  std::vector<Candidate> candidates;
  candidates.reserve(rows.size());
  for (const AnalysisRow& row : rows)
    if (row.standing == Standing::counted) candidates.push_back({&row, path_of(row.name)});
  return candidates;
}

// The modules that contain all layers: "model.encoder.", or nothing.
std::string_view common_modules(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return {};
  std::string_view common = candidates.front().path;
  for (const Candidate& candidate : candidates) {
    const auto differ =
        std::mismatch(common.begin(), common.end(), candidate.path.begin(), candidate.path.end());
    common = common.substr(0, static_cast<std::size_t>(differ.first - common.begin()));
  }
  return common.substr(0, common.rfind('.') + 1);  // npos + 1 is 0
}

std::string_view parent(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return path.substr(0, dot == std::string_view::npos ? 0 : dot);
}

// Number of layers of `left` whose path or module occurs among the paths and modules of `right`,
// after dropping a prefix from each side's paths.
std::size_t in_shared_modules(const std::vector<Candidate>& left, std::size_t from_left,
                              const std::vector<Candidate>& right, std::size_t from_right) {
  std::unordered_set<std::string_view> modules;
  for (const Candidate& candidate : right) {
    const auto path = std::string_view(candidate.path).substr(from_right);
    modules.insert({path, parent(path)});
  }
  return static_cast<std::size_t>(
      std::count_if(left.begin(), left.end(), [&](const Candidate& candidate) {
        const auto path = std::string_view(candidate.path).substr(from_left);
        return modules.contains(path) || (!parent(path).empty() && modules.contains(parent(path)));
      }));
}

// Networks exported from within another module have its name before every path.
void drop_surrounding_modules(std::vector<Candidate>& left, std::vector<Candidate>& right) {
  const std::size_t a = common_modules(left).size(), b = common_modules(right).size();
  std::size_t from_left = 0, from_right = 0, most = in_shared_modules(left, 0, right, 0);
  for (const auto& [drop_left, drop_right] :
       {std::pair{a, b}, {a, std::size_t{0}}, {std::size_t{0}, b}}) {
    const std::size_t shared = in_shared_modules(left, drop_left, right, drop_right);
    if (shared <= most) continue;
    most = shared;
    from_left = drop_left;
    from_right = drop_right;
  }
  for (Candidate& candidate : left) candidate.path.erase(0, from_left);
  for (Candidate& candidate : right) candidate.path.erase(0, from_right);
}

// Number of elements in a layer's results; nothing if unknown.
std::optional<std::int64_t> results(const AnalysisRow& row) {
  std::int64_t elements = 0;
  for (const Tensor* tensor : row.outputs) {
    if (tensor->source == ShapeSource::unknown) return std::nullopt;
    elements += element_count(tensor->shape);
  }
  return elements;
}

std::string name_of(const Candidate& candidate) { return candidate.row->name; }
std::string operator_of(const Candidate& candidate) { return candidate.row->op; }

// MACs and result elements of a product, which together determine its inner size; operator and
// result elements of anything else.
std::string size_of(const Candidate& candidate) {
  const auto elements = results(*candidate.row);
  if (!elements) return {};
  const double macs = candidate.row->work.macs;
  return macs > 0 ? fmt::format("product {} {}", macs, *elements)
                  : fmt::format("{} {}", candidate.row->op, *elements);
}

std::string product_size(const Candidate& candidate) {
  return candidate.row->work.macs > 0 ? size_of(candidate) : std::string();
}

std::string result_size(const Candidate& candidate) {
  const auto elements = results(*candidate.row);
  return candidate.row->work.macs > 0 || !elements ? std::string() : std::to_string(*elements);
}

std::string module_and_size(std::string_view module, const std::string& size) {
  return module.empty() || size.empty() ? std::string() : fmt::format("{} {}", module, size);
}

// A layer as a module of its own, and as one of several in a module.
template <Key size>
std::string as_module(const Candidate& candidate) {
  return module_and_size(candidate.path, size(candidate));
}

template <Key size>
std::string within_module(const Candidate& candidate) {
  return module_and_size(parent(candidate.path), size(candidate));
}

struct Stage {
  MatchedBy by;
  Key before, after;
};

// Most certain first.
constexpr Stage matching_stages[] = {
    {MatchedBy::name, name_of, name_of},
    {MatchedBy::module, as_module<size_of>, as_module<size_of>},
    {MatchedBy::module, as_module<size_of>, within_module<size_of>},
    {MatchedBy::module, within_module<size_of>, as_module<size_of>},
    {MatchedBy::module, within_module<size_of>, within_module<size_of>},
    {MatchedBy::size, product_size, product_size},
    {MatchedBy::module, as_module<result_size>, within_module<result_size>},
    {MatchedBy::module, within_module<result_size>, as_module<result_size>},
    {MatchedBy::order, operator_of, operator_of},
};

// The match of each layer of `before`, if any; matches are unique.
std::vector<std::optional<LayerMatch>> match_layers(const std::vector<AnalysisRow>& before,
                                                    const std::vector<AnalysisRow>& after) {
  std::vector<std::optional<LayerMatch>> partners(before.size());
  std::vector<Candidate> left = candidates_of(before), right = candidates_of(after);
  drop_surrounding_modules(left, right);
  std::vector<bool> taken(right.size(), false);
  for (const Stage& stage : matching_stages) {
    std::unordered_map<std::string, std::deque<std::size_t>> waiting;
    for (std::size_t i = 0; i < right.size(); ++i)
      if (!taken[i]) waiting[stage.after(right[i])].push_back(i);
    waiting.erase("");
    for (const Candidate& candidate : left) {
      auto& partner = partners[static_cast<std::size_t>(candidate.row - before.data())];
      if (partner) continue;
      const auto found = waiting.find(stage.before(candidate));
      if (found == waiting.end() || found->second.empty()) continue;
      const std::size_t index = found->second.front();
      found->second.pop_front();
      taken[index] = true;
      partner = {static_cast<std::size_t>(right[index].row - after.data()), stage.by};
    }
  }
  return partners;
}

// --- Comparing matched layers

// Nothing for unknown shapes.
std::vector<std::optional<Shape>> shapes(const AnalysisRow& row) {
  std::vector<std::optional<Shape>> found;
  for (const auto* tensors : {&row.inputs, &row.outputs})
    for (const Tensor* tensor : *tensors)
      found.push_back(tensor->source == ShapeSource::unknown ? std::nullopt
                                                             : std::optional(tensor->shape));
  return found;
}

std::int64_t result_elements(const AnalysisRow& row) {
  std::int64_t elements = 0;
  for (const Tensor* tensor : row.outputs) elements += element_count(tensor->shape);
  return elements;
}

// Layers matched by name come from the same format. Others may lay out the same data differently:
// transposed weights, concatenated heads.
bool shapes_differ(const AnalysisRow& a, const AnalysisRow& b, MatchedBy by) {
  return by == MatchedBy::name ? shapes(a) != shapes(b) : result_elements(a) != result_elements(b);
}

std::vector<std::string> differences(const AnalysisRow& a, const AnalysisRow& b, MatchedBy by) {
  std::vector<std::string> what;
  const auto note = [&](bool differs, const char* name) {
    if (differs) what.emplace_back(name);
  };
  note(a.op != b.op, "op");
  note(a.compute_class != b.compute_class, "class");
  note(a.dtype != b.dtype, "dtype");
  note(shapes_differ(a, b, by), "shape");
  note(a.repeats != b.repeats, "repeats");
  note(a.work.macs != b.work.macs, "macs");
  note(total_flop(a.work) != total_flop(b.work), "flops");
  note(total_integer_ops(a.work) != total_integer_ops(b.work), "int_ops");
  note(a.work.transcendentals != b.work.transcendentals, "transcendentals");
  note(total_bytes(a.work) != total_bytes(b.work), "bytes");
  note(a.work.weight_bytes_read != b.work.weight_bytes_read, "weight_bytes");
  return what;
}

Json short_row(const AnalysisRow& row, Rules rules) {
  Json output_shapes = Json::array();
  for (const Tensor* tensor : row.outputs) output_shapes.push_back(shape_json(*tensor));
  Json json = {{"name", row.name},
               {"op", row.op},
               {"class", to_string(row.compute_class)},
               {"dtype", row.dtype},
               {"output_shapes", std::move(output_shapes)}};
  add_amounts(json, row.work, rules);
  json["intensity"] = nullable(intensity(row));
  return json;
}

Json side_json(const Analysis& analysis) {
  const Totals& totals = analysis.totals;
  Json sums = Json::object();
  add_amounts(sums, totals.work, analysis.rules);
  sums["bytes"] = amount_json(total_bytes(totals.work));
  sums["intensity"] = nullable(intensity(totals.work));
  sums["params"] = amount_json(totals.params);
  sums["parameter_bytes"] = amount_json(totals.parameter_bytes);
  sums["layers"] = totals.layers;
  Json unknown = Json::array();
  for (const UnknownOperator& row : analysis.unknown) unknown.push_back(row.op);
  return {{"model", analysis.model.path},
          {"batch", analysis.batch ? Json(*analysis.batch) : Json()},
          {"runtime", analysis.runtime ? Json(to_string(*analysis.runtime)) : Json()},
          {"shapes", to_string(least_sure_shapes(analysis))},
          {"totals", std::move(sums)},
          {"unknown", std::move(unknown)},
          {"warnings", analysis.warnings}};
}

// after / before of every total; null if there is nothing to divide by.
Json ratios(const Json& before, const Json& after) {
  Json result = Json::object();
  for (const auto& [name, value] : before.items()) {
    const Json& other = after[name];
    const bool divides = value.is_number() && other.is_number() && value.get<double>() != 0;
    result[name] = divides ? Json(other.get<double>() / value.get<double>()) : Json();
  }
  return result;
}

}  // namespace

AnalysisDiff diff(Analysis before, Analysis after) {
  AnalysisDiff difference;
  // Layers that launch nothing are not kernels.
  for (Analysis* side : {&before, &after})
    if (side->runtime)
      std::erase_if(side->rows,
                    [](const AnalysisRow& row) { return row.compute_class == ComputeClass::none; });
  const auto matches = match_layers(before.rows, after.rows);
  std::vector<bool> taken(after.rows.size(), false);
  for (std::size_t i = 0; i < before.rows.size(); ++i) {
    if (before.rows[i].standing != Standing::counted) continue;
    if (!matches[i]) {
      difference.removed.push_back(before.rows[i]);
      continue;
    }
    const auto& [index, by] = *matches[i];
    taken[index] = true;
    auto what = differences(before.rows[i], after.rows[index], by);
    if (what.empty())
      ++difference.same;
    else
      difference.changed.push_back({before.rows[i], after.rows[index], by, std::move(what)});
  }
  for (std::size_t i = 0; i < after.rows.size(); ++i)
    if (!taken[i] && after.rows[i].standing == Standing::counted)
      difference.added.push_back(after.rows[i]);
  difference.before = std::move(before);
  difference.after = std::move(after);
  return difference;
}

Json to_json(const AnalysisDiff& difference) {
  const Rules rules = difference.before.rules;
  const auto row = [&](const AnalysisRow& one) { return short_row(one, rules); };
  const Json before = side_json(difference.before), after = side_json(difference.after);
  return {{"schema", AnalysisDiff::schema},
          {"rules", to_string(rules)},
          {"before", before},
          {"after", after},
          {"ratios", ratios(before["totals"], after["totals"])},
          {"same", difference.same},
          {"changed", array_of(difference.changed,
                               [&](const ChangedLayer& one) -> Json {
                                 return {{"matched_by", to_string(one.matched_by)},
                                         {"what", one.what},
                                         {"before", row(one.before)},
                                         {"after", row(one.after)}};
                               })},
          {"removed", array_of(difference.removed, row)},
          {"added", array_of(difference.added, row)}};
}

}  // namespace ridgeline
