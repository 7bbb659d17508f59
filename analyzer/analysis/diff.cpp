// Layers that were matched beside each other.
#include "analyzer/analysis/diff.h"

#include <fmt/format.h>

#include <optional>

#include "base/json.h"

namespace ridgeline {
namespace {

// Nothing in the place of an unknown one.
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

// Layers of one name are of one format. Others lay out the same data in other ways: weights that
// are transposed, heads beside each other.
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
  // What a runtime passes by is no kernel.
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
