// Power along an intensity sweep, and at rest before and after, within a run's time. Shared by all
// backends. The rates are there already; what energy per FLOP and byte follows is fitted elsewhere.
#pragma once

#include <functional>
#include <optional>

#include "base/profile.h"
#include "kernels/power_meter.h"

namespace ridgeline {

class PowerSweep {
 public:
  // Without a meter, without `points` of a sweep, or where `budget_s`, of the whole run, leaves no
  // time for it, nothing is measured; the last case is said in a warning. `clocks_held`: pauses
  // between bursts do not lower them (see PowerMeter::measure).
  PowerSweep(PowerMeter* meter, int points, bool quick, double budget_s,
             MeasuringConditions& conditions, bool clocks_held = false);

  double seconds() const;  // that it takes in all

  // The machine at rest; of two readings both speak.
  void measure_idle(ProfileMode& mode);
  // `burst` runs the row's kernel and says how many bytes it moved. A rate that does not last is
  // replaced by the one that does, since that is what draws the power. Errors of the
  // burst pass; one of the sensor is a warning, and nothing is measured any more.
  void measure_row(SweepRow& row, const PowerMeter::Burst& burst, ProfileMode& mode);
  // A peak of arithmetic without traffic; the burst says how much of the row's work it did.
  void measure_row(ComputeRow& row, const PowerMeter::Burst& burst, ProfileMode& mode);

 private:
  // Does it where there is a meter.
  void attempt(MeasuringConditions& conditions, const std::function<void()>& action);
  std::optional<PowerMeter::Metered> metered(const PowerMeter::Burst& burst,
                                             const ProfileMode& mode);

  PowerMeter* meter_;
  int points_ = 0;
  double count_s_ = 0;
  bool clocks_held_ = false;
};

}  // namespace ridgeline
