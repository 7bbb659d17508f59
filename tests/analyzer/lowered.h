// Sums over the kernels of a network. For tests only.
#pragma once

#include <map>
#include <vector>

#include "base/demand.h"

namespace ridgeline::testing {

inline Work work_of(const std::vector<Demand>& demands) {
  Work total;
  for (const Demand& demand : demands) total += demand.work;
  return total;
}

inline std::map<OpClass, int> classes_of(const std::vector<Demand>& demands) {
  std::map<OpClass, int> counts;
  for (const Demand& demand : demands) ++counts[op_class(demand.kind)];
  return counts;
}

}  // namespace ridgeline::testing
