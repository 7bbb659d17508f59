// A name without a file behind it is a workload; everything else is a file.
// Options of workloads carry the names that the registry gives them.
#include "cli/requests/network.h"

#include <fmt/format.h>

#include <filesystem>

#include "analyzer/fusion/fold_batch_norm.h"
#include "analyzer/onnx/import.h"
#include "base/error.h"
#include "cli/requests/model_file.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

// Options that only a file has, and that only a workload has; both have --batch.
constexpr const char* file_options[] = {"shape", "dim", "assume-dim", "branch", "trips"};
constexpr WorkloadOption workload_options[] = {WorkloadOption::image,   WorkloadOption::seq,
                                               WorkloadOption::context, WorkloadOption::phase,
                                               WorkloadOption::logits,  WorkloadOption::attention,
                                               WorkloadOption::dtype,   WorkloadOption::classes};

[[noreturn]] void refuse_option(std::string_view option, const std::string& word,
                                std::string_view kind) {
  throw usage_error(fmt::format("--{}", option),
                    fmt::format("has no meaning for {}, which is {}", word, kind));
}

// A known name wins over a file of that name: ./resnet50 is the file.
bool is_path(const std::string& word) {
  std::error_code fault;
  return word.find('/') != std::string::npos || word.find(".onnx") != std::string::npos ||
         (!find_workload(word) && std::filesystem::exists(word, fault));
}

// Of a network and a file that are compared, an option may have a meaning for one of them only.
bool is_for_the_other(const Options& options, const std::string& word) {
  if (!options.has("diff")) return false;
  const std::string first = positional(options).front(), second = options.text("diff");
  return is_path(first) != is_path(word) || is_path(second) != is_path(word);
}

Network load_workload(const std::string& name, const Options& options, NetworkForm form) {
  const Workload workload = workload_named(name);
  const bool is_shared = is_for_the_other(options, name);
  for (const char* option : file_options)
    if (options.has(option) && !is_shared) refuse_option(option, name, "a network known by name");
  WorkloadOptions wanted;
  const auto take = [&](WorkloadOption option) {
    const std::string word(to_string(option));
    if (options.has(word)) set_option(wanted, option, options.text(word));
  };
  for (const WorkloadOption option : workload_options) take(option);
  if (form == NetworkForm::as_given)
    take(WorkloadOption::batch);
  else if (name == "lstm" && !wanted.seq)
    wanted.seq = 1;  // its export leaves the sequence free, as it does the batch
  const Settings settings = resolve(workload, wanted);
  Network network;
  network.graph = build_workload(workload, settings);
  if (form == NetworkForm::as_exported) network.graph = fold_batch_norm(std::move(network.graph));
  network.batch = settings.batch;
  network.source.path = name;
  network.source.format = "workload";
  network.source.producer = fmt::format("{}, {}", workload.source, std::string(workload.address));
  for (const auto& [option, value] : chosen(workload.options, settings))
    network.source.options.emplace_back(to_string(option), value);
  return network;
}

Network load_file(const std::string& path, const Options& options, NetworkForm form) {
  const bool is_shared = is_for_the_other(options, path);
  for (const WorkloadOption option : workload_options)
    if (options.has(std::string(to_string(option))) && !is_shared)
      refuse_option(to_string(option), path, "a file with its own");
  onnx::ImportOptions import = import_options(options);
  if (form == NetworkForm::as_exported) {
    import.batch.reset();
    if (!import.assumed_dim) import.assumed_dim = 1;
    import.absorb_quantization = false;
  }
  const onnx::ModelFile file = open_model(path);
  onnx::Import imported = onnx::import_graph(file, import);
  Network network;
  network.graph = std::move(imported.graph);
  network.batch = imported.batch;
  network.warnings = std::move(imported.warnings);
  network.source = {path,        "onnx", imported.producer, imported.ir_version, imported.opsets,
                    file.bytes()};
  return network;
}

}  // namespace

void add_network_options(OptionsDescription& options) {
  add_model_options(options);
  for (const WorkloadOption option : workload_options) {
    const std::string word(to_string(option)), about(description(option));
    options.add_text(word, value_name(option), about);
  }
}

Network load_network(const std::string& word, const Options& options, NetworkForm form) {
  return is_path(word) ? load_file(word, options, form) : load_workload(word, options, form);
}

}  // namespace ridgeline::cli
