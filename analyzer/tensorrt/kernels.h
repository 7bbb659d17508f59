// Kernels: an engine's layers as work. Each layer becomes Ops, and counting and lowering are those
// of every other network; only the unit that runs a product comes from the tactic. What the file
// does not describe is Unknown and says what would describe it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/count/op_weights.h"
#include "analyzer/graph/graph.h"
#include "analyzer/tensorrt/engine.h"
#include "base/demand.h"

namespace ridgeline::tensorrt {

// Sizes that an engine leaves open.
struct EngineSizes {
  int profile = 0;                    // optimisation profile
  std::optional<std::int64_t> batch;  // dynamic first dimensions
  std::optional<std::int64_t> other;  // every other dynamic dimension
};

// The layers of one optimisation profile with all sizes as numbers: those given, else those of the
// inputs (for tensors inside Myelin), else the optimum of the profile. Sizes that stay open, and a
// batch other than the one the engine runs with, are Errors.
Engine at_sizes(Engine engine, const EngineSizes& sizes);

// Dimension 0 of the first input; nothing if it has none.
std::optional<std::int64_t> batch_of(const Engine& engine);

struct Kernels {
  Graph graph;                             // one layer per layer of the engine, in its order
  std::vector<LayerCount> counts;          // of graph.layers
  std::vector<Demand> demands;             // of the layers that do something
  std::vector<std::size_t> demand_layers;  // of graph.layers, one per Demand
  std::vector<std::string> warnings;
};

// The engine's layers as a Graph, before they are counted. Sizes must be numbers.
Graph kernel_graph(const Engine& engine, std::vector<std::string>& warnings);

// Counts and lowers it. `engine` must be the one that the graph was made of.
Kernels count_kernels(Graph graph, const Engine& engine,
                      const OpWeights& weights = default_weights());

// Both, for an engine at its sizes.
Kernels kernels_of(const Engine& engine, const OpWeights& weights = default_weights());

// A layer that neither launches nor moves anything: NoOp, constants, host-side shape work.
bool is_idle(const EngineLayer& layer);

// The type that a layer's products or other arithmetic are computed in.
DType compute_type(const EngineLayer& layer);

}  // namespace ridgeline::tensorrt
