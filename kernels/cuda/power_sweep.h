// Power along the intensity sweep of a GPU, and its power at rest before and after.
// The rates are there already; what energy per FLOP and byte follows is fitted elsewhere.
#pragma once

#include <optional>
#include <vector>

#include "base/profile.h"
#include "base/random.h"
#include "kernels/cuda/bench.h"
#include "kernels/cuda/plan.h"
#include "kernels/power_meter.h"

namespace ridgeline::cuda {

class PowerSweep {
 public:
  // Without a meter, without a sweep in the plan, or where `budget_s`, of the whole run, leaves no
  // time for it, nothing is measured; the last case is said in a warning.
  PowerSweep(PowerMeter* meter, const std::vector<PlannedTrial>& plan, bool quick, double budget_s,
             MeasuringConditions& conditions);

  double seconds() const;  // that it will take in all

  // Before anything has run.
  void measure_idle(ProfileMode& mode);
  // Each sweep row of the mode, then rest again. A sensor that fails ends it with a warning.
  void measure_rows(ProfileMode& mode, Bench& bench);

 private:
  void measure_row(SweepRow& row, Bench& bench, std::size_t index);
  void add_idle(ProfileMode& mode);

  PowerMeter* meter_;
  const std::vector<PlannedTrial>& plan_;
  int points_ = 0;  // of the sweep
  double count_s_ = 0;
  Random random_{5};
};

}  // namespace ridgeline::cuda
