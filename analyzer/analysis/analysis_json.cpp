// The JSON form of an Analysis: ridgeline.analysis/1, docs/schemas/analysis.schema.json. Amounts
// that a rule set does not count are null, not zero.
#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/groups.h"
#include "analyzer/count/count.h"
#include "base/json.h"
#include "base/json_writer.h"

namespace ridgeline {
namespace {

// Below 2^53, where doubles represent every integer.
bool is_exact_integer(double amount) {
  return amount == std::floor(amount) && std::abs(amount) < 0x1p53;
}

void write_amount(JsonWriter& writer, double amount) {
  if (is_exact_integer(amount))
    writer.integer(static_cast<std::int64_t>(amount));
  else
    writer.number(amount);
}

void write_optional(JsonWriter& writer, const std::optional<double>& amount) {
  if (amount)
    write_amount(writer, *amount);
  else
    writer.null();
}

void write(JsonWriter& writer, const Tensor& tensor) {
  writer.open_object();
  writer.key("name");
  writer.text(tensor.name);
  writer.key("type");
  writer.text(to_string(tensor.type));
  writer.key("shape");
  if (tensor.source == ShapeSource::unknown) {
    writer.null();
  } else {
    writer.open_array();
    for (const std::int64_t size : tensor.shape) writer.integer(size);
    writer.close_array();
  }
  writer.key("bytes");
  write_optional(writer, tensor_bytes(tensor));
  writer.key("weight");
  writer.boolean(tensor.role == Role::weight);
  writer.close_object();
}

void write_tensors(JsonWriter& writer, std::string_view key,
                   std::span<const Tensor* const> tensors) {
  writer.key(key);
  writer.open_array();
  for (const Tensor* tensor : tensors) write(writer, *tensor);
  writer.close_array();
}

void write_flop_split(JsonWriter& writer, const Work& work) {
  writer.key("flop_by_unit");
  writer.open_array();
  for (const FlopCount& entry : work.flop) {
    writer.open_object();
    writer.key("unit");
    writer.text(to_string(entry.unit));
    writer.key("dtype");
    writer.text(to_string(entry.dtype));
    writer.key("flop");
    write_amount(writer, entry.flop);
    writer.close_object();
  }
  writer.close_array();
}

// One row of amounts_of().
struct Amount {
  const char* name;
  std::optional<double> value;
};

// The members that rows, groups and totals share.
std::array<Amount, 7> amounts_of(const Work& work, Rules rules) {
  const bool own = rules == Rules::ridgeline;
  const auto counted = [own](double amount) { return own ? std::optional(amount) : std::nullopt; };
  return {{{"macs", counted(work.macs)},
           {"flops", total_flop(work)},
           {"int_ops", counted(total_integer_ops(work))},
           {"transcendentals", counted(work.transcendentals)},
           {"bytes_read", work.bytes_read + work.weight_bytes_read},
           {"bytes_written", work.bytes_written + work.weight_bytes_written},
           {"weight_bytes", work.weight_bytes_read}}};
}

void write_amounts(JsonWriter& writer, const Work& work, Rules rules) {
  for (const auto& [name, value] : amounts_of(work, rules)) {
    writer.key(name);
    write_optional(writer, value);
  }
}

void write_intensity(JsonWriter& writer, const std::optional<double>& flop_per_byte) {
  writer.key("intensity");
  if (flop_per_byte)
    writer.number(*flop_per_byte);
  else
    writer.null();
}

void write_texts(JsonWriter& writer, std::string_view key, const std::vector<std::string>& texts) {
  writer.key(key);
  writer.open_array();
  for (const std::string& one : texts) writer.text(one);
  writer.close_array();
}

void write_text(JsonWriter& writer, std::string_view key, std::string_view value) {
  writer.key(key);
  writer.text(value);
}

void write_measured(JsonWriter& writer, std::string_view key, const std::optional<double>& time_s) {
  if (!time_s) return;
  writer.key(key);
  writer.number(*time_s);
}

void write(JsonWriter& writer, const AnalysisRow& row, Rules rules) {
  writer.open_object();
  write_text(writer, "name", row.name);
  write_text(writer, "op", row.op);
  write_text(writer, "op_class", to_string(row.op_class));
  write_text(writer, "class", to_string(row.compute_class));
  write_text(writer, "dtype", row.dtype);
  write_tensors(writer, "inputs", row.inputs);
  write_tensors(writer, "outputs", row.outputs);
  write_amounts(writer, row.work, rules);
  write_intensity(writer, intensity(row));
  write_flop_split(writer, row.work);
  writer.key("causally_masked_macs");
  write_amount(writer, row.causally_masked_macs);
  writer.key("repeats");
  write_amount(writer, row.repeats);
  write_text(writer, "standing", to_string(row.standing));
  write_text(writer, "pass", to_string(row.pass));
  write_text(writer, "shapes", to_string(row.shapes));
  write_texts(writer, "unsized_tensors", row.unsized);
  write_text(writer, "note", row.note);
  if (!row.sources.empty()) write_texts(writer, "nodes", row.sources);
  if (!row.module.empty()) write_text(writer, "module", row.module);
  write_measured(writer, "time_s", row.time_s);
  write_measured(writer, "median_s", row.median_s);
  writer.close_object();
}

void write_rows(JsonWriter& writer, std::string_view key, const std::vector<AnalysisRow>& rows,
                Rules rules) {
  writer.key(key);
  writer.open_array();
  for (const AnalysisRow& row : rows) write(writer, row, rules);
  writer.close_array();
}

// The dtype of most of its arithmetic; null if it has none.
Json dtype_json(const Work& work) {
  const auto most =
      std::max_element(work.flop.begin(), work.flop.end(),
                       [](const FlopCount& a, const FlopCount& b) { return a.flop < b.flop; });
  return most == work.flop.end() ? Json() : Json(to_string(most->dtype));
}

Json demand_row(const Demand& demand) {
  Json json = {{"name", demand.name},
               {"class", to_string(op_class(demand.kind))},
               {"trait", to_string(demand.trait)},
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

void write_totals(JsonWriter& writer, const Analysis& analysis) {
  const Totals& totals = analysis.totals;
  writer.key("totals");
  writer.open_object();
  write_amounts(writer, totals.work, analysis.rules);
  writer.key("bytes");
  write_amount(writer, total_bytes(totals.work));
  write_intensity(writer, intensity(totals.work));
  write_flop_split(writer, totals.work);
  writer.key("params");
  write_amount(writer, totals.params);
  writer.key("parameter_bytes");
  write_amount(writer, totals.parameter_bytes);
  writer.key("table_bytes");
  write_amount(writer, totals.table_bytes);
  writer.key("layers");
  writer.integer(static_cast<std::int64_t>(totals.layers));
  writer.close_object();
}

Json unknown_row(const UnknownOperator& row) {
  return {{"op", row.op},
          {"count", row.layers.size()},
          {"reason", row.reason},
          {"has_rule", row.has_rule},
          {"layers", row.layers}};
}

Json source_json(const ModelSource& model) {
  Json opsets = Json::object();
  for (const auto& [domain, version] : model.opsets)
    opsets[domain.empty() ? "ai.onnx" : domain] = version;
  Json options = Json::object();
  for (const auto& [name, value] : model.options) options[name] = value;
  return {{"format", model.format},
          {"file_bytes", model.file_bytes},
          {"producer", model.producer},
          {"ir_version", model.ir_version ? Json(*model.ir_version) : Json()},
          {"opsets", opsets},
          {"options", options}};
}

Json kernel_totals(const std::vector<Demand>& demands) {
  Work work;
  std::int64_t kernels = 0, launches = 0;
  for (const Demand& demand : demands) {
    work += demand.work;
    launches += demand.launches;
    kernels += demand.launches > 0 ? 1 : 0;
  }
  Json json = {{"kernels", kernels}, {"launches", launches}};
  add_amounts(json, work, Rules::ridgeline);
  json["bytes"] = amount_json(total_bytes(work));
  json["intensity"] = nullable(intensity(work));
  return json;
}

Json times_json(const KernelTimes& times) {
  return {{"files", times.files},          {"runs", times.runs ? Json(*times.runs) : Json()},
          {"device", times.device},        {"total_s", times.total_s},
          {"shared_s", times.shared_s},    {"other_s", times.other_s},
          {"run_s", nullable(times.run_s)}};
}

Json mapping_json(const NodeMapping& mapping) {
  return {{"file", mapping.path},
          {"nodes", mapping.all_nodes},
          {"by_metadata", mapping.by_metadata},
          {"by_name", mapping.by_name},
          {"by_tensor", mapping.by_tensor},
          {"folded", mapping.folded},
          {"operations", amount_json(mapping.flop)},
          {"mapped_operations", amount_json(mapping.mapped_flop)}};
}

Json memory_json(const RunMemory& memory) {
  return {{"peak_bytes", amount_json(memory.peak())},
          {"weights", amount_json(memory.weights)},
          {"activations", amount_json(memory.activations)},
          {"caches", amount_json(memory.caches)},
          {"activations_without_reuse", amount_json(memory.unshared)}};
}

Json fusion_row(const FusionSaving& saving) {
  return {{"rule", saving.rule},
          {"merges", saving.merges},
          {"bytes_saved", amount_json(saving.bytes)},
          {"flops_saved", amount_json(saving.flop)},
          {"int_ops_saved", amount_json(saving.int_ops)}};
}

}  // namespace

Json shape_json(const Tensor& tensor) {
  return tensor.source == ShapeSource::unknown ? Json() : Json(tensor.shape);
}

Json amount_json(double amount) {
  return is_exact_integer(amount) ? Json(static_cast<std::int64_t>(amount)) : Json(amount);
}

void add_amounts(Json& json, const Work& work, Rules rules) {
  for (const auto& [name, value] : amounts_of(work, rules))
    json[name] = value ? amount_json(*value) : Json();
}

void write_json(std::ostream& out, const Analysis& analysis, const std::vector<RowGroup>* groups) {
  JsonWriter writer(out);
  writer.open_object();
  write_text(writer, "schema", Analysis::schema);
  write_text(writer, "model", analysis.model.path);
  writer.key("source");
  writer.tree(source_json(analysis.model));
  writer.key("batch");
  writer.tree(analysis.batch ? Json(*analysis.batch) : Json());
  write_text(writer, "rules", to_string(analysis.rules));
  write_text(writer, "rule_options", analysis.rule_options);
  writer.key("weights_file");
  writer.tree(analysis.weights_file.empty() ? Json() : Json(analysis.weights_file));
  write_text(writer, "view", analysis.model.format == "tensorrt" ? "kernels" : "unfused");
  write_text(writer, "shapes", to_string(least_sure_shapes(analysis)));
  write_tensors(writer, "inputs", analysis.inputs);
  write_tensors(writer, "outputs", analysis.outputs);
  write_totals(writer, analysis);
  write_rows(writer, "layers", analysis.rows, analysis.rules);
  write_rows(writer, "alternatives", analysis.alternatives, analysis.rules);
  writer.key("unknown");
  writer.tree(array_of(analysis.unknown, unknown_row));
  write_texts(writer, "warnings", analysis.warnings);
  if (analysis.runtime) {
    write_text(writer, "runtime", to_string(*analysis.runtime));
    writer.key("kernels");
    writer.tree(kernel_totals(analysis.demands));
    writer.key("demands");
    writer.tree(array_of(analysis.demands, demand_row));
    writer.key("fusion");
    writer.tree(array_of(analysis.fusion, fusion_row));
  }
  if (analysis.times) {
    writer.key("measured");
    writer.tree(times_json(*analysis.times));
  }
  if (analysis.mapping) {
    writer.key("onnx");
    writer.tree(mapping_json(*analysis.mapping));
  }
  if (analysis.memory) {
    writer.key("memory");
    writer.tree(memory_json(*analysis.memory));
  }
  if (analysis.training) {
    writer.key("training");
    writer.tree(to_json(*analysis.training));
  }
  if (groups != nullptr) {
    writer.key("groups");
    writer.tree(groups_to_json(*groups, analysis.rules));
  }
  writer.close_object();
  writer.finish();
}

}  // namespace ridgeline
