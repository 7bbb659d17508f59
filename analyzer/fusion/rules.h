// The table of fusion rules: one row per pattern, with the runtimes that apply it. A rule examines
// two groups of layers and the tensor between them; fusion.cpp merges them.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/fusion/patterns.h"
#include "base/runtime.h"

namespace ridgeline {

struct FusionRule {
  std::string_view name;
  bool (*applies)(const FusionCandidate&);
  std::vector<Runtime> runtimes;
  bool waits = false;   // until no earlier rule applies
  bool shares = false;  // also if others read the tensor: it is written but not read back
  // TensorRT keeps layers apart that a quantised tensor connects (TensorRT guide, "Q/DQ
  // layer-placement recommendations"), unless they only move or select elements.
  bool joins_quantized = false;
};

const std::vector<FusionRule>& fusion_rules();

// Whether the runtime runs independent products of the same input as one with a wider output.
bool joins_siblings(Runtime runtime);

// Whether the runtime computes layers that depend on weights alone before the first run.
bool folds_constants(Runtime runtime);

// Whether the runtime has any rule.
bool fuses(Runtime runtime);

}  // namespace ridgeline
