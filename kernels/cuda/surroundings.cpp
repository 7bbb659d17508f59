// One line per thing that was not as it should be.
#include "kernels/cuda/surroundings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace ridgeline::cuda {

Surroundings::Surroundings(Look look) : look_(std::move(look)) {
  const GpuState first = this->look();
  seen_.load_before = first.load;
  seen_.first_temperature_c = first.temperature_c;
  seen_.other_processes = first.processes ? std::max(0, *first.processes - 1) : 0;
  first_over_currents_ = first.over_currents;
}

GpuState Surroundings::look() {
  if (!look_) return {};
  const GpuState state = look_();
  if (state.temperature_c)
    seen_.highest_temperature_c =
        std::max(seen_.highest_temperature_c.value_or(*state.temperature_c), *state.temperature_c);
  last_over_currents_ = state.over_currents;
  held_by_ |= state.held_by;
  return state;
}

void Surroundings::record(MeasuringConditions& conditions) const {
  if (!look_) return;
  GpuConditions seen = seen_;
  if (first_over_currents_ && last_over_currents_)
    seen.over_current_events =
        static_cast<std::uint64_t>(std::max(0.0, *last_over_currents_ - *first_over_currents_));
  seen.held_by = throttle_text(held_by_);
  const auto warn = [&](std::string text, std::string fix) {
    conditions.warnings.push_back({std::move(text), std::move(fix)});
  };
  if (seen.load_before.value_or(0) > noticeable_load)
    warn(fmt::format("other programs kept the GPU busy for {} of the time before the run{}",
                     format_percent(*seen.load_before),
                     seen.other_processes > 0
                         ? fmt::format(" ({} of them use CUDA)", seen.other_processes)
                         : ""),
         "close them and measure again");
  if (seen.first_temperature_c.value_or(0) > warm_c)
    warn(fmt::format("the GPU was at {:.0f} °C before the run", *seen.first_temperature_c),
         "let it cool down first");
  if (seen.over_current_events > 0)
    warn(fmt::format("the board counted {} over-current event{}: it slows itself down for moments",
                     seen.over_current_events, seen.over_current_events == 1 ? "" : "s"),
         "use a stronger supply, or a mode with less power");
  conditions.gpu = seen;
}

}  // namespace ridgeline::cuda
