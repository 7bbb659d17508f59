// A variant is the network loaded again with one option changed, as a user would do it.
#include "cli/requests/network_variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/graph/unknown_operators.h"
#include "analyzer/lowering/lowering.h"
#include "base/error.h"
#include "base/work.h"
#include "cli/requests/network.h"
#include "cli/requests/training.h"
#include "report/analysis_facts.h"

namespace ridgeline::cli {
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

}  // namespace

NetworkVariants::NetworkVariants(std::string word, const Options& options,
                                 std::optional<TrainingOptions> training)
    : word_(std::move(word)), options_(options), training_(std::move(training)) {}

const NetworkVariant& NetworkVariants::as_given(Runtime runtime) {
  return made(std::nullopt, std::nullopt, runtime);
}

const NetworkVariant& NetworkVariants::with(std::int64_t batch, DType dtype, Runtime runtime) {
  const NetworkVariant& given = as_given(runtime);
  if (batch == given.batch && dtype == given.dtype) return given;
  return made(batch == given.batch ? std::nullopt : std::optional(batch),
              dtype == given.dtype ? std::nullopt : std::optional(dtype), runtime);
}

const NetworkVariant& NetworkVariants::made(std::optional<std::int64_t> batch,
                                            std::optional<DType> dtype, Runtime runtime) {
  const auto key = std::make_tuple(batch, dtype, runtime);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  Options changed = options_;
  if (batch) changed.set("batch", std::to_string(*batch));
  if (dtype) changed.set("dtype", std::string(to_string(*dtype)));
  Network network = load_network(word_, changed, NetworkForm::as_given);
  NetworkVariant variant;
  variant.warnings = std::move(network.warnings);
  const bool as_it_is = !batch && !dtype;  // other variants have the same operators
  // A kernel without work would be predicted to take no time.
  const std::string unknown = as_it_is ? unknown_text(unknown_operators(network.graph)) : "";
  if (!unknown.empty()) {
    if (!flag(options_, "allow-unknown"))
      throw Error(word_, "unknown operators: " + unknown,
                  "--allow-unknown counts them as moving data only", ExitCode::incomplete);
    variant.warnings.push_back("counted as moving data only: " + unknown);
  }
  if (training_) {
    Training training = train(network.graph, *training_);
    for (std::string& warning : warnings_of(training))
      variant.warnings.push_back(std::move(warning));
    network.graph = std::move(training.graph);
  }
  variant.demands = lower(network.graph, runtime);
  variant.load = network_load(variant.demands, runtime);
  variant.batch = network.batch.value_or(1);
  variant.dtype = main_dtype(variant.demands);
  return made_.emplace(key, std::move(variant)).first->second;
}

double least_memory_bytes(const std::vector<Demand>& demands) {
  double weights = 0, largest = 0;
  for (const Demand& demand : demands) {
    weights += demand.work.weight_bytes_read;
    largest = std::max(largest, demand.work.bytes_read + demand.work.bytes_written);
  }
  return weights + largest;
}

}  // namespace ridgeline::cli
