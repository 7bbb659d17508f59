// From a Graph to an Analysis: one row per layer, counted by the rules of count.h. Other rule sets
// start from the same rows (pagoda.cpp); the JSON form is in analysis_json.cpp.
#include "analyzer/analysis/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/count/count.h"
#include "analyzer/fusion/rules.h"
#include "analyzer/lowering/lowering.h"
#include "analyzer/training/memory.h"

namespace ridgeline {
namespace {

// Lists of tensor pointers, concatenated in one vector.
class TensorLists {
 public:
  TensorLists(CountedNetwork& network) : network_(network) {
    const Graph& graph = network.graph;
    std::size_t size = graph.inputs.size() + graph.outputs.size();
    for (const Layer& layer : graph.layers) size += layer.inputs.size() + layer.outputs.size();
    network.tensors.reserve(size);
  }

  std::span<const Tensor* const> add(const std::vector<TensorId>& ids) {
    auto& all = network_.tensors;
    for (const TensorId id : ids) all.push_back(&network_.graph.tensors[id]);
    return std::span(all).last(ids.size());
  }

 private:
  CountedNetwork& network_;
};

ComputeClass compute_class(const Layer& layer, const Work& work) {
  if (!is_reported(layer)) return ComputeClass::none;
  if (unknown_part(layer)) return ComputeClass::unknown;
  ComputeClass found = total_bytes(work) > 0 ? ComputeClass::memory : ComputeClass::none;
  for (const FlopCount& entry : work.flop) {
    if (entry.unit == Unit::matrix) return ComputeClass::matrix;
    found = ComputeClass::vector;
  }
  return found;
}

// Of the unit that determines the layer's class; if it has several dtypes, the one with most FLOP.
std::string_view dtype_text(const Graph& graph, const Layer& layer, const Work& work) {
  const FlopCount* most = nullptr;
  for (const FlopCount& entry : work.flop)
    if (!most || entry.unit > most->unit || (entry.unit == most->unit && entry.flop > most->flop))
      most = &entry;
  if (most) return to_string(most->dtype);
  const ElementType type =
      layer.outputs.empty() ? ElementType::unknown : graph.tensors[layer.outputs.front()].type;
  return to_string(type);
}

void fill(AnalysisRow& row, const Graph& graph, Layer& layer, TensorLists& lists,
          LayerCount count) {
  row.name = std::move(layer.name);
  row.op = std::move(layer.origin);
  if (layer.scope != no_index) row.module = graph.modules[layer.scope];
  row.op_class =
      count.main_part == no_index ? OpClass::view : op_class(layer.parts[count.main_part].op);
  row.inputs = lists.add(layer.inputs);
  row.outputs = lists.add(layer.outputs);
  row.work = std::move(count.work);
  row.compute_class = compute_class(layer, row.work);
  row.dtype = dtype_text(graph, layer, row.work);
  row.repeats = layer.repeats;
  row.standing = layer.standing;
  row.pass = layer.pass;
  row.shapes = layer.shapes;
  if (!is_reported(layer)) return;
  if (const Unknown* unknown = unknown_part(layer)) row.note = "unknown: " + unknown->reason;
  for (const Part& one : layer.parts)
    if (std::holds_alternative<Described>(one.op)) row.note = "by formula";
  for (const Part& one : layer.parts)
    row.causally_masked_macs += layer.repeats * causally_masked_macs(one.op);
  for (const TensorId id : unsized_tensors(graph, layer))
    row.unsized.push_back(graph.tensors[id].name);
}

void count_parameters(const Graph& graph, Totals& totals) {
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.is_table) totals.table_bytes += tensor_bytes(tensor).value_or(0);
    if (!tensor.is_parameter) continue;
    totals.params += static_cast<double>(tensor.packed.value_or(element_count(tensor.shape)));
    totals.parameter_bytes += tensor_bytes(tensor).value_or(0);
  }
}

