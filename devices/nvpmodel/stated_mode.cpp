// Walks over the statements of a mode and sorts them by the knob that they turn.
// Numbers that cannot be read are the reader's findings; here they are left out.
#include "devices/nvpmodel/stated_mode.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "devices/nvpmodel/knob.h"

namespace ridgeline::nvpmodel {
namespace {

std::optional<std::size_t> cluster_of(const std::vector<std::vector<int>>& numbers, int core) {
  for (std::size_t cluster = 0; cluster < numbers.size(); ++cluster)
    if (std::find(numbers[cluster].begin(), numbers[cluster].end(), core) != numbers[cluster].end())
      return cluster;
  return std::nullopt;
}

// -1 has no unit.
double scaled(std::int64_t value, double unit) {
  return value < 0 ? static_cast<double>(value) : static_cast<double>(value) * unit;
}

std::optional<std::uint32_t> mask_of(std::int64_t value) {
  if (value < 0 || value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::vector<std::vector<int>> core_numbers(const catalog::Device& device) {
  std::vector<std::vector<int>> numbers(device.cpu.size());
  const auto count = [&](std::size_t cluster) {
    return device.cpu[cluster].cores ? static_cast<int>(device.cpu[cluster].cores->value) : 0;
  };
  const auto is_denver = [&](std::size_t cluster) {
    return device.cpu[cluster].core.find("Denver") != std::string::npos;
  };
  const bool mixed = device.chip == "T186" && device.cpu.size() == 2;
  int next = 0;
  for (std::size_t cluster = 0; cluster < numbers.size(); ++cluster)
    for (int core = 0; core < count(cluster); ++core, ++next)
      numbers[cluster].push_back(!mixed               ? next
                                 : is_denver(cluster) ? core + 1
                                 : core == 0          ? 0
                                                      : core + 2);
  return numbers;
}

std::optional<double> budget_of_name(std::string_view name) {
  const std::string_view label = label_of(name);
  double watts = 0;
  const char* const end = label.data() + label.size();
  const auto number = std::from_chars(label.data(), end, watts, std::chars_format::fixed);
  if (number.ec != std::errc{} || watts <= 0 || watts > 1000) return std::nullopt;
  const std::string_view rest(number.ptr, static_cast<std::size_t>(end - number.ptr));
  return rest == "W" || rest.starts_with("W_") ? std::optional<double>(watts) : std::nullopt;
}

catalog::StockMode stated_mode(const Configuration& file, const PowerModel& model,
                               const catalog::Device& device) {
  catalog::StockMode mode;
  mode.id = model.id;
  mode.name = model.name;
  mode.budget_w = budget_of_name(model.name);
  const auto numbers = core_numbers(device);
  mode.cores.assign(numbers.size(), 0);
  mode.cpu_max_hz.assign(numbers.size(), std::nullopt);
  mode.cpu_min_hz.assign(numbers.size(), std::nullopt);
  std::vector<bool> online(1, true);  // core 0, unless a line says otherwise
  for (const Statement& statement : model.statements) {
    const Knob knob = knob_of(file, statement.parameter, statement.argument);
    const auto value = parse_integer(statement.value);
    if (!value) continue;
    const bool is_clock = knob.is_maximum || knob.is_minimum;
    switch (knob.kind) {
      case KnobKind::core:
        if (knob.index < 0 || knob.index >= 1024) break;
        if (static_cast<std::size_t>(knob.index) >= online.size())
          online.resize(static_cast<std::size_t>(knob.index) + 1, false);
        online[static_cast<std::size_t>(knob.index)] = *value != 0;
        break;
      case KnobKind::cpu_clock:
        if (const auto cluster = cluster_of(numbers, knob.index); cluster && is_clock)
          (knob.is_maximum ? mode.cpu_max_hz : mode.cpu_min_hz)[*cluster] = scaled(*value, 1e3);
        break;
      case KnobKind::gpu_clock:
        if (knob.is_maximum) mode.gpu_max_hz = scaled(*value, 1);
        if (knob.is_minimum) mode.gpu_min_hz = scaled(*value, 1);
        break;
      case KnobKind::memory_clock:
        if (knob.is_maximum) mode.memory_max_hz = scaled(*value, 1);
        break;
      case KnobKind::tpc_mask:
        mode.tpc_pg_mask = mask_of(*value);
        break;
      case KnobKind::fbp_mask:
        mode.fbp_pg_mask = mask_of(*value);
        break;
      case KnobKind::dla_clock:
        if (knob.is_maximum)
          mode.engines.push_back({lower(statement.parameter), scaled(*value, 1)});
        break;
      case KnobKind::other:
        if (knob.is_maximum && file.find(statement.parameter))
          mode.engines.push_back({lower(statement.parameter), scaled(*value, 1)});
        break;
    }
  }
  for (std::size_t core = 0; core < online.size(); ++core)
    if (const auto cluster = cluster_of(numbers, static_cast<int>(core)); cluster && online[core])
      ++mode.cores[*cluster];
  return mode;
}

}  // namespace ridgeline::nvpmodel
