// The limits of load are those by which the sampler sets rounds aside.
#include "kernels/surroundings.h"

#include <fmt/format.h>

#include "base/units.h"
#include "kernels/sampler.h"

namespace ridgeline {

void warn_of_surroundings(const std::string& busiest, std::optional<double> quota, int cores,
                          MeasuringConditions& conditions) {
  const SamplerOptions limits;
  const auto warn = [&](const std::string& text, const std::string& fix) {
    conditions.warnings.push_back({text, fix});
  };
  if (conditions.other_fraction > limits.max_other || conditions.disturbed)
    warn(fmt::format("other load: {} ran beside the measurement ({} of the measured cores' time)",
                     busiest.empty() ? "other processes" : busiest,
                     format_percent(conditions.other_fraction, 1)),
         "stop it and measure again");
  if (conditions.steal_fraction > limits.max_steal)
    warn(fmt::format("the hypervisor took {} of the measured cores' time",
                     format_percent(conditions.steal_fraction, 1)),
         "measure when the host is quiet, or on dedicated cores");
  if (quota && *quota < cores)
    warn(fmt::format("this process may use only {:.1f} of {} cores' time (cgroup quota)", *quota,
                     cores),
         "lift the quota, or measure with fewer --threads");
  if (!conditions.governor.empty() && conditions.governor != "performance")
    warn("the CPU governor is '" + conditions.governor + "': the clock may follow the load",
         "sudo cpupower frequency-set -g performance");
}

}  // namespace ridgeline
