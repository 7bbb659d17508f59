// Reads cpufreq, devfreq, powercap and the state of NVIDIA's nvpmodel.
// The label is nvpmodel's name without MODE_ where it is known, else "as found".
#include "devices/modes/present_mode.h"

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "devices/machine/clock_files.h"
#include "devices/machine/system_files.h"
#include "devices/nvpmodel/configuration.h"

namespace ridgeline {
namespace {

// "pmode:0002" of the status file, looked up as "< POWER_MODEL ID=2 NAME=MODE_30W >".
std::optional<std::string> nvpmodel_name(const SystemRoot& root) {
  const std::string status = first_line(root, "var/lib/nvpmodel/status").value_or("");
  int mode = 0;
  if (std::sscanf(status.c_str(), "pmode:%9d", &mode) != 1) return std::nullopt;
  std::ifstream file(root.at("etc/nvpmodel.conf"));
  for (std::string row; std::getline(file, row);) {
    int id = 0;
    char name[64] = {};
    const char* const pattern = " < POWER_MODEL ID=%9d NAME=%63[^ >]";
    if (std::sscanf(row.c_str(), pattern, &id, name) == 2 && id == mode)
      return std::string(nvpmodel::label_of(name));
  }
  return "nvpmodel " + std::to_string(mode);
}

// The upper limit of each cluster, in the order of the kernel's policies.
std::vector<double> cluster_clocks(const SystemRoot& root) {
  std::vector<double> clocks_hz;
  for (const std::string& folder : cpu_policy_folders(root))
    if (const auto khz = number(root, folder + "scaling_max_freq")) clocks_hz.push_back(*khz * 1e3);
  return clocks_hz;
}

// CPUs in a list such as "0-3,6".
std::optional<int> online_cpus(const SystemRoot& root) {
  const auto line = first_line(root, "sys/devices/system/cpu/online");
  if (!line) return std::nullopt;
  int count = 0;
  for (const std::string_view range : split(*line, ',')) {
    int first = 0;
    int last = 0;
    const int numbers = std::sscanf(std::string(range).c_str(), "%6d-%6d", &first, &last);
    if (numbers >= 1) count += numbers == 2 ? last - first + 1 : 1;
  }
  return count;
}

std::optional<double> gpu_clock(const SystemRoot& root) {
  const auto folder = gpu_clock_folder(root);
  return folder ? number(root, *folder + "max_freq") : std::nullopt;
}

// The rate that a Jetson's memory is locked at, which root may read; else the cap that nvpmodel
// sets on it, where 0 and -1 are none.
std::optional<double> memory_clock_limit(const SystemRoot& root) {
  const std::string folder = "sys/kernel/debug/bpmp/debug/clk/emc/";
  if (number(root, folder + "mrq_rate_locked") == 1)
    if (const auto hz = number(root, folder + "rate"); hz && *hz > 0) return hz;
  for (const char* path :
       {"sys/kernel/nvpmodel_clk_cap/emc", "sys/kernel/nvpmodel_emc_cap/emc_iso_cap"})
    if (const auto hz = number(root, path); hz && *hz > 0 && *hz < 1e11) return hz;
  return std::nullopt;
}

std::optional<double> package_cap(const SystemRoot& root) {
  const auto microwatts =
      number(root, "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw");
  if (!microwatts || *microwatts <= 0) return std::nullopt;
  return *microwatts * 1e-6;
}

}  // namespace

OperatingPoint present_mode(const SystemRoot& root) {
  OperatingPoint mode;
  mode.label = nvpmodel_name(root).value_or("as found");
  mode.cpu_hz = cluster_clocks(root);
  mode.cpu_cores = online_cpus(root);
  mode.gpu_hz = gpu_clock(root);
  mode.memory_hz = memory_clock_limit(root);
  mode.cap_w = package_cap(root);
  return mode;
}

}  // namespace ridgeline
