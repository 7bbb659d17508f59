// The table of fusion rules: one row per pattern, with the runtimes that know it.
// A rule looks at two groups of layers and the tensor between them; it moves nothing itself.
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
  bool waits = false;   // until no rule before it has anything to do
  bool shares = false;  // also where others read the tensor: it is written then, but not read here
};

const std::vector<FusionRule>& fusion_rules();

// Products that read the same input and no result of each other run as one with a wider output.
// True where the runtime does that.
bool joins_siblings(Runtime runtime);

// Layers that depend on weights alone are computed before the first run. True where the runtime
// does that.
bool folds_constants(Runtime runtime);

// True where the runtime has any rule.
bool fuses(Runtime runtime);

}  // namespace ridgeline
