// Rule "far-from-roof": kernels that take more than twice the least time that the machine's roofs
// allow, by the time that this loses. Kernels that other rules remove are not repeated here.
#include <fmt/format.h>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {
namespace {

constexpr double far = 2;
// Below this the launch decides: see tiny_kernels.cpp.
constexpr double measurable_s = 10e-6;

}  // namespace

std::vector<Finding> find_far_from_roof(const LintSubject& subject) {
  FindingList findings("far-from-roof", Source::predicted);
  for (const std::size_t index : subject.judged) {
    const LayerCost& cost = subject.costs[index];
    const EngineLayer& layer = subject.layer(index);
    if (!cost.time_s || !cost.least_s || *cost.time_s <= measurable_s) continue;
    if (*cost.least_s <= 0 || *cost.time_s <= far * *cost.least_s) continue;
    if (is_conversion(layer) || is_copy(layer) || is_quantization(layer)) continue;
    const std::string detail = fmt::format("{:.1f} × its roof", *cost.time_s / *cost.least_s);
    const bool works_alone = is_product(layer) && !is_depthwise(layer);
    findings.add(works_alone ? "products that take more than twice the time of their roof"
                             : "other kernels that take more than twice the time of their roof",
                 works_alone
                     ? "raise the batch so that the tiles fill the GPU, build on the target with "
                       "a higher --builderOptimizationLevel, and check that clocks were locked"
                     : "fuse them with their neighbours, or give their tensors a layout that is "
                       "read in order (channels last, multiples of 8)",
                 {index, *cost.time_s - *cost.least_s, std::nullopt, detail});
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
