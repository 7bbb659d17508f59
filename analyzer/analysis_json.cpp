// The JSON form of an Analysis: ridgeline.analysis/1, docs/schemas/analysis.schema.json.
// What a rule set does not count is null there, not zero.
#include <algorithm>
#include <cmath>

#include "analyzer/analysis.h"
#include "analyzer/count.h"
#include "base/json.h"

namespace ridgeline {
namespace {

Json bytes_json(const std::optional<double>& bytes) { return bytes ? amount_json(*bytes) : Json(); }

Json tensor_json(const Tensor* tensor) {
  return {{"name", tensor->name},
          {"type", to_string(tensor->type)},
          {"shape", shape_json(*tensor)},
          {"bytes", bytes_json(tensor_bytes(*tensor))},
          {"weight", tensor->role == Role::weight}};
}

Json flop_split(const Work& work) {
  Json split = Json::array();
  for (const FlopCount& entry : work.flop)
    split.push_back({{"unit", to_string(entry.unit)},
                     {"dtype", to_string(entry.dtype)},
                     {"flop", amount_json(entry.flop)}});
  return split;
}

Json row_json(const AnalysisRow& row, Rules rules) {
  Json json = {{"name", row.name},
               {"op", row.op},
               {"op_class", to_string(row.op_class)},
               {"class", to_string(row.compute_class)},
               {"dtype", row.dtype},
               {"inputs", array_of(row.inputs, tensor_json)},
               {"outputs", array_of(row.outputs, tensor_json)}};
  add_amounts(json, row.work, rules);
  json["intensity"] = nullable(intensity(row));
  json["flop_by_unit"] = flop_split(row.work);
  json["causally_masked_macs"] = amount_json(row.causally_masked_macs);
  json["repeats"] = amount_json(row.repeats);
  json["standing"] = to_string(row.standing);
  json["pass"] = to_string(row.pass);
  json["shapes"] = to_string(row.shapes);
  json["unsized_tensors"] = row.unsized;
  json["note"] = row.note;
  return json;
}

// The dtype of most of its arithmetic; null where it has none.
Json dtype_json(const Work& work) {
  const auto most =
      std::max_element(work.flop.begin(), work.flop.end(),
                       [](const FlopCount& a, const FlopCount& b) { return a.flop < b.flop; });
  return most == work.flop.end() ? Json() : Json(to_string(most->dtype));
}

Json demand_row(const Demand& demand) {
  Json json = {{"name", demand.name},
               {"class", to_string(demand.op_class)},
               {"dtype", dtype_json(demand.work)}};
  add_amounts(json, demand.work, Rules::ridgeline);
  const auto extent = [&](std::uint64_t Gemm::*member) {
    return demand.gemm ? Json((*demand.gemm).*member) : Json();
  };
  json["m"] = extent(&Gemm::m);
  json["n"] = extent(&Gemm::n);
  json["k"] = extent(&Gemm::k);
  json["batch"] = extent(&Gemm::batch);
  json["launches"] = demand.launches;
  json["host_functions"] = demand.host_calls.functions;
  json["host_modules"] = demand.host_calls.modules;
  json["layers"] = demand.source_layers;
  return json;
}

Json totals_json(const Analysis& analysis) {
  const Work& work = analysis.totals.work;
  Json json = Json::object();
  add_amounts(json, work, analysis.rules);
  json["bytes"] = amount_json(total_bytes(work));
  json["intensity"] = nullable(intensity(work));
  json["flop_by_unit"] = flop_split(work);
  json["params"] = amount_json(analysis.totals.params);
  json["parameter_bytes"] = amount_json(analysis.totals.parameter_bytes);
  json["layers"] = analysis.totals.layers;
  return json;
}

Json source_json(const ModelSource& model) {
  Json opsets = Json::object();
  for (const auto& [domain, version] : model.opsets)
    opsets[domain.empty() ? "ai.onnx" : domain] = version;
  return {{"format", model.format},
          {"file_bytes", model.file_bytes},
          {"producer", model.producer},
          {"ir_version", model.ir_version ? Json(*model.ir_version) : Json()},
          {"opsets", opsets}};
}

}  // namespace

Json shape_json(const Tensor& tensor) {
  return tensor.source == ShapeSource::unknown ? Json() : Json(tensor.shape);
}

Json amount_json(double amount) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (amount == std::floor(amount) && std::abs(amount) < exact)
    return static_cast<std::int64_t>(amount);
  return amount;
}

void add_amounts(Json& json, const Work& work, Rules rules) {
  const bool own = rules == Rules::ridgeline;
  json["macs"] = own ? amount_json(work.macs) : Json();
  json["flops"] = amount_json(total_flop(work));
  json["int_ops"] = own ? amount_json(total_integer_ops(work)) : Json();
  json["transcendentals"] = own ? amount_json(work.transcendentals) : Json();
  json["bytes_read"] = amount_json(work.bytes_read + work.weight_bytes_read);
  json["bytes_written"] = amount_json(work.bytes_written + work.weight_bytes_written);
  json["weight_bytes"] = amount_json(work.weight_bytes_read);
}

Json to_json(const Analysis& analysis) {
  const auto row = [&](const AnalysisRow& one) { return row_json(one, analysis.rules); };
  Json json = {
      {"schema", Analysis::schema},
      {"model", analysis.model.path},
      {"source", source_json(analysis.model)},
      {"batch", analysis.batch ? Json(*analysis.batch) : Json()},
      {"rules", to_string(analysis.rules)},
      {"weights_file", analysis.weights_file.empty() ? Json() : Json(analysis.weights_file)},
      {"view", "unfused"},
      {"shapes", to_string(least_sure_shapes(analysis))},
      {"inputs", array_of(analysis.inputs, tensor_json)},
      {"outputs", array_of(analysis.outputs, tensor_json)},
      {"totals", totals_json(analysis)},
      {"layers", array_of(analysis.rows, row)},
      {"alternatives", array_of(analysis.alternatives, row)},
      {"unknown", array_of(analysis.unknown,
                           [](const UnknownRow& one) -> Json {
                             return {{"op", one.op},
                                     {"count", one.layers.size()},
                                     {"reason", one.reason},
                                     {"layers", one.layers}};
                           })},
      {"warnings", analysis.warnings}};
  if (analysis.runtime) {
    json["runtime"] = to_string(*analysis.runtime);
    json["demands"] = array_of(analysis.demands, demand_row);
  }
  if (analysis.training) json["training"] = to_json(*analysis.training);
  return json;
}

}  // namespace ridgeline
