// One row per chip and style of file. Sources: the templates of MLPerf Inference for Xavier and
// Orin (mlcommons/inference_results_v3.0, nvpmodel_*.py, Apache-2.0), NVIDIA's developer guides for
// Nano and TX2, and blocks that users published for JetPack 6.2; paths after the kernel's sysfs.
#include "devices/nvpmodel/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "devices/nvpmodel/stated_mode.h"
#include "devices/nvpmodel/write.h"

namespace ridgeline::nvpmodel {
namespace {

enum class CpuNames {
  per_kind,     // CPU_A57, CPU_DENVER: one knob for all cores of a kind
  per_cluster,  // CPU_A78_0, CPU_A78_1: one knob per cluster
  per_core      // CPU_A78_0 … CPU_A78_5: one knob per core
};

struct Generation {
  std::string_view chip;
  bool is_super;  // of JetPack 6.2: its file name ends so
  CpuNames cpu_names;
  std::string_view cpu_prefix;  // of numbered knobs
  bool has_masks;
  bool has_power_control;
  std::string_view gpu_folder;  // of tpc_pg_mask and power/control
  std::string_view gpu_clock;   // devfreq folder
  std::string_view memory_cap;
};

constexpr std::string_view iso_cap = "/sys/kernel/nvpmodel_emc_cap/emc_iso_cap";
constexpr std::string_view clock_cap = "/sys/kernel/nvpmodel_clk_cap/emc";

constexpr Generation generations[] = {
    {"T210", false, CpuNames::per_kind, "", false, true, "/sys/devices/gpu.0",
     "/sys/devices/57000000.gpu/devfreq/57000000.gpu", iso_cap},
    // Its older files declare no power control, and a block without it fits both.
    {"T186", false, CpuNames::per_kind, "", false, false, "",
     "/sys/devices/17000000.gp10b/devfreq/17000000.gp10b", iso_cap},
    {"T194", false, CpuNames::per_cluster, "CPU_DENVER_", true, true, "/sys/devices/gpu.0",
     "/sys/devices/17000000.gv11b/devfreq/17000000.gv11b", iso_cap},
    {"T234", false, CpuNames::per_cluster, "CPU_A78_", true, true, "/sys/devices/gpu.0",
     "/sys/devices/17000000.ga10b/devfreq/17000000.ga10b", iso_cap},
    {"T234", true, CpuNames::per_core, "CPU_A78_", true, true, "/sys/devices/platform/gpu.0",
     "/sys/devices/platform/17000000.gpu/devfreq_dev", clock_cap},
};

void declare(Configuration& file, std::string_view type, std::string_view name,
             std::vector<std::pair<std::string, std::string>> arguments) {
  Parameter parameter{std::string(type), std::string(name), {}};
  for (auto& [argument, path] : arguments)
    parameter.arguments.push_back({std::move(argument), std::move(path), {}});
  file.parameters.push_back(std::move(parameter));
}

void declare_cpu_clock(Configuration& file, const std::string& name, int core) {
  const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq", core);
  declare(file, "CLOCK", name,
          {{"FREQ_TABLE", folder + "/scaling_available_frequencies"},
           {"MAX_FREQ", folder + "/scaling_max_freq"},
           {"MIN_FREQ", folder + "/scaling_min_freq"}});
}

void declare_cpu(Configuration& file, const Generation& generation, const catalog::Device& device) {
  const auto numbers = core_numbers(device);
  std::vector<int> all;
  for (const auto& cluster : numbers) all.insert(all.end(), cluster.begin(), cluster.end());
  std::sort(all.begin(), all.end());
  std::vector<std::pair<std::string, std::string>> cores;
  for (const int core : all)
    if (core > 0 || generation.chip != "T186")
      cores.push_back({fmt::format("CORE_{}", core),
                       fmt::format("/sys/devices/system/cpu/cpu{}/online", core)});
  declare(file, "FILE", "CPU_ONLINE", std::move(cores));
  if (generation.cpu_names == CpuNames::per_core)
    for (const int core : all)
      declare_cpu_clock(file, fmt::format("{}{}", generation.cpu_prefix, core), core);
  for (std::size_t cluster = 0; cluster < numbers.size(); ++cluster) {
    if (numbers[cluster].empty() || generation.cpu_names == CpuNames::per_core) continue;
    const bool is_denver = device.cpu[cluster].core.find("Denver") != std::string::npos;
    declare_cpu_clock(file,
                      generation.cpu_names == CpuNames::per_kind
                          ? (is_denver ? "CPU_DENVER" : "CPU_A57")
                          : fmt::format("{}{}", generation.cpu_prefix, cluster),
                      numbers[cluster].front());
  }
}

void declare_gpu(Configuration& file, const Generation& generation, bool has_fbp_mask) {
  const std::string folder(generation.gpu_folder);
  const std::string clock(generation.gpu_clock);
  if (generation.has_masks && has_fbp_mask)
    declare(file, "FILE", "FBP_POWER_GATING", {{"FBP_PG_MASK", folder + "/fbp_pg_mask"}});
  if (generation.has_masks)
    declare(file, "FILE", "TPC_POWER_GATING", {{"TPC_PG_MASK", folder + "/tpc_pg_mask"}});
  if (generation.has_power_control) {
    declare(file, "FILE", "GPU_POWER_CONTROL_ENABLE",
            {{"GPU_PWR_CNTL_EN", folder + "/power/control"}});
    declare(file, "FILE", "GPU_POWER_CONTROL_DISABLE",
            {{"GPU_PWR_CNTL_DIS", folder + "/power/control"}});
  }
  declare(file, "CLOCK", "GPU",
          {{"FREQ_TABLE", clock + "/available_frequencies"},
           {"MAX_FREQ", clock + "/max_freq"},
           {"MIN_FREQ", clock + "/min_freq"}});
  declare(file, "CLOCK", "EMC", {{"MAX_FREQ", std::string(generation.memory_cap)}});
}

}  // namespace

Configuration generation_file(const catalog::Device& device,
                              const catalog::Configuration& configuration) {
  const bool is_super = configuration.conf_stem.ends_with("_super");
  const auto generation = std::find_if(
      std::begin(generations), std::end(generations),
      [&](const Generation& one) { return one.chip == device.chip && one.is_super == is_super; });
  if (generation == std::end(generations))
    throw Error(device.id, "no source states the names of knobs in its nvpmodel file",
                "give the device's own with --conf /etc/nvpmodel.conf", ExitCode::incomplete);
  Configuration file;
  declare_cpu(file, *generation, device);
  const bool has_fbp_mask =
      std::any_of(configuration.modes.begin(), configuration.modes.end(),
                  [](const catalog::StockMode& mode) { return mode.fbp_pg_mask.has_value(); });
  declare_gpu(file, *generation, has_fbp_mask);
  std::vector<PowerModel> models;
  for (const catalog::StockMode& mode : configuration.modes)
    models.push_back(compose(file, device, mode, device.id));
  file.models = std::move(models);
  file.default_id = configuration.default_mode.value_or(0);
  return file;
}

}  // namespace ridgeline::nvpmodel
