// A word with a slash or a model's file extension is a file. Any other is a workload, unless only a
// file has that name.
#include "workloads/network.h"

#include <fmt/format.h>

#include <filesystem>

#include "analyzer/fusion/fold_batch_norm.h"
#include "analyzer/graph/build_precision.h"
#include "base/error.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

[[noreturn]] void refuse_option(std::string_view option, const std::string& word,
                                std::string_view kind) {
  throw usage_error(fmt::format("--{}", option),
                    fmt::format("has no meaning for {}, which is {}", word, kind));
}

void refuse_options_of_files(const NetworkRequest& request) {
  const ReadOptions& reading = request.reading;
  const auto refuse = [&](const char* option, bool is_given) {
    if (is_given) refuse_option(option, request.word, "a network known by name");
  };
  refuse("shape", !reading.shapes.empty());
  refuse("dim", !reading.dims.empty());
  refuse("batch-axis", !reading.batch_axes.empty());
  refuse("input", !reading.values.empty());
  refuse("assume-dim", reading.assumed_dim.has_value());
  refuse("branch", reading.branch != Branch::larger);
  refuse("trips", !reading.trips.empty());
  refuse("ops", !reading.operators.empty());
  refuse("onnx", !reading.onnx.empty());
  refuse("times", !reading.times.empty());
  refuse("opt-profile", reading.opt_profile.has_value());
}

void refuse_options_of_workloads(const NetworkRequest& request) {
  for (const auto& [option, name] : TokenTable<WorkloadOption>::rows)
    if (option != WorkloadOption::dtype && is_given(request.options, option))
      refuse_option(name, request.word, "a file with its own");
}

// --dtype of a file is the precision that it is built in.
void set_precision(Network& network, DType precision) {
  Graph* graph = std::get_if<Graph>(&network.content);
  if (graph == nullptr)
    throw usage_error(fmt::format("--dtype {}", to_string(precision)),
                      network.source.path + " was built with its types already");
  workload_dtype(precision);  // a usage error for a type that no network has
  switch (build_in(*graph, precision)) {
    case Rebuilt::yes:
      return;
    case Rebuilt::own_quantization:
      network.warnings.push_back(network.source.path + " is quantised: it keeps its own types");
      return;
    case Rebuilt::nothing_wide:
      if (precision != DType::fp32)
        network.warnings.push_back(fmt::format("{} has no tensor wider than {}: it keeps its types",
                                               network.source.path, to_string(precision)));
      return;
  }
}

Network build_network(const NetworkRequest& request) {
  const Workload workload = workload_named(request.word);
  if (!request.shares_options) refuse_options_of_files(request);
  WorkloadOptions wanted = request.options;
  if (request.dtype) wanted.dtype = workload_dtype(*request.dtype);
  if (request.form == NetworkForm::as_given)
    wanted.batch = request.batch;
  else if (request.word == "lstm" && !wanted.seq)
    wanted.seq = 1;  // its export leaves sequence and batch free
  const Settings settings = resolve(workload, wanted);
  Graph graph = build_workload(workload, settings);
  if (request.form == NetworkForm::as_exported) graph = fold_batch_norm(std::move(graph));
  Network network{std::move(graph), {}, settings.batch, {}};
  network.source.path = request.word;
  network.source.format = "workload";
  network.source.producer = fmt::format("{}, {}", workload.source, std::string(workload.address));
  for (const auto& [option, value] : chosen(workload.options, settings))
    network.source.options.emplace_back(to_string(option), value);
  return network;
}

Network read_file(const NetworkRequest& request) {
  if (!request.shares_options) refuse_options_of_workloads(request);
  ReadOptions reading = request.reading;
  reading.batch = request.batch;
  if (request.form == NetworkForm::as_exported) {
    reading.batch.reset();
    if (!reading.assumed_dim) reading.assumed_dim = 1;
    reading.absorb_quantization = false;
  }
  Network network = read_network(request.word, reading);
  if (request.dtype && request.form == NetworkForm::as_given)
    set_precision(network, *request.dtype);
  return network;
}

}  // namespace

bool is_file(const NetworkRequest& request) {
  const std::string& word = request.word;
  std::error_code fault;
  if (std::filesystem::exists(word, fault))
    return word.find('/') != std::string::npos || has_model_extension(word) || !find_workload(word);
  return has_model_extension(word) ||
         (word.find('/') != std::string::npos && !find_workload(word));  // "ViT-B/16" is a name
}

Network load_network(const NetworkRequest& request) {
  Network network = is_file(request) ? read_file(request) : build_network(request);
  Graph* graph = std::get_if<Graph>(&network.content);
  if (graph != nullptr && request.weights) store_weights_in(*graph, *request.weights);
  if (graph != nullptr && request.caches) store_caches_in(*graph, *request.caches);
  return network;
}

}  // namespace ridgeline
