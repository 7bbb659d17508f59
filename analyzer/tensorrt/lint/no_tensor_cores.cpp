// Rule "no-tensor-cores": products in fp16, bf16, fp8 or int8 whose kernel, by its name, runs on
// the ordinary units. Depthwise layers are left out: tensor cores cannot help them. Nor fp32, where
// the user may have forbidden TF32.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"
#include "analyzer/tensorrt/tactic.h"

namespace ridgeline::tensorrt {

std::vector<Finding> find_idle_tensor_cores(const LintSubject& subject) {
  FindingList findings("no-tensor-cores", Source::predicted);
  for (const std::size_t index : subject.judged) {
    const EngineLayer& layer = subject.layer(index);
    const ElementType type = product_type(layer);
    if (!is_product(layer) || is_depthwise(layer) || (bits(type) != 8 && bits(type) != 16))
      continue;
    if (parse_tactic(layer.tactic).tensor_cores.value_or(true)) continue;
    const LayerCost& cost = subject.costs[index];
    std::optional<double> lost_s;
    if (cost.time_s && cost.least_s) lost_s = std::max(0.0, *cost.time_s - *cost.least_s);
    findings.add(fmt::format("{} products whose kernels use no tensor cores", to_string(type)),
                 "make channels (and M, N, K of matrix products) multiples of 8 in fp16 or 16 in "
                 "int8, and build with a larger workspace, so that such kernels apply",
                 {index, lost_s, std::nullopt, layer.tactic});
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
