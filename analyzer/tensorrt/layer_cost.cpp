// Every layer of the file has a count; a time only if it was measured.
#include "analyzer/tensorrt/layer_cost.h"

#include "base/work.h"

namespace ridgeline::tensorrt {

std::vector<LayerCost> layer_costs(const ChosenKernels& kernels) {
  std::vector<LayerCost> costs(kernels.counts.size());
  for (std::size_t index = 0; index < costs.size(); ++index) {
    costs[index].bytes = total_bytes(kernels.counts[index].work);
    if (kernels.times) costs[index].time_s = kernels.times->mean_s[index];
  }
  return costs;
}

}  // namespace ridgeline::tensorrt
