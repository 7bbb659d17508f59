// What another version, precision, batch or GPU changed in an engine: layers that came, went or
// became others, with their types, kernels, bytes and times beside each other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/tensorrt/engine.h"
#include "analyzer/tensorrt/layer_cost.h"
#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline::tensorrt {

// How a layer was found in the other engine: by its name; by the nodes of the network that it was
// made of; by what it computes on which sizes, in order.
enum class EngineMatch { name, nodes, computation };

// One engine with what its layers cost.
struct ComparedEngine {
  Engine engine;  // at its sizes
  std::vector<LayerCost> costs;
  std::optional<double> time_s;  // of a run, as measured; absent without times
};

struct ComparedLayer {
  std::size_t before = 0, after = 0;  // indices
  EngineMatch matched_by = EngineMatch::name;
  // "type", "dtype", "layout", "shape", "tactic", "bytes"; empty if only the time differs.
  std::vector<std::string_view> what;

  friend bool operator==(const ComparedLayer&, const ComparedLayer&) = default;
};

struct EngineDiff {
  static constexpr std::string_view schema = "ridgeline.engine_diff/1";
  ComparedEngine before, after;
  // Largest difference of time first, or of bytes if a side has no times.
  std::vector<ComparedLayer> matched;       // those that differ and those that do not
  std::vector<std::size_t> removed, added;  // indices, the most expensive first
};

// Layers that do nothing are not compared.
EngineDiff diff(ComparedEngine before, ComparedEngine after);

double total_bytes(const ComparedEngine& engine);

Json to_json(const EngineDiff& difference);

// "int8 → fp16", or one type if both are the same; of the first input and output.
std::string types_text(const EngineLayer& layer);

}  // namespace ridgeline::tensorrt

namespace ridgeline {

template <>
struct TokenTable<tensorrt::EngineMatch> {
  static constexpr std::string_view noun = "match";
  static constexpr std::array<std::pair<tensorrt::EngineMatch, std::string_view>, 3> rows{
      {{tensorrt::EngineMatch::name, "name"},
       {tensorrt::EngineMatch::nodes, "nodes"},
       {tensorrt::EngineMatch::computation, "computation"}}};
};

}  // namespace ridgeline
