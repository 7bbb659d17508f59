// Graph, training pass, kernels of the runtime, load.
#include "validation/measured_load.h"

#include <fmt/format.h>

#include "analyzer/lowering/lowering.h"
#include "analyzer/training/training.h"
#include "workloads/registry.h"

namespace ridgeline {

const NetworkLoad& MeasuredLoads::of(const Measurement& row) {
  const Runtime runtime = row.conditions.runtime;
  const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", row.model, row.options, row.batch(),
                                      row.dtype, to_string(runtime), to_string(row.task));
  const auto known = loads_.find(key);
  if (known != loads_.end()) return known->second;
  Graph graph = build_workload(row.model, row.wanted);
  if (row.task == Task::training) graph = train(graph, {}).graph;
  return loads_.emplace(key, network_load(lower(graph, runtime), runtime)).first->second;
}

}  // namespace ridgeline
