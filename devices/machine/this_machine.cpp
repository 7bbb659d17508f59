// Reads /proc, /sys and /etc of this machine. Each fact that a system does not report stays empty;
// nothing here fails because a file is missing.
#include "devices/machine/this_machine.h"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "devices/machine/identification.h"
#include "devices/machine/topology.h"

namespace ridgeline {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first "key : value" of each key, as in /proc/cpuinfo and /proc/meminfo.
std::map<std::string, std::string> read_pairs(const std::string& path, char separator) {
  std::map<std::string, std::string> pairs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto cut = line.find(separator);
    if (cut != std::string::npos)
      pairs.try_emplace(trimmed(line.substr(0, cut)), trimmed(line.substr(cut + 1)));
  }
  return pairs;
}

int parse_int(const std::string& text) {
  const bool hex = text.starts_with("0x");
  int value = 0;
  const char* begin = text.data() + (hex ? 2 : 0);
  std::from_chars(begin, text.data() + text.size(), value, hex ? 16 : 10);
  return value;
}

std::string cpu_name(const std::map<std::string, std::string>& cpuinfo,
                     const Microarchitecture* core, const SystemRoot& root) {
  if (const auto brand = cpuinfo.find("model name"); brand != cpuinfo.end()) return brand->second;
  // Boards with a device tree say what they are; Arm's /proc/cpuinfo does not.
  if (std::string board = trimmed(read_text(root.at("proc/device-tree/model"))); !board.empty())
    return board;
  return core ? std::string(core->name) : std::string("unknown CPU");
}

std::uint64_t leading_number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The folder of this process' cgroup (version 2): the line "0::/path" of /proc/self/cgroup.
std::string cgroup_folder(const SystemRoot& root) {
  std::ifstream file(root.at("proc/self/cgroup"));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::/")) return root.at("sys/fs/cgroup" + line.substr(3) + "/");
  return root.at("sys/fs/cgroup/");
}

std::string unquoted(std::string text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return text;
}

std::string hypervisor_name(const std::map<std::string, std::string>& cpuinfo,
                            const SystemRoot& root) {
  const auto flags = cpuinfo.find("flags");
  if (flags == cpuinfo.end() ||
      (" " + flags->second + " ").find(" hypervisor ") == std::string::npos)
    return {};
  std::string vendor = trimmed(read_text(root.at("sys/class/dmi/id/sys_vendor")));
  return vendor.empty() ? "virtual machine" : "virtual machine (" + vendor + ")";
}

}  // namespace

const Microarchitecture* identify_microarchitecture(const SystemRoot& root) {
  auto cpuinfo = read_pairs(root.at("proc/cpuinfo"), ':');
  if (cpuinfo.contains("vendor_id")) {
    return find_microarchitecture(
        {cpuinfo["vendor_id"], parse_int(cpuinfo["cpu family"]), parse_int(cpuinfo["model"])});
  }
  return find_microarchitecture({cpuinfo["CPU implementer"], 0, parse_int(cpuinfo["CPU part"])});
}

Machine identify_machine(const SystemRoot& root) {
  const auto cpuinfo = read_pairs(root.at("proc/cpuinfo"), ':');
  const Microarchitecture* core = identify_microarchitecture(root);
  const Topology topology = read_topology();
  Machine machine;
  machine.name = cpu_name(cpuinfo, core, root);
  machine.microarchitecture = core ? std::string(core->name) : std::string();
  machine.cores = topology.cores;
  machine.hardware_threads = static_cast<int>(topology.cpus.size());
  machine.numa_nodes = topology.numa_nodes;
  // hwloc adds up the NUMA nodes, which lack memory that was plugged in after boot.
  const std::uint64_t total = total_memory_bytes(root);
  machine.memory_bytes = total > 0 ? total : topology.memory_bytes;
  machine.caches = topology.caches;
  auto release = read_pairs(root.at("etc/os-release"), '=');
  machine.os = unquoted(release["PRETTY_NAME"]);
  machine.hypervisor = hypervisor_name(cpuinfo, root);
  machine.device = identify(root).catalog_id;
  utsname system{};
  if (uname(&system) == 0) {
    machine.architecture = system.machine;
    machine.kernel = system.release;
  }
  return machine;
}

std::string cpu_governor(const SystemRoot& root) {
  return trimmed(read_text(root.at("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")));
}

std::uint64_t total_memory_bytes(const SystemRoot& root) {
  return leading_number(read_pairs(root.at("proc/meminfo"), ':')["MemTotal"]) * 1024;
}

std::uint64_t available_memory_bytes(const SystemRoot& root) {
  auto meminfo = read_pairs(root.at("proc/meminfo"), ':');
  std::uint64_t available = leading_number(meminfo["MemAvailable"]) * 1024;
  // "max" parses to zero and means no limit. File pages that could be dropped count as free.
  const std::string group = cgroup_folder(root);
  const std::uint64_t limit = leading_number(read_text(group + "memory.max"));
  if (limit == 0) return available;
  const std::uint64_t used = leading_number(read_text(group + "memory.current"));
  auto stat = read_pairs(group + "memory.stat", ' ');
  const std::uint64_t droppable = leading_number(stat["inactive_file"]);
  const std::uint64_t taken = used > droppable ? used - droppable : 0;
  return std::min(available, limit > taken ? limit - taken : 0);
}

std::optional<double> cpu_quota(const SystemRoot& root) {
  std::istringstream text(read_text(cgroup_folder(root) + "cpu.max"));
  double quota = 0, period = 0;  // "max 100000" does not parse as two numbers
  if (!(text >> quota >> period) || period <= 0) return std::nullopt;
  return quota / period;
}

}  // namespace ridgeline
