// One Step with its rows; nothing is computed anew.
#include "roofline/explain/timeline.h"

#include <algorithm>

#include "roofline/model/coefficients.h"
#include "roofline/model/step.h"

namespace ridgeline {

Timeline predicted_timeline(const MachineModel& model, const NetworkLoad& load,
                            const Conditions& conditions) {
  const Coefficients means = coefficients(model, conditions.runtime);
  const Step step = StepModel(load, means).at(conditions);
  Timeline timeline;
  timeline.time_s = step.time_s;
  timeline.waiting_s = step.jitter_s;
  for (std::size_t i = 0; i < step.rows.size(); ++i) {
    const StepRow& row = step.rows[i];
    const bool runs = load.kernels[i].kind != KernelKind::none;
    timeline.kernels.push_back({load.kernels[i].name,
                                {row.host_begin_s, row.host_s},
                                {row.kernel_begin_s, runs ? row.kernel.total_s : 0}});
  }
  const double first = timeline.kernels.empty() ? 0 : timeline.kernels.front().host.begin_s;
  timeline.setup = {0, first};
  timeline.tail = {step.time_s - step.jitter_s - step.tail_s, step.tail_s};
  return timeline;
}

}  // namespace ridgeline
