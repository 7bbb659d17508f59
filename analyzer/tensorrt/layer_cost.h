// LayerCost: what a layer of an engine moves, and how long it takes where that is known. Plain
// numbers, so that lint rules and comparisons need neither a machine nor a profile.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/frontend.h"

namespace ridgeline::tensorrt {

struct LayerCost {
  double bytes = 0;               // that it moves, padding included
  std::optional<double> time_s;   // of one run
  std::optional<double> least_s;  // that the machine's roofs allow; absent if it is unknown

  friend bool operator==(const LayerCost&, const LayerCost&) = default;
};

// One per layer of the file: bytes as counted, times as measured.
std::vector<LayerCost> layer_costs(const ChosenKernels& kernels);

}  // namespace ridgeline::tensorrt