std::string counted_noun(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Warnings about the totals; details are in the rows.
void warn_of_uncertain_rows(Analysis& analysis) {
  std::size_t unsized = 0, bounds = 0, declared = 0;
  for (const AnalysisRow& row : analysis.rows) {
    if (row.standing != Standing::counted) continue;
    unsized += row.unsized.empty() ? 0 : 1;
    bounds += row.shapes == ShapeSource::bound ? 1 : 0;
    declared += row.shapes == ShapeSource::declared ? 1 : 0;
  }
  if (unsized > 0)
    analysis.warnings.push_back(
        fmt::format("{} with tensors of unknown size (strings, unknown types or shapes); bytes are "
                    "a lower bound",
                    counted_noun(unsized, "layer")));
  if (bounds > 0)
    analysis.warnings.push_back(
        fmt::format("{} with shapes that depend on data; counted at their upper bound",
                    counted_noun(bounds, "layer")));
  if (declared > 0)
    analysis.warnings.push_back(fmt::format("{} with declared shapes that could not be checked",
                                            counted_noun(declared, "layer")));
}

bool is_inference(const Graph& graph) {
  return std::all_of(graph.layers.begin(), graph.layers.end(),
                     [](const Layer& layer) { return layer.pass == Pass::forward; });
}

// `count_of` maps a layer's index to its LayerCount.
template <class CountOf>
Analysis analyze_layers(Graph given, const CountOf& count_of) {
  Analysis analysis;
  const auto network = std::make_shared<CountedNetwork>(CountedNetwork{std::move(given), {}});
  Graph& graph = network->graph;
  if (is_inference(graph)) analysis.memory = inference_memory(graph);
  TensorLists lists(*network);
  analysis.inputs = lists.add(graph.inputs);
  analysis.outputs = lists.add(graph.outputs);
  analysis.unknown = unknown_operators(graph);
  analysis.rows.reserve(graph.layers.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Layer& layer = graph.layers[i];
    auto& rows = layer.standing == Standing::alternative ? analysis.alternatives : analysis.rows;
    fill(rows.emplace_back(), graph, layer, lists, count_of(graph, i));
  }
  count_parameters(graph, analysis.totals);
  sum_rows(analysis);
  warn_of_uncertain_rows(analysis);
  analysis.network = network;
  return analysis;
}

}  // namespace

Analysis analyze(Graph graph, const OpWeights& weights) {
  return analyze_layers(std::move(graph), [&](const Graph& counted, std::size_t layer) {
    return layer_count(counted, counted.layers[layer], weights);
  });
}

Analysis analyze(Graph graph, Runtime runtime, AnalyzedRows rows, const OpWeights& weights) {
  ItemizedFusion fused = itemized_fusion(graph, runtime, weights);
  std::vector<LayerCount> counts = count_layers(fused.graph, weights);
  std::vector<Demand> demands = lower_fused(fused.graph, runtime, counts);
  std::optional<RunMemory> memory;
  if (is_inference(fused.graph)) memory = inference_memory(fused.graph);
  Analysis analysis;
  if (rows == AnalyzedRows::kernels || !changes_layers(graph, runtime))
    analysis = analyze_layers(std::move(fused.graph), [&](const Graph&, std::size_t layer) {
      return std::move(counts[layer]);
    });
  else
    analysis = analyze(std::move(graph), weights);
  analysis.runtime = runtime;
  analysis.demands = std::move(demands);
  analysis.memory = memory;
  analysis.fusion = savings_by_rule(fused.applied);
  return analysis;
}

Analysis analyze(ChosenKernels kernels) {
  std::vector<std::vector<std::string>> sources;
  std::vector<std::string> modules;
  for (Layer& layer : kernels.graph.layers) {
    sources.push_back(layer.sources);
    modules.push_back(std::move(layer.module));
  }
  Analysis analysis = analyze_layers(
      std::move(kernels.graph),
      [&](const Graph&, std::size_t layer) { return std::move(kernels.counts[layer]); });
  for (std::size_t i = 0; i < analysis.rows.size(); ++i) {
    analysis.rows[i].sources = std::move(sources[i]);
    analysis.rows[i].module = std::move(modules[i]);
    if (!kernels.times) continue;
    analysis.rows[i].time_s = kernels.times->mean_s[i];
    analysis.rows[i].median_s = kernels.times->median_s[i];
  }
  analysis.runtime = kernels.runtime;
  analysis.demands = std::move(kernels.demands);
  analysis.times = std::move(kernels.times);
  analysis.mapping = std::move(kernels.mapping);
  return analysis;
}

void sum_rows(Analysis& analysis) {
  analysis.totals.layers = analysis.rows.size();
  analysis.totals.work = {};
  for (const AnalysisRow& row : analysis.rows) analysis.totals.work += row.work;
}

std::optional<double> intensity(const Work& work) {
  const double bytes = total_bytes(work);
  if (bytes <= 0) return std::nullopt;
  return total_operations(work) / bytes;
}

std::optional<double> intensity(const AnalysisRow& row) {
  return row.unsized.empty() ? intensity(row.work) : std::nullopt;
}

std::string output_text(const AnalysisRow& row) {
  if (row.outputs.empty()) return "";
  const Tensor& tensor = *row.outputs.front();
  return tensor.source == ShapeSource::unknown ? "?" : to_string(tensor.shape);
}

ShapeSource least_sure_shapes(const Analysis& analysis) {
  ShapeSource least = ShapeSource::fixed;
  for (const AnalysisRow& row : analysis.rows)
    if (row.standing == Standing::counted) least = std::max(least, row.shapes);
  return least;
}

}  // namespace ridgeline
