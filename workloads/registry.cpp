// The list of families, and how given options become the settings of a network.
// A new network is a row in its family's file; a new family is a file and a line here.
#include "workloads/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "analyzer/fusion/fold_batch_norm.h"
#include "analyzer/graph/autocast.h"
#include "base/error.h"
#include "base/nearest.h"
#include "workloads/families.h"

namespace ridgeline {
namespace {

std::vector<Workload> join_families() {
  std::vector<Workload> all;
  for (const auto rows :
       {lenet_workloads(),        alexnet_workloads(),      squeezenet_workloads(),
        vgg_workloads(),          resnet_workloads(),       densenet_workloads(),
        inception_v3_workloads(), inception_v4_workloads(), mobilenet_v2_workloads(),
        mobilenet_v3_workloads(), efficientnet_workloads(), vision_transformer_workloads(),
        swin_workloads(),         maxvit_workloads(),       mobilevit_workloads(),
        yolov3_workloads(),       yolov8_workloads(),       ssd_mobilenet_workloads(),
        ssd_resnet_workloads(),   retinanet_workloads(),    unet_workloads(),
        bert_workloads(),         gpt2_workloads(),         opt_workloads(),
        llama_workloads(),        lstm_workloads(),         dreamlab_workloads()})
    std::copy(rows.begin(), rows.end(), std::back_inserter(all));
  return all;
}

std::string option_list(const Workload& workload) {
  std::string text;
  for (const auto& [option, name] : TokenTable<WorkloadOption>::rows)
    if (workload.options.has(option)) text += fmt::format("{}--{}", text.empty() ? "" : ", ", name);
  return text;
}

void check_options(const Workload& workload, const WorkloadOptions& options) {
  for (const auto& [option, name] : TokenTable<WorkloadOption>::rows)
    if (is_given(options, option) && !workload.options.has(option))
      throw usage_error(fmt::format("--{}", name),
                        fmt::format("{} has no such option", workload.name),
                        "it has " + option_list(workload));
  for (const auto& [size, name] :
       {std::pair(options.batch, "batch"), std::pair(options.image, "image"),
        std::pair(options.seq, "seq"), std::pair(options.context, "context"),
        std::pair(options.classes, "classes")})
    if (size && (*size < 1 || *size > max_size))
      throw usage_error(fmt::format("--{} {}", name, *size),
                        fmt::format("must be from 1 to {}", max_size));
  const auto& dtypes = workload_dtypes();
  if (options.dtype && std::none_of(dtypes.begin(), dtypes.end(),
                                    [&](const auto& row) { return row.second == *options.dtype; }))
    throw usage_error(fmt::format("--dtype {}", to_string(*options.dtype)),
                      "a network cannot be built in this type");
  if (options.precision == Precision::autocast && options.dtype &&
      options.dtype != ElementType::fp16 && options.dtype != ElementType::bf16)
    throw usage_error("--precision autocast",
                      fmt::format("has no meaning in {}", to_string(*options.dtype)),
                      "use fp16 or bf16");
  const bool decodes = options.phase == Phase::decode;
  if (decodes && options.seq)
    throw usage_error(fmt::format("--seq {}", *options.seq), "a decode step has one token",
                      "--context says how many are in the cache");
  if (!decodes && options.context)
    throw usage_error(fmt::format("--context {}", *options.context),
                      "a prompt has nothing in the cache", "add --phase decode, or use --seq");
}

}  // namespace

const std::vector<Workload>& all_workloads() {
  static const std::vector<Workload> all = join_families();
  return all;
}

std::optional<Workload> find_workload(std::string_view name) {
  for (const Workload& workload : all_workloads())
    if (workload.name == name) return workload;
  for (const Workload& workload : all_workloads())
    if (same_name(workload.name, name)) return workload;
  return std::nullopt;
}

Workload workload_named(std::string_view name) {
  if (const auto found = find_workload(name)) return *found;
  std::vector<std::string> names;
  for (const Workload& workload : all_workloads()) names.emplace_back(workload.name);
  std::vector<std::string> near = all_nearest(name, names);
  std::string fix = "'ridgeline workloads' lists the names";
  if (!near.empty()) {
    const std::string last = std::exchange(near.back(), {});
    near.pop_back();
    fix = fmt::format("did you mean {}{}{}?", fmt::join(near, ", "), near.empty() ? "" : " or ",
                      last);
  }
  throw usage_error(fmt::format("workload '{}'", name), "no network and no file has this name",
                    fix);
}

Settings resolve(const Workload& workload, const WorkloadOptions& options) {
  check_options(workload, options);
  Settings settings;
  settings.batch = options.batch.value_or(1);
  settings.image = options.image.value_or(workload.image);
  settings.phase = options.phase.value_or(Phase::prefill);
  const bool decodes = settings.phase == Phase::decode;
  settings.seq = decodes ? 1 : options.seq.value_or(default_seq);
  settings.context = decodes ? options.context.value_or(default_context) : 0;
  settings.classes = options.classes.value_or(workload.classes);
  settings.logits = options.logits.value_or(Logits::all);
  settings.attention = options.attention.value_or(AttentionForm::fused);
  settings.precision = options.precision.value_or(Precision::plain);
  const bool casts = settings.precision == Precision::autocast;
  settings.dtype = options.dtype.value_or(casts ? ElementType::fp16 : ElementType::fp32);
  settings.given = options.batch || options.image || options.seq || options.context ||
                   options.classes || options.phase || options.logits;
  return settings;
}

std::string full_options(const Workload& workload, const WorkloadOptions& options) {
  std::string text;
  for (const auto& [option, value] : chosen(workload.options, resolve(workload, options))) {
    if (option == WorkloadOption::dtype) continue;
    if (!text.empty()) text += ';';
    ((text += to_string(option)) += '=') += value;
  }
  return text;
}

Graph build_workload(const Workload& workload, const Settings& settings) {
  const bool casts = settings.precision == Precision::autocast;
  Settings built = settings;
  if (casts) built.dtype = ElementType::fp32;
  NetworkBuilder net(std::string(workload.name), built);
  workload.build(net);
  Graph graph = net.finish();
  if (casts) autocast(graph, compute_dtype(settings.dtype).value_or(DType::fp16));
  return graph;
}

Graph as_run(const Workload& workload, Graph graph) {
  return workload.is_folded ? fold_batch_norm(std::move(graph)) : std::move(graph);
}

Graph build_workload(std::string_view name, const WorkloadOptions& options) {
  const Workload workload = workload_named(name);
  return build_workload(workload, resolve(workload, options));
}

}  // namespace ridgeline
