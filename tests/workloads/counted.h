// Builds a network by name and counts it, for tests of workloads.
#pragma once

#include <string_view>

#include "analyzer/count/count.h"
#include "workloads/registry.h"

namespace ridgeline::testing {

inline double parameters_of(const Graph& graph) {
  double count = 0;
  for (const Tensor& tensor : graph.tensors)
    if (tensor.is_parameter) count += static_cast<double>(element_count(tensor.shape));
  return count;
}

inline Work work_of(const Graph& graph) {
  Work work;
  for (const Layer& layer : graph.layers) work += count_layer(graph, layer, default_weights());
  return work;
}

inline double macs_of(const Graph& graph) { return work_of(graph).macs; }

inline double bytes_of(const Graph& graph) {
  const Work work = work_of(graph);
  return work.bytes_read + work.bytes_written + work.weight_bytes_read + work.weight_bytes_written;
}

// The Op of a layer with a single part.
template <class T>
const T* op_of(const Layer& layer) {
  return layer.parts.size() == 1 ? std::get_if<T>(&layer.parts.front().op) : nullptr;
}

}  // namespace ridgeline::testing
