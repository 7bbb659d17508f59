// Matching of layers in one pass per key: the n-th of a name with the n-th of that name, and so on
// for modules, sizes and operators. No alignment: linear in the layers.
#include "analyzer/analysis_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "base/json.h"

namespace ridgeline {
namespace {

using Rows = std::vector<AnalysisRow>;

constexpr std::size_t unmatched = static_cast<std::size_t>(-1);

struct Partner {
  std::size_t index = unmatched;
  MatchedBy by = MatchedBy::name;
};

using Key = std::string (*)(const AnalysisRow&);  // empty: matches nothing

void match(const Rows& before, const Rows& after, std::vector<Partner>& partners,
           std::vector<bool>& taken, MatchedBy by, Key key_before, Key key_after) {
  std::map<std::string, std::deque<std::size_t>> waiting;
  for (std::size_t i = 0; i < after.size(); ++i)
    if (!taken[i] && after[i].standing == Standing::counted)
      waiting[key_after(after[i])].push_back(i);
  waiting.erase("");
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (partners[i].index != unmatched || before[i].standing != Standing::counted) continue;
    const auto found = waiting.find(key_before(before[i]));
    if (found == waiting.end() || found->second.empty()) continue;
    partners[i] = {found->second.front(), by};
    taken[found->second.front()] = true;
    found->second.pop_front();
  }
}

std::string name_of(const AnalysisRow& row) { return row.name; }
std::string operator_of(const AnalysisRow& row) { return row.op; }

// The multiplications and the results of a product, which its inner size follows from; the results
// of any other operator.
std::string size_of(const AnalysisRow& row) {
  std::int64_t results = 0;
  for (const Tensor* tensor : row.outputs) {
    if (tensor->source == ShapeSource::unknown) return {};
    results += element_count(tensor->shape);
  }
  return row.work.macs > 0 ? fmt::format("product {} {}", row.work.macs, results)
                           : fmt::format("{} {}", row.op, results);
}

std::string product_size(const AnalysisRow& row) {
  return row.work.macs > 0 ? size_of(row) : std::string();
}

// Exporters write /features/features.1/features.1.0/attn/MatMul for an operator of the module
// features.1.0.attn.
std::string path_of(std::string_view name) {
  std::string path;
  std::size_t last = 0;  // where the component before this one begins
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

std::string in_module(const AnalysisRow& row, std::string_view module) {
  const std::string size = size_of(row);
  return module.empty() || size.empty() ? std::string() : fmt::format("{} {}", module, size);
}

// A layer as a module of its own, and as one of several in a module.
std::string as_module(const AnalysisRow& row) { return in_module(row, path_of(row.name)); }
std::string within_module(const AnalysisRow& row) {
  const std::string path = path_of(row.name);
  const std::size_t dot = path.find_last_of('.');
  return dot == std::string::npos ? std::string() : in_module(row, path.substr(0, dot));
}

struct Stage {
  MatchedBy by;
  Key before, after;
};

// From sure to unsure.
constexpr Stage stages[] = {
    {MatchedBy::name, name_of, name_of},
    {MatchedBy::module, as_module, as_module},
    {MatchedBy::module, as_module, within_module},
    {MatchedBy::module, within_module, as_module},
    {MatchedBy::module, within_module, within_module},
    {MatchedBy::size, product_size, product_size},
    {MatchedBy::order, operator_of, operator_of},
};

// Nothing in the place of an unknown one.
std::vector<std::optional<Shape>> shapes(const AnalysisRow& row) {
  std::vector<std::optional<Shape>> found;
  for (const auto* tensors : {&row.inputs, &row.outputs})
    for (const Tensor* tensor : *tensors)
      found.push_back(tensor->source == ShapeSource::unknown ? std::nullopt
                                                             : std::optional(tensor->shape));
  return found;
}

std::vector<std::string> differences(const AnalysisRow& a, const AnalysisRow& b) {
  std::vector<std::string> what;
  const auto note = [&](bool differs, const char* name) {
    if (differs) what.emplace_back(name);
  };
  note(a.op != b.op, "op");
  note(a.compute_class != b.compute_class, "class");
  note(a.dtype != b.dtype, "dtype");
  note(shapes(a) != shapes(b), "shape");
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
  for (const UnknownRow& row : analysis.unknown) unknown.push_back(row.op);
  return {{"model", analysis.model.path},
          {"batch", analysis.batch ? Json(*analysis.batch) : Json()},
          {"shapes", to_string(least_sure_shapes(analysis))},
          {"totals", std::move(sums)},
          {"unknown", std::move(unknown)},
          {"warnings", analysis.warnings}};
}

// after / before of every total; null where there is nothing to divide by.
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
  std::vector<Partner> partners(before.rows.size());
  std::vector<bool> taken(after.rows.size(), false);
  for (const Stage& stage : stages)
    match(before.rows, after.rows, partners, taken, stage.by, stage.before, stage.after);
  for (std::size_t i = 0; i < before.rows.size(); ++i) {
    if (before.rows[i].standing != Standing::counted) continue;
    if (partners[i].index == unmatched) {
      difference.removed.push_back(before.rows[i]);
      continue;
    }
    const AnalysisRow& partner = after.rows[partners[i].index];
    auto what = differences(before.rows[i], partner);
    if (what.empty())
      ++difference.same;
    else
      difference.changed.push_back({before.rows[i], partner, partners[i].by, std::move(what)});
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
