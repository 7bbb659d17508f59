// A variant is the network loaded again from a request with one field changed.
#include "workloads/network_variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/analysis/analysis.h"
#include "analyzer/lowering/lowering.h"
#include "base/error.h"
#include "base/text.h"
#include "base/work.h"

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
  const std::string unknown = unknown_text(unknown_operators(network.graph()));
  if (unknown.empty()) return;
  if (!request.allow_unknown)
    throw Error(request.word, "unknown operators: " + unknown,
                "--allow-unknown counts them as moving data only", ExitCode::incomplete);
  network.warnings.push_back("counted as moving data only: " + unknown);
}

double input_bytes(const Network& network) {
  const Graph* graph = std::get_if<Graph>(&network.content);
  if (graph == nullptr) return 0;
  double bytes = 0;
  for (const TensorId id : graph->inputs) {
    const Tensor& input = graph->tensors[id];
    if (input.source == ShapeSource::unknown) return 0;
    bytes += storage_bytes(input.type, element_count(input.shape)).value_or(0);
  }
  return bytes;
}

std::vector<Demand> kernels_of(const Network& network, Runtime runtime) {
  if (const Graph* graph = std::get_if<Graph>(&network.content)) return lower(*graph, runtime);
  const auto& chosen = std::get<ChosenKernels>(network.content);
  if (chosen.runtime != runtime)
    throw Error(network.source.path, fmt::format("holds the kernels of {}, not those of {}",
                                                 to_string(chosen.runtime), to_string(runtime)));
  return chosen.demands;
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

const Network& NetworkVariants::loaded(const Change& change) {
  const auto known = loaded_.find(change);
  if (known != loaded_.end()) return known->second;
  NetworkRequest request = request_;
  const auto& [batch, dtype] = change;
  if (batch) request.batch = batch;
  if (dtype) request.dtype = dtype;
  Network network = load_network(request);
  const bool is_as_given = !batch && !dtype;  // other variants have the same operators
  if (is_as_given && std::holds_alternative<Graph>(network.content))
    check_operators(request, network);
  if (training_) {
    Training training = train(network.graph(), *training_);
    for (std::string& warning : training_warnings(training))
      network.warnings.push_back(std::move(warning));
    network.content = std::move(training.graph);
  }
  return loaded_.emplace(change, std::move(network)).first->second;
}

const NetworkVariant& NetworkVariants::lowered(const Change& change, Runtime runtime) {
  const auto key = std::make_pair(change, runtime);
  const auto known = lowered_.find(key);
  if (known != lowered_.end()) return known->second;
  const Network& network = loaded(change);
  NetworkVariant variant;
  variant.demands = kernels_of(network, runtime);
  variant.batch = network.batch.value_or(1);
  variant.dtype = main_dtype(variant.demands);
  variant.warnings = network.warnings;
  variant.input_bytes = input_bytes(network);
  return lowered_.emplace(key, std::move(variant)).first->second;
}

std::vector<std::string> training_warnings(const Training& training) {
  std::vector<std::string> warnings;
  for (const std::string& layer : training.without_gradient)
    warnings.push_back("layer " + quote(layer) + " has no gradient rule");
  if (training.unreached > 0)
    warnings.push_back(fmt::format("no gradient gets to {:.0f} parameters, which do not learn",
                                   training.unreached));
  return warnings;
}

double least_memory_bytes(const std::vector<Demand>& demands) {
  double weights = 0, largest = 0;
  for (const Demand& demand : demands) {
    weights += demand.work.weight_bytes_read;
    largest = std::max(largest, demand.work.bytes_read + demand.work.bytes_written);
  }
  return weights + largest;
}

}  // namespace ridgeline
