// The share of a run's time that power may take, the warning if that is too little, and the status
// of a row that cannot keep its rate up.
#include "kernels/power_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "kernels/record.h"

namespace ridgeline {
namespace {

constexpr double quick_point_s = 2.5, full_point_s = 5.5;  // settling included
constexpr double share_of_budget = 0.4;                    // at most
constexpr int idles = 2;                                   // before and after
constexpr double lasting_share = 0.97;                     // of a rate that lasts
constexpr double idle_moved = 0.1;
constexpr double least_average_s = 0.2;  // of a sensor that averages over bursts and their pauses

}  // namespace

PowerSweep::PowerSweep(PowerMeter* meter, int points, bool quick, double budget_s,
                       MeasuringConditions& conditions, bool clocks_held)
    : meter_(points > 0 ? meter : nullptr), points_(points), clocks_held_(clocks_held) {
  if (!meter_) return;
  const double point_s = quick ? quick_point_s : full_point_s;
  const auto count_s =
      count_seconds(meter_->settle_s(), points_ + idles, point_s, share_of_budget * budget_s);
  if (count_s) {
    count_s_ = *count_s;
    return;
  }
  const double enough_s = std::ceil(point_s * (points_ + idles) / share_of_budget);
  conditions.warnings.push_back({"power was not measured: " + meter_->facts().name +
                                     " is too slow a sensor for so short a run",
                                 fmt::format("--budget {:.0f}s", enough_s)});
  meter_ = nullptr;
}

double PowerSweep::seconds() const {
  return meter_ ? (meter_->settle_s() + count_s_) * (points_ + idles) : 0;
}

void PowerSweep::attempt(MeasuringConditions& conditions, const std::function<void()>& action) {
  if (!meter_) return;
  try {
    action();
  } catch (const SensorError& error) {
    conditions.warnings.push_back(
        {std::string("power was not measured to the end: ") + error.what(), ""});
    meter_ = nullptr;
  }
}

void PowerSweep::measure_idle(ProfileMode& mode) {
  attempt(mode.conditions, [&] {
    const auto idle = meter_->measure_idle(count_s_);
    if (!idle) return;
    if (!mode.idle_power_w) {
      mode.idle_power_w = idle;
      return;
    }
    // What differs between the two is not known any better.
    const Estimate before = *mode.idle_power_w;
    mode.idle_power_w = {(before.value + idle->value) / 2, std::min(before.low, idle->low),
                         std::max(before.high, idle->high), Source::measured};
    if (std::abs(idle->value - before.value) > idle_moved * before.value)
      mode.conditions.warnings.push_back(
          {fmt::format("power at rest was {} before the run and {} after it",
                       format_si(before.value, "W"), format_si(idle->value, "W")),
           "let the machine warm up and measure again"});
  });
}

std::optional<PowerMeter::Metered> PowerSweep::metered(const PowerMeter::Burst& burst,
                                                       const ProfileMode& mode) {
  std::optional<double> idle_w;
  if (clocks_held_ && mode.idle_power_w && meter_->facts().lag_s >= least_average_s)
    idle_w = mode.idle_power_w->value;
  return meter_->measure(burst, count_s_, idle_w);
}

void PowerSweep::measure_row(SweepRow& row, const PowerMeter::Burst& burst, ProfileMode& mode) {
  attempt(mode.conditions, [&] {
    const auto metered_row = metered(burst, mode);
    if (!metered_row) return;
    row.power_w = metered_row->power_w;
    const double share = metered_row->work_per_s / row.bytes_per_s->value;
    if (share >= lasting_share) return;
    row.bytes_per_s = exact(metered_row->work_per_s, Source::measured);
    row.flops_per_s = scaled(row.bytes_per_s, row.flop_per_byte);
    row.status = Status::throttled;
    row.note += fmt::format(
        "{}only short runs are faster: it fell to {} of their rate in the {} "
        "during which its power was read",
        row.note.empty() ? "" : "; ", format_percent(share),
        format_seconds(meter_->settle_s() + count_s_));
  });
}

void PowerSweep::measure_row(ComputeRow& row, const PowerMeter::Burst& burst, ProfileMode& mode) {
  attempt(mode.conditions, [&] {
    const auto metered_row = metered(burst, mode);
    // Power belongs to the rate; a peak that does not last has no power of its own.
    if (metered_row && metered_row->work_per_s >= lasting_share * row.flops_per_s->value)
      row.power_w = metered_row->power_w;
  });
}

}  // namespace ridgeline
