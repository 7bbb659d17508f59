// This machine as a device: the catalog's entry, or what device tree, sysfs, nvpmodel's file and
// hwloc tell. A number that the system does not tell stays absent.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/text_file.h"
#include "devices/machine/identification.h"
#include "devices/machine/this_machine.h"
#include "devices/nvpmodel/configuration.h"
#include "devices/nvpmodel/stated_mode.h"

namespace ridgeline {
namespace {

using catalog::ClockDomain;
using catalog::Device;
using catalog::Fact;
using catalog::Rate;

const char* const this_machine = "this-machine";
const char* const same_chip = "same-chip";
const char* const core_guide = "core-guide";

std::vector<double> numbers_in(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream words(line);
  for (double number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

// All clocks of a "…available_frequencies" file; the highest is the ceiling.
ClockDomain clocks_of(const SystemRoot& root, const std::string& path, double unit_hz) {
  ClockDomain domain;
  auto clocks = numbers_in(first_line(root, path).value_or(""));
  std::sort(clocks.begin(), clocks.end());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  for (const double clock : clocks) domain.steps.push_back({clock * unit_hz, this_machine});
  domain.complete = !clocks.empty();
  if (!clocks.empty()) domain.ceiling_hz = Fact{clocks.back() * unit_hz, this_machine};
  return domain;
}

struct Policy {
  int cores = 0;
  ClockDomain clocks;
};

// The kernel's clusters, in the order of their first cores.
std::vector<Policy> read_policies(const SystemRoot& root) {
  const std::string folder = "sys/devices/system/cpu/cpufreq/";
  std::map<int, Policy> policies;
  for (const std::string& name : names_in(root, folder)) {
    int number = 0;
    if (!name.starts_with("policy") ||
        std::from_chars(name.data() + 6, name.data() + name.size(), number).ec != std::errc{})
      continue;
    const std::string path = folder + name + "/";
    Policy policy;
    policy.cores =
        static_cast<int>(numbers_in(first_line(root, path + "related_cpus").value_or("")).size());
    policy.clocks = clocks_of(root, path + "scaling_available_frequencies", 1e3);
    if (const auto khz = ridgeline::number(root, path + "cpuinfo_max_freq");
        khz && !policy.clocks.ceiling_hz)
      policy.clocks.ceiling_hz = Fact{*khz * 1e3, this_machine};
    policies[number] = std::move(policy);
  }
  std::vector<Policy> list;
  for (auto& [number, policy] : policies) list.push_back(std::move(policy));
  return list;
}

std::vector<std::string> cpu_flags(const SystemRoot& root) {
  const std::string path = root.at("proc/cpuinfo");
  std::vector<std::string> flags;
  std::istringstream lines(exists(root, "proc/cpuinfo") ? read_text_file(path) : "");
  for (std::string line; std::getline(lines, line) && flags.empty();) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) flags.push_back(word);
  }
  return flags;
}

// Operations of a core per clock from what its guide says about instructions started per cycle.
std::vector<Rate> core_rates(const Microarchitecture& core, const std::vector<std::string>& flags) {
  const auto has = [&](const char* flag) {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  };
  std::vector<Rate> rates;
  const auto add = [&](Unit unit, DType dtype, DType accumulate, double issued, int operations) {
    if (issued > 0)
      rates.push_back(
          {unit, dtype, accumulate, false, {issued * operations, core_guide}, std::nullopt});
  };
  const IssueRates& issue = core.rates;
  const bool wide = has("avx512f") && issue.fma_512 > 0;
  const bool half = !wide && has("fma");
  const bool neon = has("asimd");
  const double fma = wide ? issue.fma_512 : half ? issue.fma_256 : neon ? issue.fma_128 : 0;
  const int words = wide ? 16 : half ? 8 : 4;
  add(Unit::vector, DType::fp64, DType::fp64, fma, words);  // half as many, two operations each
  add(Unit::vector, DType::fp32, DType::fp32, fma, 2 * words);
  if (wide && has("avx512_fp16"))
    add(Unit::vector, DType::fp16, DType::fp16, issue.fma_fp16_512, 64);
  if (neon && has("asimdhp")) add(Unit::vector, DType::fp16, DType::fp16, issue.fma_fp16_128, 16);
  if (wide && has("avx512_bf16"))
    add(Unit::vector, DType::bf16, DType::fp32, issue.dot_bf16_512, 64);
  if (wide && has("avx512_vnni"))
    add(Unit::vector, DType::int8, DType::int32, issue.dot_int8_512, 128);
  else if (has("avx_vnni"))
    add(Unit::vector, DType::int8, DType::int32, issue.dot_int8_256, 64);
  if (neon && has("asimddp")) add(Unit::vector, DType::int8, DType::int32, issue.dot_int8_128, 32);
  if (has("amx_bf16")) add(Unit::matrix, DType::bf16, DType::fp32, issue.tile, 2 * 16 * 16 * 32);
  if (has("amx_int8")) add(Unit::matrix, DType::int8, DType::int32, issue.tile, 2 * 16 * 16 * 64);
  return rates;
}

void add_reference(Device& device, std::string id, std::string title,
                   catalog::Confidence confidence) {
  device.references.push_back({std::move(id), std::move(title), {}, confidence, {}});
}

void fill_cpu(Device& device, const SystemRoot& root, const Machine& machine) {
  const Microarchitecture* core = identify_microarchitecture(root);
  catalog::CpuCluster cluster;
  cluster.core = core ? std::string(core->name) : machine.name;
  if (core && !core->source.empty()) {
    cluster.rates = core_rates(*core, cpu_flags(root));
    if (!cluster.rates.empty())
      add_reference(device, core_guide, std::string(core->source), catalog::Confidence::vendor);
  }
  auto policies = read_policies(root);
  // A clock per core is no cluster per core.
  const bool clusters = std::any_of(policies.begin(), policies.end(),
                                    [](const Policy& policy) { return policy.cores > 1; });
  if (!clusters && !policies.empty()) policies.resize(1);
  catalog::Configuration& configuration = device.configurations.front();
  if (policies.empty()) configuration.cpu.resize(1);
  for (Policy& policy : policies) configuration.cpu.push_back(std::move(policy.clocks));
  for (std::size_t i = 0; i < configuration.cpu.size(); ++i) {
    device.cpu.push_back(cluster);
    const int cores = clusters ? policies[i].cores : machine.cores;
    if (cores > 0) device.cpu.back().cores = Fact{static_cast<double>(cores), this_machine};
  }
  if (device.cpu.size() != 1) return;
  for (const Cache& cache : machine.caches)
    if (cache.bytes > 0 && cache.instances > 0)
      device.cpu.front().caches.push_back(
          {cache.level, {static_cast<double>(cache.bytes), this_machine}, cache.instances});
}

void fill_memory(Device& device, const Machine& machine) {
  const double bytes = static_cast<double>(machine.memory_bytes);
  if (bytes <= 0) return;
  device.memory.emplace();
  device.memory->bytes = Fact{bytes, this_machine};
}

// What is soldered into the chip is the same in every module: rates and the meaning of the mask.
void borrow_from_chip(Device& device) {
  for (const catalog::IndexRow& row : catalog::index()) {
    if (!row.id.starts_with("jetson-")) continue;
    const Device known = catalog::load(row.id);
    if (known.chip != device.chip || !known.gpu) continue;
    device.gpu.emplace();
    device.gpu->architecture = known.gpu->architecture;
    device.gpu->compute_capability = known.gpu->compute_capability;
    device.gpu->mask_tpcs = known.gpu->mask_tpcs;
    device.gpu->multiprocessors_per_tpc = known.gpu->multiprocessors_per_tpc;
    device.gpu->rates = known.gpu->rates;
    for (std::optional<Fact>* fact : {&device.gpu->mask_tpcs, &device.gpu->multiprocessors_per_tpc})
      if (*fact) (*fact)->source = same_chip;
    for (Rate& rate : device.gpu->rates) rate.per_clock.source = same_chip;
    add_reference(device, same_chip, "Catalog entry of " + known.id + ", which has the same chip",
                  catalog::Confidence::inferred);
    return;
  }
}

void read_gpu_clocks(Device& device, const SystemRoot& root) {
  for (const std::string& name : names_in(root, "sys/class/devfreq"))
    for (const char* unit : {".gpu", ".gm20b", ".gp10b", ".gv11b", ".ga10b", "gpu-gpc-0"})
      if (name.ends_with(unit))
        device.configurations.front().gpu =
            clocks_of(root, "sys/class/devfreq/" + name + "/available_frequencies", 1);
}

// A faulty file leaves the modes that it has; modes are not worth failing for here.
void read_modes(Device& device, const SystemRoot& root) {
  if (!may_read(root, "etc/nvpmodel.conf")) return;
  const auto reading = nvpmodel::read_configuration(read_text_file(root.at("etc/nvpmodel.conf")));
  catalog::Configuration& configuration = device.configurations.front();
  for (const nvpmodel::PowerModel& model : reading.configuration.models) {
    catalog::StockMode mode = nvpmodel::stated_mode(reading.configuration, model, device);
    mode.source = this_machine;
    if (mode.id == reading.configuration.default_id) configuration.default_mode = mode.id;
    configuration.modes.push_back(std::move(mode));
  }
  std::sort(configuration.modes.begin(), configuration.modes.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
}

}  // namespace

Device this_device(const Identity& identity, const SystemRoot& root) {
  if (!identity.catalog_id.empty()) return catalog::load(identity.catalog_id);
  return this_device(identity, identify_machine(root), root);
}

Device this_device(const Identity& identity, const Machine& machine, const SystemRoot& root) {
  if (!identity.catalog_id.empty()) return catalog::load(identity.catalog_id);
  Device device;
  if (!identity.chip.empty()) {
    device.id = this_machine;
    device.kind = catalog::Kind::jetson;
    device.family = "Jetson";
    device.chip = identity.chip;
    device.device_trees = identity.compatible;
    device.configurations.push_back({});
    device.configurations.front().id = "as-found";
  } else {
    device =
        catalog::load(machine.architecture == "aarch64" ? "generic-aarch64" : "generic-x86-64");
  }
  device.name = identity.chip.empty() || identity.board.empty() ? machine.name : identity.board;
  add_reference(device, this_machine, "Device tree, sysfs, /proc and hwloc of this machine",
                catalog::Confidence::measured);
  if (!identity.chip.empty()) {
    borrow_from_chip(device);
    read_gpu_clocks(device, root);
  }
  fill_cpu(device, root, machine);
  fill_memory(device, machine);
  if (!identity.chip.empty()) read_modes(device, root);
  return device;
}

Device named_device(const std::string& name, const std::string& where, const SystemRoot& root) {
  Device device = catalog::load(name, where);
  if (device.kind != catalog::Kind::cpu) return device;
  Device here = this_device(identify(root), root);
  return here.id == device.id ? here : device;
}

}  // namespace ridgeline
