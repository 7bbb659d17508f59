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
  // JetPack 4 has it below the device too, and some of its kernels only there.
  for (const char* folder :
       {"sys/class/devfreq/", "sys/devices/gpu.0/devfreq/", "sys/devices/platform/gpu.0/devfreq/"})
    for (const std::string& name : names_in(root, folder))
      for (const char* unit : {".gpu", ".gm20b", ".gp10b", ".gv11b", ".ga10b", "gpu-gpc-0"})
        if (name.ends_with(unit)) return folder + name + "/";
  return std::nullopt;
}

}  // namespace ridgeline
