// Where Linux keeps clocks: the cpufreq policies, one per CPU cluster, and the devfreq folder of a
// Jetson's GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/machine/system_files.h"

namespace ridgeline {

// Folders below the root that end in '/', by the number of the policy: policy10 is after policy2.
std::vector<std::string> cpu_policy_folders(const SystemRoot& root);

std::optional<std::string> gpu_clock_folder(const SystemRoot& root);

}  // namespace ridgeline
