// Timeline: when the host prepares each kernel of one step and when the device runs it, at the
// means of the parameters. A view of a Step; what the kernels cost is in roofline/model/step.h.
#pragma once

#include <string>
#include <vector>

#include "base/conditions.h"
#include "base/machine_model.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

struct TimelineSpan {
  double begin_s = 0;  // since the begin of the step
  double time_s = 0;   // 0: there is none

  double end_s() const { return begin_s + time_s; }
};

struct TimelineKernel {
  std::string name;
  TimelineSpan host, device;
};

struct Timeline {
  std::vector<TimelineKernel> kernels;  // in the order of execution
  TimelineSpan setup;                   // of the host, before it prepares the first kernel
  TimelineSpan tail;                    // of the host, after the last kernel
  double waiting_s = 0;                 // host and device waiting for each other, at the end
  double time_s = 0;                    // of the step
};

// Throws as predict() does.
Timeline predicted_timeline(const MachineModel& model, const NetworkLoad& load,
                            const Conditions& conditions);

}  // namespace ridgeline
