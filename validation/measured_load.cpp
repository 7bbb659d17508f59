// Graph, training pass, kernels of the runtime, load.
#include "validation/measured_load.h"

#include <fmt/format.h>

#include "analyzer/lowering/lowering.h"
#include "analyzer/training/training.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

WorkloadOptions workload_options(const Observation& row) {
  WorkloadOptions options = parse_options(row.options);
  set_option(options, WorkloadOption::batch, std::to_string(row.batch));
  set_option(options, WorkloadOption::dtype, to_string(row.dtype));
  return options;
}

}  // namespace

const NetworkLoad& MeasuredLoads::of(const Observation& row) {
  const Runtime runtime = row.conditions.runtime;
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", row.network, row.options, row.batch,
                  to_string(row.dtype), to_string(runtime), to_string(row.task));
  const auto known = loads_.find(key);
  if (known != loads_.end()) return known->second;
  Graph graph = build_workload(row.network, workload_options(row));
  if (row.task == Task::training) graph = train(graph, {}).graph;
  return loads_.emplace(key, network_load(lower(graph, runtime), runtime)).first->second;
}

}  // namespace ridgeline
