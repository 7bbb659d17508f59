// Datasheet peaks and usable bandwidth, with launch cost, energies and powers of the model beside.
#include "roofline/ceilings/ceilings_of.h"

#include <algorithm>
#include <string>

#include "roofline/ceilings/datasheet.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/step.h"

namespace ridgeline {
namespace {

// The weakest source of what a number was made from.
Source source_of(const MachineModel& model, std::string_view name) {
  const auto index = find_parameter(model, name);
  return index ? model.parameters[*index].source : Source::assumed;
}

void add_energies(Ceilings& ceilings, const MachineModel& model, const Coefficients& values,
                  const OperatingPoint& point) {
  const Power& power = values.power;
  const double volt = relative_voltage(power, point.gpu_hz.value_or(0));
  for (const Peak& peak : ceilings.peaks) {
    if (peak.processor != Processor::gpu || peak.sparse) continue;
    const double joule = power.matrix_joule[static_cast<std::size_t>(peak.dtype)] * volt * volt;
    if (joule <= 0) continue;
    const std::string name =
        std::string("gpu_") + std::string(to_string(peak.dtype)) + "_joule_per_flop";
    const FlopEnergy energy{Processor::gpu, peak.unit, peak.dtype, joule, source_of(model, name)};
    if (std::find(ceilings.flop_energies.begin(), ceilings.flop_energies.end(), energy) ==
        ceilings.flop_energies.end())
      ceilings.flop_energies.push_back(energy);
  }
  if (power.byte_joule > 0)
    ceilings.byte_energies.push_back(
        {Processor::gpu, Level::dram, power.byte_joule, source_of(model, "dram_joule_per_byte")});
}

}  // namespace

Ceilings ceilings_of(const MachineModel& model, const OperatingPoint& point) {
  Ceilings ceilings = datasheet_ceilings(model, point);
  const Coefficients values = coefficients(model, Runtime::torch_eager);
  // Measured, where no bus and clock tell it.
  if (ceilings.bandwidths.empty() && values.memory_bytes_per_s > 0)
    ceilings.bandwidths.push_back({values.processor, Level::dram, Direction::read,
                                   values.memory_bytes_per_s,
                                   source_of(model, "cpu_dram_bytes_per_s")});
  const double host_hz = point.cpu_hz.empty()
                             ? values.host.default_hz
                             : *std::max_element(point.cpu_hz.begin(), point.cpu_hz.end());
  const double launch_clocks =
      values.host.node_clocks[static_cast<std::size_t>(KernelKind::elementwise)];
  if (launch_clocks > 0 && host_hz > 0)
    ceilings.launch_costs.push_back({values.processor, launch_clocks / host_hz,
                                     source_of(model, "torch_host_elementwise_clocks")});
  if (!values.power.known || !point.gpu_hz || !point.gpu_units) return ceilings;
  add_energies(ceilings, model, values, point);
  const DevicePoint device = device_point(values, point);
  const Source source = source_of(model, "gpu_busy_joule_per_sm_clock");
  ceilings.idle_power = ConstantPower{constant_power(values, device, point, 0, 0), source};
  ceilings.busy_power = ConstantPower{constant_power(values, device, point, 1, 0), source};
  return ceilings;
}

}  // namespace ridgeline
