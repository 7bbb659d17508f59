// A variant is the network loaded again from a request with one field changed.
#include "workloads/network_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/groups.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/fusion/rules.h"
#include "analyzer/graph/module_path.h"
#include "analyzer/lowering/lowering.h"
#include "analyzer/training/memory.h"
#include "base/error.h"
#include "base/text.h"
#include "base/work.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

DType main_dtype(const std::vector<Demand>& demands) {
  std::map<DType, double> operations;
  for (const Demand& demand : demands)
    for (const FlopCount& part : demand.work.flop) operations[part.dtype] += part.flop;
  const auto most =
      std::max_element(operations.begin(), operations.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == operations.end() ? DType::fp32 : most->first;
}

// A kernel without counted work would be predicted to take no time.
void check_operators(const NetworkRequest& request, Network& network) {
  const auto* chosen = std::get_if<ChosenKernels>(&network.content);
  const auto operators = unknown_operators(chosen ? chosen->graph : network.graph());
  const std::string unknown = unknown_text(operators);
  if (unknown.empty()) return;
  const bool was_measured = chosen != nullptr && chosen->times;
  if (!request.allow_unknown && !was_measured)
    throw Error(request.word, unknown, remedy_for_unknown(operators, network.source.format),
                ExitCode::incomplete);
  network.warnings.push_back(unknown + "; counted as moving data only");
}

double input_bytes(const Network& network) {
  const auto* chosen = std::get_if<ChosenKernels>(&network.content);
  const Graph* graph = chosen ? &chosen->graph : std::get_if<Graph>(&network.content);
  double bytes = 0;
  for (const TensorId id : graph->inputs) {
    const Tensor& input = graph->tensors[id];
    if (input.source == ShapeSource::unknown) return 0;
    bytes += storage_bytes(input.type, element_count(input.shape)).value_or(0);
  }
  return bytes;
}

// Kernels and memory of a network as a runtime would run it. `training`: the memory of a step.
void lower_variant(const Network& network, Runtime runtime,
                   const std::optional<RunMemory>& training, NetworkVariant& variant) {
  if (const Graph* graph = std::get_if<Graph>(&network.content)) {
    std::optional<Graph> fused;
    if (changes_layers(*graph, runtime)) fused = fuse(Graph(*graph), runtime);
    const Graph& kernels = fused ? *fused : *graph;
    variant.demands = lower_fused(kernels, runtime, count_layers(kernels, default_weights()));
    variant.memory = training ? *training : inference_memory(kernels);
    return;
  }
  const auto& chosen = std::get<ChosenKernels>(network.content);
  if (chosen.runtime != runtime)
    throw Error(network.source.path, fmt::format("holds the kernels of {}, not those of {}",
                                                 to_string(chosen.runtime), to_string(runtime)));
  variant.demands = chosen.demands;
  variant.memory = inference_memory(chosen.graph);
  variant.chosen = &chosen;
}

// Parts that all paths begin with: the network itself. Its last part is never shared.
std::size_t shared_beginning(const std::vector<std::vector<std::string_view>>& paths) {
  const std::vector<std::string_view>* first = nullptr;
  std::size_t shared = 0;
  for (const auto& path : paths) {
    if (path.front().empty()) continue;  // in no module
    if (first == nullptr) {
      first = &path;
      shared = path.size() - 1;
    }
    std::size_t same = 0;
    while (same < std::min(shared, path.size() - 1) && path[same] == (*first)[same]) ++same;
    shared = same;
  }
  return shared;
}

}  // namespace

const NetworkVariant& NetworkVariants::as_given(Runtime runtime) { return lowered({}, runtime); }

const NetworkVariant& NetworkVariants::with(std::int64_t batch, DType dtype, Runtime runtime) {
  const NetworkVariant& given = as_given(runtime);
  Change change;
  if (batch != given.batch) change.first = batch;
  if (dtype != given.dtype) change.second = dtype;
  return lowered(change, runtime);
}

const NetworkVariants::Loaded& NetworkVariants::loaded(const Change& change) {
  const auto known = loaded_.find(change);
  if (known != loaded_.end()) return known->second;
  NetworkRequest request = request_;
  const auto& [batch, dtype] = change;
  if (batch) request.batch = batch;
  if (dtype) request.dtype = dtype;
  Network network = load_network(request);
  if (network.batch == 0)
    throw Error(request.word, "its batch is 0: there is nothing to run", "give --batch 1");
  const bool is_as_given = !batch && !dtype;  // other variants have the same operators
  if (is_as_given) check_operators(request, network);
  std::optional<RunMemory> memory;
  if (training_) {
    Training training = train(network.graph(), *training_);
    for (std::string& warning : training_warnings(training))
      network.warnings.push_back(std::move(warning));
    memory = training.memory;
    network.content = std::move(training.graph);
  } else if (!is_file(request) && std::holds_alternative<Graph>(network.content)) {
    network.content =
        as_run(workload_named(request.word), std::get<Graph>(std::move(network.content)));
  }
  return loaded_.emplace(change, Loaded{std::move(network), memory}).first->second;
}

const NetworkVariant& NetworkVariants::lowered(const Change& change, Runtime runtime) {
  const auto key = std::make_pair(change, runtime);
  const auto known = lowered_.find(key);
  if (known != lowered_.end()) return known->second;
  const auto& [network, training] = loaded(change);
  NetworkVariant variant;
  lower_variant(network, runtime, training, variant);
  variant.batch = network.batch.value_or(1);
  variant.dtype = main_dtype(variant.demands);
  variant.warnings = network.warnings;
  variant.input_bytes = input_bytes(network);
  return lowered_.emplace(key, std::move(variant)).first->second;
}

std::vector<std::string> demand_modules(const NetworkVariant& variant) {
  std::vector<std::vector<std::string_view>> paths;
  std::vector<std::string> texts;  // that the paths point into
  texts.reserve(variant.demands.size());
  for (std::size_t i = 0; i < variant.demands.size(); ++i) {
    const Demand& demand = variant.demands[i];
    AnalysisRow row;
    row.name = demand.source_layers.empty() ? demand.name : demand.source_layers.front();
    row.module = variant.chosen != nullptr
                     ? variant.chosen->graph.layers[variant.chosen->demand_layers[i]].module
                     : common_module(demand.source_layers);
    texts.push_back(module_path(row));
    paths.push_back(split(texts.back(), '.'));
  }
  const std::size_t shared = shared_beginning(paths);
  std::vector<std::string> modules;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::string module;
    for (std::size_t part = shared; part < paths[i].size() && part < shared + default_module_depth;
         ++part)
      (module += module.empty() ? "" : ".") += paths[i][part];
    modules.push_back(module.empty() ? "outside" : std::move(module));
  }
  return modules;
}

std::vector<std::string> training_warnings(const Training& training) {
  std::vector<std::string> warnings;
  for (const std::string& layer : training.without_gradient)
    warnings.push_back("layer " + quote(layer) + " has no gradient rule");
  if (training.unreached > 0)
    warnings.push_back(fmt::format("no gradient gets to {:.0f} parameters, which do not learn",
                                   training.unreached));
  constexpr std::size_t enough = 4;
  if (training.folded_norms >= enough)
    warnings.push_back(fmt::format(
        "batch normalisation seems to be folded into {} convolutions, so its statistics and "
        "gradients are not counted; export the network for training: torch.onnx.export(model, "
        "..., dynamo=False, training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)",
        training.folded_norms));
  return warnings;
}

}  // namespace ridgeline
