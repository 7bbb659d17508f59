// Sums over the passes of a training step, and their JSON form. Layers are counted as in any other
// graph.
#include "analyzer/training/summary.h"

#include "analyzer/analysis/analysis.h"
#include "analyzer/count/count.h"
#include "base/json.h"

namespace ridgeline {

TrainingSummary summarize(const Training& training, const TrainingOptions& options,
                          const OpWeights& weights) {
  TrainingSummary summary;
  summary.options = options;
  summary.memory = training.memory;
  for (const auto& row : TokenTable<Pass>::rows) summary.passes[row.first];
  for (const Layer& layer : training.graph.layers)
    if (layer.standing == Standing::counted)
      summary.passes[layer.pass] += count_layer(training.graph, layer, weights);
  return summary;
}

Json to_json(const TrainingSummary& summary) {
  Json json = {
      {"optimizer_name", to_string(summary.options.optimizer)},
      {"mixed_precision", summary.options.mixed_precision},
      {"checkpoint", summary.options.checkpoint},
      {"freeze_until",
       summary.options.freeze_until.empty() ? Json() : Json(summary.options.freeze_until)}};
  for (const auto& [pass, work] : summary.passes) {
    Json amounts = Json::object();
    add_amounts(amounts, work, Rules::ridgeline);
    json[std::string(to_string(pass))] = std::move(amounts);
  }
  const RunMemory& memory = summary.memory;
  json["saved_bytes"] = amount_json(memory.saved);
  json["peak_bytes"] = amount_json(memory.peak());
  json["memory"] = {{"weights", amount_json(memory.weights)},
                    {"master_weights", amount_json(memory.master_weights)},
                    {"gradients", amount_json(memory.gradients)},
                    {"optimizer_state", amount_json(memory.optimizer_state)},
                    {"activations", amount_json(memory.activations)},
                    {"transient", amount_json(memory.transient)}};
  return json;
}

}  // namespace ridgeline
