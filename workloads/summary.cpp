// Counts a network at its defaults, and the JSON form of the result.
// analyzer/count/count.h counts layers, as for any file.
#include "workloads/summary.h"

#include <unordered_set>

#include "analyzer/analysis/analysis.h"
#include "analyzer/count/count.h"
#include "base/json.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

std::vector<TensorSummary> tensor_summaries(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<TensorSummary> summaries;
  for (const TensorId id : ids) {
    const Tensor& tensor = graph.tensors[id];
    summaries.push_back({tensor.name, tensor.type, tensor.shape});
  }
  return summaries;
}

Json tensors_json(const std::vector<TensorSummary>& tensors) {
  return array_of(tensors, [](const TensorSummary& tensor) {
    return Json{{"name", tensor.name}, {"type", to_string(tensor.type)}, {"shape", tensor.shape}};
  });
}

Json options_json(const Workload& workload) {
  Json options = Json::array();
  for (const auto& [option, name] : TokenTable<WorkloadOption>::rows)
    if (workload.options.has(option))
      options.push_back({{"name", name},
                         {"value", value_name(option)},
                         {"default", default_text(workload, option)},
                         {"description", description(option)}});
  return options;
}

}  // namespace

WorkloadSummary summarize(const Workload& workload) {
  const Graph graph = build_workload(workload, resolve(workload, {}));
  WorkloadSummary summary{
      workload, 0, 0, tensor_summaries(graph, graph.inputs), tensor_summaries(graph, graph.outputs),
      {}};
  std::unordered_set<TensorId> counted;
  for (const Layer& layer : graph.layers) {
    LayerSummary row{layer.name, layer.origin, 0, 0};
    row.macs = count_layer(graph, layer, default_weights()).macs;
    for (const TensorId id : layer.inputs)
      if (graph.tensors[id].is_parameter && counted.insert(id).second)
        row.parameters += static_cast<double>(element_count(graph.tensors[id].shape));
    summary.macs += row.macs;
    summary.parameters += row.parameters;
    summary.layers.push_back(std::move(row));
  }
  return summary;
}

std::string default_text(const Workload& workload, WorkloadOption option) {
  const Settings settings = resolve(workload, {});
  switch (option) {
    case WorkloadOption::batch:
      return std::to_string(settings.batch);
    case WorkloadOption::image:
      return std::to_string(settings.image);
    case WorkloadOption::seq:
      return std::to_string(settings.seq);
    case WorkloadOption::context:
      return std::to_string(default_context);
    case WorkloadOption::phase:
      return std::string(to_string(settings.phase));
    case WorkloadOption::logits:
      return std::string(to_string(settings.logits));
    case WorkloadOption::attention:
      return std::string(to_string(settings.attention));
    case WorkloadOption::dtype:
      return std::string(to_string(settings.dtype));
    case WorkloadOption::precision:
      return std::string(to_string(settings.precision));
    case WorkloadOption::classes:
      return std::to_string(settings.classes);
  }
  return "";
}

Json to_json(const WorkloadSummary& summary, LayerDetail detail) {
  Json json{{"name", summary.workload.name},
            {"family", summary.workload.family},
            {"source", summary.workload.source},
            {"address", summary.workload.address},
            {"parameters", amount_json(summary.parameters)},
            {"macs", amount_json(summary.macs)},
            {"layer_count", summary.layers.size()},
            {"inputs", tensors_json(summary.inputs)},
            {"outputs", tensors_json(summary.outputs)},
            {"options", options_json(summary.workload)}};
  if (detail == LayerDetail::shown)
    json["layers"] = array_of(summary.layers, [](const LayerSummary& layer) {
      return Json{{"name", layer.name},
                  {"op", layer.op},
                  {"macs", amount_json(layer.macs)},
                  {"parameters", amount_json(layer.parameters)}};
    });
  return json;
}

}  // namespace ridgeline
