// The roof of a measured time is that of the datasheet: a lower bound for any software. Memory
// counts only for bytes that cannot have stayed in the caches.
#include "roofline/explain/measured.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "base/work.h"
#include "devices/modes/mode_space.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/ceilings/datasheet.h"

namespace ridgeline {
namespace {

constexpr double rounding = 1.02;      // of printed times
constexpr double winograd_saving = 4;  // F(4×4, 3×3), the most of the sizes in use

Work with_fewer_products(Work work) {
  for (FlopCount& part : work.flop) part.flop /= winograd_saving;
  return work;
}

// The machine in one mode, by its datasheet.
struct Roofs {
  ApplicableCeilings ceilings;
  double cache_bytes = 0;

  // At least this, whatever was in the caches.
  std::optional<CeilingTime> least(const Work& work) const {
    return ceilings.least_time(work, std::max(0.0, total_bytes(work) - cache_bytes));
  }
};

Roofs roofs_at(const MachineModel& model, const OperatingPoint& point) {
  return {ApplicableCeilings(datasheet_ceilings(model, point)), cache_bytes(model)};
}

// Layers as they were measured.
struct Measured {
  const Demand* demand = nullptr;
  Work work;  // with the fewest products that it may have taken
  double time_s = 0;
};

std::vector<const Measured*> too_fast(const std::vector<Measured>& layers, const Roofs& roofs) {
  std::vector<const Measured*> found;
  for (const Measured& layer : layers) {
    const auto least = roofs.least(layer.work);
    if (least && least->time_s > rounding * layer.time_s) found.push_back(&layer);
  }
  return found;
}

DType main_dtype_of(const Work& work) {
  const auto most =
      std::max_element(work.flop.begin(), work.flop.end(),
                       [](const FlopCount& a, const FlopCount& b) { return a.flop < b.flop; });
  return most == work.flop.end() ? DType::fp32 : most->dtype;
}

// All that contradict compute in one type, and layers of other types do not.
std::optional<DType> lone_dtype(const std::vector<Measured>& layers,
                                const std::vector<const Measured*>& found) {
  const DType dtype = main_dtype_of(found.front()->work);
  const bool alone = std::ranges::all_of(
      found, [&](const Measured* each) { return main_dtype_of(each->work) == dtype; });
  const bool others = std::ranges::any_of(layers, [&](const Measured& each) {
    return !each.work.flop.empty() && main_dtype_of(each.work) != dtype;
  });
  return alone && others ? std::optional(dtype) : std::nullopt;
}

std::string suspect(const std::vector<Measured>& layers, const std::vector<const Measured*>& found,
                    const MeasuredRun& run, const MachineSource& machine, bool batch_given) {
  if (!run.device.empty() && lower(run.device) != lower(machine.name))
    return fmt::format("the device: the times are of {}", run.device);
  if (machine.known)
    for (const DeviceMode& mode : stock_modes(machine.known->device, machine.known->configuration))
      if (too_fast(layers, roofs_at(machine.model, mode.point)).empty())
        return fmt::format("the mode: in {} such times are possible", mode.point.label);
  if (batch_given) return "the batch: the times may be of a smaller one";
  if (const auto dtype = lone_dtype(layers, found))
    return fmt::format("the type: only layers that are counted as {} are too fast",
                       to_string(*dtype));
  return "the device: no mode of it allows such times";
}

}  // namespace

void add_measured(Explanation& explanation, std::span<const Demand> demands,
                  const MeasuredTimes& times, const MachineSource& machine, bool batch_given) {
  MeasuredRun run = times.run;
  const Roofs roofs = roofs_at(machine.model, machine.point);
  std::vector<Measured> layers;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const auto& time_s = times.layers_s[i];
    if (!time_s) continue;
    ExplainedLayer& layer = explanation.layers[i];
    layer.measured_s = *time_s;
    if (!(*time_s > 0)) continue;
    const bool fewer = i < times.fewer_products.size() && times.fewer_products[i];
    layers.push_back(
        {&demands[i], fewer ? with_fewer_products(demands[i].work) : demands[i].work, *time_s});
    // A time below that of memory shows that the data was in a cache: that roof is gone.
    auto roof = roofs.ceilings.least_time(layers.back().work, memory_bytes(layer, explanation));
    if (!roof || roof->time_s > *time_s) roof = roofs.least(layers.back().work);
    if (roof) layer.measured_roof_share = roof->time_s / *time_s;
  }
  const auto found = too_fast(layers, roofs);
  for (const Measured* each : found) {
    const auto least = roofs.least(each->work);
    run.contradictions.push_back({each->demand->name, each->time_s, least->time_s, least->name});
  }
  std::ranges::stable_sort(run.contradictions, [](const Contradiction& a, const Contradiction& b) {
    return a.least_s / a.measured_s > b.least_s / b.measured_s;
  });
  if (!found.empty()) run.suspect = suspect(layers, found, run, machine, batch_given);
  explanation.measured = std::move(run);
}

std::string contradiction_text(const Explanation& explanation) {
  if (!explanation.measured || explanation.measured->contradictions.empty()) return "";
  const auto& list = explanation.measured->contradictions;
  const Contradiction& worst = list.front();
  return fmt::format("{} layer{} faster than {} can be: {} took {}, {} alone needs {}", list.size(),
                     list.size() == 1 ? " was" : "s were", explanation.run.machine,
                     quote(worst.layer), format_seconds(worst.measured_s), worst.roof,
                     format_seconds(worst.least_s));
}

}  // namespace ridgeline
