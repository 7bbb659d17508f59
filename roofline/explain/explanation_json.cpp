// An Explanation as JSON and as CSV.
#include "base/csv.h"
#include "base/json.h"
#include "roofline/explain/explanation.h"

namespace ridgeline {
namespace {

Json terms_to_json(const std::vector<Term>& terms) {
  Json json = Json::object();
  for (const Term& term : terms)
    json[term.name] = {{"time_s", term.time_s}, {"energy_j", nullable(term.energy_j)}};
  return json;
}

Json shares_to_json(const std::vector<std::pair<BoundBy, double>>& shares) {
  Json json = Json::object();
  for (const auto& [bound, share] : shares) json[std::string(to_string(bound))] = share;
  return json;
}

Json roofs_to_json(const std::vector<RoofShare>& roofs) {
  Json json = Json::object();
  for (const RoofShare& roof : roofs) json[roof.roof] = roof.share;
  return json;
}

Json layer_to_json(const ExplainedLayer& layer) {
  Json json = {{"name", layer.name},
               {"op", to_string(layer.op)},
               {"bound", to_string(layer.bound)},
               {"time_s", layer.time_s},
               {"time_share", layer.time_share},
               {"energy_j", nullable(layer.energy_j)},
               {"energy_share", nullable(layer.energy_share)},
               {"operations", layer.operations},
               {"bytes", layer.bytes},
               {"intensity", nullable(layer.intensity)},
               {"roof_share", nullable(layer.roof_share)},
               {"roofs", roofs_to_json(layer.roofs)},
               {"terms", terms_to_json(layer.terms)}};
  if (layer.measured_s) json["measured_s"] = *layer.measured_s;
  if (layer.measured_roof_share) json["measured_roof_share"] = *layer.measured_roof_share;
  return json;
}

Json measured_to_json(const MeasuredRun& run) {
  return {{"total_s", run.total_s},
          {"run_s", nullable(run.run_s)},
          {"runs", run.runs ? Json(*run.runs) : Json()},
          {"device", run.device},
          {"files", run.files},
          {"suspect", run.suspect},
          {"contradictions", array_of(run.contradictions, [](const Contradiction& each) {
             return Json{{"layer", each.layer},
                         {"measured_s", each.measured_s},
                         {"least_s", each.least_s},
                         {"roof", each.roof}};
           })}};
}

Json overhead_to_json(const Overhead& overhead, bool with_energy) {
  return {{"name", overhead.name},
          {"time_s", overhead.time_s},
          {"energy_j", with_energy ? Json(overhead.energy_j) : Json()}};
}

Json advice_to_json(const Advice& advice) {
  return {{"change", advice.change},
          {"time_gain", advice.time_gain},
          {"energy_gain", nullable(advice.energy_gain)}};
}

std::string optional_number(const std::optional<double>& value) {
  return value ? csv_number(*value) : "";
}

}  // namespace

Json to_json(const Explanation& explanation) {
  const bool with_energy = explanation.energy_j.has_value();
  Json json = {
      {"schema", Explanation::schema},
      {"network", explanation.run.network},
      {"task", explanation.run.task},
      {"batch", explanation.run.batch},
      {"dtype", to_string(explanation.run.dtype)},
      {"runtime", to_string(explanation.runtime)},
      {"device", explanation.device},
      {"machine", explanation.run.machine},
      {"point", to_json(explanation.point)},
      {"locked", explanation.run.locked},
      {"board_offset_w", explanation.run.board_offset_w},
      {"notes", explanation.run.notes},
      {"unfamiliar",
       array_of(explanation.unfamiliar, [](const Unfamiliar& each) { return to_json(each); })},
      {"bound", to_string(explanation.bound)},
      {"bound_shares", shares_to_json(explanation.bound_shares)},
      {"time_s", to_json(explanation.time_s)},
      {"energy_j", nullable(explanation.energy_j)},
      {"power_w", nullable(explanation.power_w)},
      {"memory", explanation.memory ? to_json(*explanation.memory) : Json()},
      {"terms", terms_to_json(explanation.terms)},
      {"overheads",
       array_of(explanation.overheads,
                [&](const Overhead& each) { return overhead_to_json(each, with_energy); })},
      {"layers", array_of(explanation.layers, layer_to_json)},
      {"advice", array_of(explanation.advice, advice_to_json)}};
  if (explanation.measured) json["measured"] = measured_to_json(*explanation.measured);
  if (explanation.utilization) json["utilization"] = to_json(*explanation.utilization);
  if (!explanation.groups.empty()) json["groups"] = array_of(explanation.groups, layer_to_json);
  return json;
}

std::string to_csv(const Explanation& explanation) {
  const bool measured = explanation.measured.has_value();
  const bool grouped = !explanation.groups.empty();
  std::vector<std::string> titles{grouped ? "module" : "layer",
                                  "op",
                                  "bound",
                                  "time_s",
                                  "time_share",
                                  "energy_j",
                                  "energy_share",
                                  "operations",
                                  "bytes",
                                  "intensity",
                                  "roof_share"};
  if (measured) titles.insert(titles.end(), {"measured_s", "measured_roof_share"});
  std::string csv = csv_row(titles);
  for (const ExplainedLayer& layer : grouped ? explanation.groups : explanation.layers) {
    std::vector<std::string> cells{layer.name,
                                   std::string(to_string(layer.op)),
                                   std::string(to_string(layer.bound)),
                                   csv_number(layer.time_s),
                                   csv_number(layer.time_share),
                                   optional_number(layer.energy_j),
                                   optional_number(layer.energy_share),
                                   csv_number(layer.operations),
                                   csv_number(layer.bytes),
                                   optional_number(layer.intensity),
                                   optional_number(layer.roof_share)};
    if (measured)
      cells.insert(cells.end(),
                   {optional_number(layer.measured_s), optional_number(layer.measured_roof_share)});
    csv += csv_row(cells);
  }
  for (const Overhead& overhead : explanation.overheads) {
    std::vector<std::string> cells{overhead.name,
                                   "overhead",
                                   "",
                                   csv_number(overhead.time_s),
                                   csv_number(overhead.time_s / explanation.time_s.value),
                                   explanation.energy_j ? csv_number(overhead.energy_j) : ""};
    cells.resize(titles.size());
    csv += csv_row(cells);
  }
  return csv;
}

}  // namespace ridgeline
