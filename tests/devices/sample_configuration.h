// An nvpmodel file of our own for tests: small, in the style of Orin's.
// No line is taken from a vendor's file.
#pragma once

#include <string>

namespace ridgeline::testing {

inline std::string sample_configuration() {
  return R"(# knobs
< PARAM TYPE=FILE NAME=CPU_ONLINE >
CORE_0 /sys/devices/system/cpu/cpu0/online
CORE_1 /sys/devices/system/cpu/cpu1/online
CORE_4 /sys/devices/system/cpu/cpu4/online

< PARAM TYPE=FILE NAME=TPC_POWER_GATING >
TPC_PG_MASK /sys/devices/gpu.0/tpc_pg_mask

< PARAM TYPE=CLOCK NAME=CPU_A78_0 >
MAX_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq
MIN_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq

< PARAM TYPE=CLOCK NAME=CPU_A78_1 >
MAX_FREQ /sys/devices/system/cpu/cpu4/cpufreq/scaling_max_freq
MIN_FREQ /sys/devices/system/cpu/cpu4/cpufreq/scaling_min_freq

< PARAM TYPE=CLOCK NAME=GPU >
MAX_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq
MIN_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/min_freq

<PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap

< POWER_MODEL ID=0 NAME=ALL >
CPU_ONLINE CORE_0 1
CPU_ONLINE CORE_1 1
CPU_ONLINE CORE_4 1
TPC_POWER_GATING TPC_PG_MASK 0
CPU_A78_0 MIN_FREQ 729600
CPU_A78_0 MAX_FREQ -1
CPU_A78_1 MIN_FREQ 729600
CPU_A78_1 MAX_FREQ -1
GPU MIN_FREQ 0
GPU MAX_FREQ -1
EMC MAX_FREQ 0

< POWER_MODEL ID=4 NAME=MODE_9W >
CPU_ONLINE CORE_0 1
CPU_ONLINE CORE_1 1
CPU_ONLINE CORE_4 0
TPC_POWER_GATING TPC_PG_MASK 240
CPU_A78_0 MIN_FREQ 729600
CPU_A78_0 MAX_FREQ 1113600
GPU MIN_FREQ 0
GPU MAX_FREQ 408000000
EMC MAX_FREQ 2133000000

< PM_CONFIG DEFAULT=4 >
)";
}

inline std::string sample_with(const std::string& from, const std::string& to) {
  std::string text = sample_configuration();
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "no such text: " + from : text.replace(at, from.size(), to);
}

}  // namespace ridgeline::testing
