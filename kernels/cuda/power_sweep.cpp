// The kernel runs in launches of some tens of milliseconds, one behind the other, and the sensor is
// read while they run. Their lengths differ at random, so that no period of the sensor's own falls
// in step with them.
#include "kernels/cuda/power_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "kernels/record.h"

namespace ridgeline::cuda {
namespace {

constexpr double quick_point_s = 2.5, full_point_s = 5.5;  // settling included
constexpr double share_of_budget = 0.4;                    // at most
constexpr int idles = 2;                                   // before and after
constexpr double burst_s = 0.04, shortest = 0.7, longest = 1.3;
constexpr double sustained_share =
    0.97;  // of the short runs' rate, below which that is no longer it
constexpr double idle_moved = 0.1;

bool takes_part(const PlannedTrial& trial) {
  return trial.role == Role::sweep && trial.missing.empty();
}

}  // namespace

PowerSweep::PowerSweep(PowerMeter* meter, const std::vector<PlannedTrial>& plan, bool quick,
                       double budget_s, MeasuringConditions& conditions)
    : meter_(meter),
      plan_(plan),
      points_(static_cast<int>(std::ranges::count_if(plan, takes_part))) {
  if (!meter_ || points_ == 0) {
    meter_ = nullptr;
    return;
  }
  const double point_s = quick ? quick_point_s : full_point_s;
  const auto count_s =
      count_seconds(meter_->settle_s(), points_ + idles, point_s, share_of_budget * budget_s);
  if (count_s) {
    count_s_ = *count_s;
    return;
  }
  const double least_s = std::ceil(point_s * (points_ + idles) / share_of_budget);
  conditions.warnings.push_back(
      {"power was not measured: the sensor " + meter_->facts().name + " needs more time",
       fmt::format("--budget {:.0f}s", least_s)});
  meter_ = nullptr;
}

double PowerSweep::seconds() const {
  return meter_ ? (meter_->settle_s() + count_s_) * (points_ + idles) : 0;
}

void PowerSweep::measure_idle(ProfileMode& mode) {
  if (!meter_) return;
  try {
    add_idle(mode);
  } catch (const Error& error) {
    meter_ = nullptr;
    mode.conditions.warnings.push_back(
        {std::string("power was not measured: ") + error.what(), ""});
  }
}

// Both readings speak: what differs between them is not known any better.
void PowerSweep::add_idle(ProfileMode& mode) {
  const auto idle = meter_->measure_idle(count_s_);
  if (!idle) return;
  if (!mode.idle_power_w) {
    mode.idle_power_w = idle;
    return;
  }
  const Estimate before = *mode.idle_power_w;
  mode.idle_power_w = {(before.value + idle->value) / 2, std::min(before.low, idle->low),
                       std::max(before.high, idle->high), Source::measured};
  if (std::abs(idle->value - before.value) > idle_moved * before.value)
    mode.conditions.warnings.push_back(
        {fmt::format("power at rest was {} before the run and {} after it",
                     format_si(before.value, "W"), format_si(idle->value, "W")),
         "let the machine warm up and measure again"});
}

void PowerSweep::measure_row(SweepRow& row, Bench& bench, std::size_t index) {
  const double once_s = bench.run(index, bench.setup(index).repeats, {}).seconds;
  const double repeats = bench.setup(index).repeats * burst_s / std::max(once_s, 1e-6);
  const auto metered = meter_->measure(
      [&](const std::function<void()>& look) {
        const double length = shortest + (longest - shortest) * random_.unit();
        Setup setup = bench.setup(index);
        setup.repeats = static_cast<std::uint32_t>(std::clamp(length * repeats, 1.0, 1e9));
        bench.run(index, setup.repeats, look);
        return setup.bytes();
      },
      count_s_);
  if (!metered) return;
  row.power_w = metered->power_w;
  // A rate that only short runs reach is not the one that draws this power.
  const double share = metered->work_per_s / row.bytes_per_s->value;
  if (share >= sustained_share) return;
  row.bytes_per_s = exact(metered->work_per_s, Source::measured);
  row.flops_per_s = scaled(row.bytes_per_s, row.flop_per_byte);
  row.status = Status::throttled;
  row.note +=
      fmt::format("{}fell to {} of its rate when it ran on for {}, during which its power was read",
                  row.note.empty() ? "" : "; ", format_percent(share),
                  format_seconds(meter_->settle_s() + count_s_));
}

void PowerSweep::measure_rows(ProfileMode& mode, Bench& bench) {
  if (!meter_) return;
  try {
    for (std::size_t i = 0; i < plan_.size() && !bench.lost(); ++i) {
      if (!takes_part(plan_[i])) continue;
      const auto row = std::ranges::find(mode.sweep, plan_[i].name(), &SweepRow::kernel);
      if (row == mode.sweep.end() || !row->bytes_per_s || row->status == Status::impossible)
        continue;
      bench.guard(i, [&] { measure_row(*row, bench, i); });
    }
    if (!bench.lost()) add_idle(mode);
  } catch (const Error& error) {
    mode.conditions.warnings.push_back(
        {std::string("power was not measured to the end: ") + error.what(), ""});
  }
}

}  // namespace ridgeline::cuda
