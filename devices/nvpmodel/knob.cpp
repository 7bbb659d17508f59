// Looks for the words that the kernel's own file names have had in all generations:
// cpuN/online, cpuN/cpufreq, devfreq, emc, tpc_pg_mask, fbp_pg_mask, dla. Not a list of paths.
#include "devices/nvpmodel/knob.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace ridgeline::nvpmodel {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The number that follows `prefix`: 4 of "/sys/devices/system/cpu/cpu4/online".
int number_after(std::string_view text, std::string_view prefix) {
  const std::size_t at = text.find(prefix);
  if (at == std::string_view::npos) return -1;
  const std::string_view digits = text.substr(at + prefix.size());
  int value = -1;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return result.ec == std::errc{} && value >= 0 ? value : -1;
}

int cpu_of_path(std::string_view path) {
  const int cpu = number_after(path, "/cpu/cpu");
  return cpu >= 0 ? cpu : number_after(path, "/cpufreq/policy");
}

// A first digit anywhere: "dla1_core", "DLA1_CORE"; one engine where there is none.
int engine_of(std::string_view name) {
  const std::size_t digit = name.find_first_of("0123456789");
  return digit == std::string_view::npos ? 0 : name[digit] - '0';
}

bool is_dla_core(std::string_view name) {
  return (contains(name, "dla") && !contains(name, "falcon")) ||
         (contains(name, "DLA") && !contains(name, "FALCON"));
}

Knob knob_of_path(std::string_view path) {
  const std::string_view name = file_name(path);
  if (name == "online" && contains(path, "/cpu/cpu")) return {KnobKind::core, cpu_of_path(path)};
  if (contains(path, "cpufreq")) return {KnobKind::cpu_clock, cpu_of_path(path)};
  if (name == "tpc_pg_mask") return {KnobKind::tpc_mask};
  if (name == "fbp_pg_mask") return {KnobKind::fbp_mask};
  if (name == "emc_iso_cap" || name == "emc" || contains(path, "/bwmgr"))
    return {KnobKind::memory_clock};
  // Thor's second domain, gpu-nvd, clocks the video engines.
  if (contains(path, "devfreq"))
    return {contains(path, "gpu-nvd") ? KnobKind::other : KnobKind::gpu_clock};
  if (is_dla_core(name)) return {KnobKind::dla_clock, engine_of(name)};
  return {};
}

Knob knob_of_name(std::string_view parameter, std::string_view argument) {
  if (parameter == "CPU_ONLINE") return {KnobKind::core, number_after(argument, "CORE_")};
  if (argument == "TPC_PG_MASK") return {KnobKind::tpc_mask};
  if (argument == "FBP_PG_MASK") return {KnobKind::fbp_mask};
  if (parameter == "GPU") return {KnobKind::gpu_clock};
  if (parameter == "EMC") return {KnobKind::memory_clock};
  if (parameter.starts_with("CPU_")) return {KnobKind::cpu_clock};
  if (is_dla_core(parameter)) return {KnobKind::dla_clock, engine_of(parameter)};
  return {};
}

// The path of an argument, or of its twin for newer kernels, or, for a clock, of any file of the
// same knob; empty where the section declares none.
std::string_view path_of(const Parameter& parameter, std::string_view argument) {
  const std::string newer = std::string(argument) + "_KNEXT";
  for (const std::string_view name : {argument, std::string_view(newer)})
    if (const Argument* found = parameter.find(name); found && !found->path.empty())
      return found->path;
  if (argument != "MAX_FREQ" && argument != "MIN_FREQ") return {};
  const auto usable = std::find_if(parameter.arguments.begin(), parameter.arguments.end(),
                                   [](const Argument& one) { return !one.path.empty(); });
  return usable == parameter.arguments.end() ? std::string_view{} : usable->path;
}

}  // namespace

Knob knob_of(const Configuration& configuration, std::string_view parameter,
             std::string_view argument) {
  Knob knob;
  const Parameter* declared = configuration.find(parameter);
  const std::string_view path = declared ? path_of(*declared, argument) : std::string_view{};
  if (declared && declared->type == "HWMON") return knob;
  knob = path.empty() ? knob_of_name(parameter, argument) : knob_of_path(path);
  knob.is_maximum = argument == "MAX_FREQ";
  knob.is_minimum = argument == "MIN_FREQ";
  return knob;
}

bool is_number(KnobKind kind) { return kind != KnobKind::other; }

int unclamped_memory_value(const Configuration& configuration) {
  for (const PowerModel& model : configuration.models)
    for (const Statement& statement : model.statements) {
      const Knob knob = knob_of(configuration, statement.parameter, statement.argument);
      if (knob.kind != KnobKind::memory_clock || !knob.is_maximum) continue;
      if (statement.value == "0") return 0;
      if (statement.value == "-1") return -1;
    }
  for (const Parameter& parameter : configuration.parameters)
    if (knob_of(configuration, parameter.name, "MAX_FREQ").kind == KnobKind::memory_clock)
      return contains(path_of(parameter, "MAX_FREQ"), "emc_iso_cap") ? 0 : -1;
  return -1;
}

std::string_view gpu_address(std::string_view path) {
  constexpr std::array<std::string_view, 6> units{".gpu",   ".gm20b", ".gp10b",
                                                  ".gv11b", ".ga10b", ".gb10b"};
  for (const std::string_view unit : units) {
    const std::size_t end = path.find(unit);
    if (end == std::string_view::npos) continue;
    const std::size_t slash = path.rfind('/', end);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (end > begin) return path.substr(begin, end - begin);
  }
  return {};
}

}  // namespace ridgeline::nvpmodel
