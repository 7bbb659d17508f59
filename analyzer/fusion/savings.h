// What fusion saves, rule by rule: the difference between a network's layers and its kernels.
#pragma once

#include <string>
#include <vector>

#include "analyzer/fusion/fusion.h"

namespace ridgeline {

struct FusionSaving {
  std::string rule;
  std::size_t merges = 0;
  double bytes = 0, flop = 0, int_ops = 0;
};

// The largest first.
std::vector<FusionSaving> savings_by_rule(const std::vector<FusionStep>& steps);

}  // namespace ridgeline
