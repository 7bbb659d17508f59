// Reads cpufreq, devfreq, powercap and the state of NVIDIA's nvpmodel.
// The label is nvpmodel's where it is known, else "as found".
#include "cli/present_mode.h"

#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>

#include "cli/system_files.h"

namespace ridgeline::cli {
namespace {

// "pmode:0002" of the status file, looked up as "< POWER_MODEL ID=2 NAME=MODE_30W >".
std::optional<std::string> nvpmodel_name(const SystemRoot& root) {
  static const std::regex status("pmode:0*([0-9]+).*");
  static const std::regex model(R"(\s*<\s*POWER_MODEL\s+ID=0*([0-9]+)\s+NAME=([^\s>]+).*)");
  const std::string line = first_line(root, "var/lib/nvpmodel/status").value_or("");
  std::smatch mode;
  if (!std::regex_match(line, mode, status)) return std::nullopt;
  std::ifstream file(root.at("etc/nvpmodel.conf"));
  for (std::string row; std::getline(file, row);)
    if (std::smatch found; std::regex_match(row, found, model) && found[1] == mode[1])
      return found[2].str();
  return "nvpmodel " + mode[1].str();
}

// The upper limit of each cluster, in the order of the kernel's policies.
std::vector<double> cluster_clocks(const SystemRoot& root) {
  const std::string folder = "sys/devices/system/cpu/cpufreq/";
  std::map<int, double> clocks;  // by policy number: policy10 comes after policy2
  for (const std::string& name : names_in(root, folder)) {
    int policy = 0;
    if (!name.starts_with("policy") ||
        std::from_chars(name.data() + 6, name.data() + name.size(), policy).ec != std::errc{})
      continue;
    if (const auto khz = number(root, folder + name + "/scaling_max_freq"))
      clocks[policy] = *khz * 1e3;
  }
  std::vector<double> clocks_hz;
  for (const auto& [policy, hz] : clocks) clocks_hz.push_back(hz);
  return clocks_hz;
}

// CPUs in a list such as "0-3,6".
std::optional<int> online_cpus(const SystemRoot& root) {
  const auto line = first_line(root, "sys/devices/system/cpu/online");
  if (!line) return std::nullopt;
  static const std::regex range("([0-9]{1,6})(-([0-9]{1,6}))?");
  int count = 0;
  for (std::sregex_iterator found(line->begin(), line->end(), range), end; found != end; ++found) {
    const int first = std::stoi((*found)[1]);
    count += ((*found)[3].matched ? std::stoi((*found)[3]) : first) - first + 1;
  }
  return count;
}

// The GPU of a Jetson; its directory is named after the unit: "17000000.ga10b".
std::optional<double> gpu_clock(const SystemRoot& root) {
  static const std::regex unit(R"(.*(\.gpu|g[pvab][0-9]+b|gm20b|gpu-gpc-0))");
  for (const std::string& name : names_in(root, "sys/class/devfreq"))
    if (std::regex_match(name, unit))
      return number(root, "sys/class/devfreq/" + name + "/max_freq");
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
  mode.cap_w = package_cap(root);
  return mode;
}

}  // namespace ridgeline::cli
