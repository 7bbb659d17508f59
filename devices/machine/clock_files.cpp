// The folder of a GPU is named after its unit: "17000000.ga10b".
#include "devices/machine/clock_files.h"

#include <charconv>
#include <map>
#include <system_error>

namespace ridgeline {

std::vector<std::string> cpu_policy_folders(const SystemRoot& root) {
  const std::string folder = "sys/devices/system/cpu/cpufreq/";
  std::map<int, std::string> policies;
  for (const std::string& name : names_in(root, folder)) {
    int policy = 0;
    if (name.starts_with("policy") &&
        std::from_chars(name.data() + 6, name.data() + name.size(), policy).ec == std::errc{})
      policies[policy] = folder + name + "/";
  }
  std::vector<std::string> folders;
  for (const auto& [policy, path] : policies) folders.push_back(path);
  return folders;
}

std::optional<std::string> gpu_clock_folder(const SystemRoot& root) {
  for (const std::string& name : names_in(root, "sys/class/devfreq"))
    for (const char* unit : {".gpu", ".gm20b", ".gp10b", ".gv11b", ".ga10b", "gpu-gpc-0"})
      if (name.ends_with(unit)) return "sys/class/devfreq/" + name + "/";
  return std::nullopt;
}

}  // namespace ridgeline
