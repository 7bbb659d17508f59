// Reads what the system calls itself and looks it up. A machine that the catalog lacks is described
// by its device tree, sysfs, nvpmodel file and hwloc; a number that none of them states stays
// absent.
#include "devices/machine/identification.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "base/text_file.h"
#include "devices/machine/clock_files.h"
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

std::string file_bytes(const SystemRoot& root, const std::string& path) {
  std::ifstream file(root.at(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// "nvidia,p3768-0000+p3767-0005-super\0nvidia,tegra234\0" → p3768-0000, p3767-0005-super, tegra234;
// the vendors' names are words too and do no harm.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (is_word(c))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

constexpr std::string_view super_suffix = "-super";

// A number such as "p3668" stands for every variant of that board.
bool fits(const std::string& word, const std::string& listed) {
  if (word == listed) return true;
  const bool is_board_number = listed.size() == 5 && listed.front() == 'p';
  return is_board_number && word.starts_with(listed + "-");
}

std::string find_in_catalog(const std::vector<std::string>& words) {
  for (const catalog::IndexRow& row : catalog::index()) {
    if (!row.id.starts_with("jetson-")) continue;  // only they have device trees
    for (const std::string& listed : catalog::load(row.id).device_trees)
      for (const std::string& word : words)
        if (fits(word, listed)) return std::string(row.id);
  }
  return {};
}

// "# R36 (release), REVISION: 4.3, GCID: …" → "36.4.3".
std::string l4t_release(const SystemRoot& root) {
  const std::string line = first_line(root, "etc/nv_tegra_release").value_or("");
  int major = 0;
  char revision[16] = {};
  if (std::sscanf(line.c_str(), "# R%d (release), REVISION: %15[0-9.]", &major, revision) != 2)
    return {};
  return std::to_string(major) + "." + revision;
}

std::string dmi_name(const SystemRoot& root) {
  const std::string folder = "sys/class/dmi/id/";
  const std::string vendor = first_line(root, folder + "sys_vendor").value_or("");
  const std::string product = first_line(root, folder + "product_name").value_or("");
  if (vendor.empty() || product.starts_with(vendor)) return product;
  return product.empty() ? vendor : vendor + " " + product;
}

struct Release {
  int major, minor, patch;
  const char* jetpack;
};

// First release of Jetson Linux of each JetPack, newest first (NVIDIA's JetPack archive).
constexpr auto releases = std::to_array<Release>({{38, 0, 0, "7"},
                                                  {36, 4, 3, "6.2"},
                                                  {36, 4, 0, "6.1"},
                                                  {36, 0, 0, "6.0"},
                                                  {35, 2, 0, "5.1"},
                                                  {34, 0, 0, "5.0"},
                                                  {32, 0, 0, "4"}});

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
  std::vector<Policy> policies;
  for (const std::string& path : cpu_policy_folders(root)) {
    Policy policy;
    policy.cores =
        static_cast<int>(numbers_in(first_line(root, path + "related_cpus").value_or("")).size());
    policy.clocks = clocks_of(root, path + "scaling_available_frequencies", 1e3);
    if (const auto khz = number(root, path + "cpuinfo_max_freq"); khz && !policy.clocks.ceiling_hz)
      policy.clocks.ceiling_hz = Fact{*khz * 1e3, this_machine};
    policies.push_back(std::move(policy));
  }
  return policies;
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
  // One clock per core does not mean one cluster per core.
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
  if (const auto folder = gpu_clock_folder(root))
    device.configurations.front().gpu = clocks_of(root, *folder + "available_frequencies", 1);
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

std::string jetpack_of(const std::string& l4t) {
  int major = 0, minor = 0, patch = 0;
  if (std::sscanf(l4t.c_str(), "%d.%d.%d", &major, &minor, &patch) < 2) return {};
  for (const Release& release : releases) {
    const auto numbers = std::array{major, minor, patch};
    if (numbers >= std::array{release.major, release.minor, release.patch}) return release.jetpack;
  }
  return {};
}

bool is_jetson(const SystemRoot& root) {
  return exists(root, "etc/nv_tegra_release") || exists(root, "var/lib/nvpmodel/status");
}

Identity identify(const SystemRoot& root) {
  Identity identity;
  for (std::string& word : words_of(file_bytes(root, "proc/device-tree/compatible"))) {
    if (word.ends_with(super_suffix)) {
      identity.super_firmware = true;
      word.resize(word.size() - super_suffix.size());
    }
    if (word.starts_with("tegra")) identity.chip = "T" + word.substr(5);
    const auto known = std::find(identity.compatible.begin(), identity.compatible.end(), word);
    if (known == identity.compatible.end()) identity.compatible.push_back(std::move(word));
  }
  identity.board = first_line(root, "proc/device-tree/model").value_or("");
  while (!identity.board.empty() && identity.board.back() == '\0') identity.board.pop_back();
  if (identity.board.empty()) identity.board = dmi_name(root);
  identity.l4t = l4t_release(root);
  identity.jetpack = jetpack_of(identity.l4t);
  if (!identity.compatible.empty()) identity.catalog_id = find_in_catalog(identity.compatible);
  return identity;
}

const catalog::Configuration& present_configuration(const Identity& identity,
                                                    const catalog::Device& device) {
  const auto is_super = [](const catalog::Configuration& each) { return each.id == "super"; };
  const auto& all = device.configurations;
  if (const auto found = std::find_if(all.begin(), all.end(), is_super); found != all.end()) {
    // The name of the device tree identifies the firmware better than any release.
    if (identity.super_firmware) return *found;
    for (const catalog::Configuration& each : all)
      if (!is_super(each)) return each;
  }
  try {
    return catalog::configuration(device, identity.jetpack);
  } catch (const Error&) {
    return all.front();  // a release that the catalog does not know
  }
}

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

DeviceHere device_here(const Identity& identity, const catalog::Device& device) {
  return {identity, device.id, present_configuration(identity, device).id};
}

std::string device_text(const DeviceHere& here) {
  const Identity& identity = here.identity;
  if (!identity.catalog_id.empty())
    return fmt::format("{}, configuration {}", identity.catalog_id, here.configuration);
  if (!identity.chip.empty())
    return fmt::format(
        "not in the catalog: a Jetson with chip {}, described by its device tree, clocks and "
        "nvpmodel file",
        identity.chip);
  return here.id + ", filled from this machine";
}

std::string release_text(const DeviceHere& here) {
  const Identity& identity = here.identity;
  if (identity.l4t.empty()) return {};
  return fmt::format("Jetson Linux {}{}", identity.l4t,
                     identity.jetpack.empty() ? "" : ", JetPack " + identity.jetpack);
}

Json to_json(const DeviceHere& here) {
  const Identity& identity = here.identity;
  return {{"board", identity.board},
          {"chip", identity.chip},
          {"l4t", identity.l4t},
          {"jetpack", identity.jetpack},
          {"super_firmware", identity.super_firmware},
          {"catalog_id", identity.catalog_id.empty() ? Json() : Json(identity.catalog_id)},
          {"configuration", here.configuration}};
}

}  // namespace ridgeline
