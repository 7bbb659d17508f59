// Multiplies the model's rates by the point's units and clocks. What no datasheet states (launch
// cost, energies, powers) comes from a runtime's coefficients.
#include "roofline/ceilings/datasheet.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/parameters.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/step.h"

namespace ridgeline {
namespace {

std::optional<Parameter> parameter_of(const MachineModel& model, std::string_view name) {
  const auto index = find_parameter(model, name);
  return index ? std::optional(model.parameters[*index]) : std::nullopt;
}

double sigma_of(const MachineModel& model, std::string_view name) {
  const auto index = find_parameter(model, name);
  return index ? sigma_of(model, *index) : 0;
}

// Vendors count some units only up to a clock ceiling.
double clock_of(const MachineModel& model, const RateName& rate, double hz) {
  const auto ceiling = parameter_of(model, ceiling_parameter(rate));
  return ceiling ? std::min(hz, ceiling->mean) : hz;
}

void add_gpu_peaks(Ceilings& ceilings, const MachineModel& model) {
  const OperatingPoint& point = ceilings.point;
  if (!point.gpu_hz || !point.gpu_units) return;
  for (const Parameter& parameter : model.parameters) {
    const auto rate = parse_rate_parameter(parameter.name);
    if (!rate || rate->processor != "gpu") continue;
    Peak peak{Processor::gpu,   rate->unit,  rate->dtype, rate->accumulate, 0,
              parameter.source, rate->sparse};
    peak.flops_per_s = *point.gpu_units * parameter.mean * clock_of(model, *rate, *point.gpu_hz);
    ceilings.peaks.push_back(peak);
  }
}

// A point has the number of active cores, not their clusters, so it gives a peak only if all
// clusters are alike and run at one clock.
void add_cpu_peaks(Ceilings& ceilings, const MachineModel& model) {
  const OperatingPoint& point = ceilings.point;
  if (!point.cpu_cores || point.cpu_hz.empty()) return;
  const auto [slowest, fastest] = std::minmax_element(point.cpu_hz.begin(), point.cpu_hz.end());
  if (*slowest != *fastest) return;
  std::size_t clusters = 0;
  std::map<std::string, std::vector<Parameter>> alike;  // by the name in the first cluster
  for (const Parameter& parameter : model.parameters) {
    if (family_words(families::cluster_cores, parameter.name)) ++clusters;
    if (!family_words(families::cpu_rate, parameter.name)) continue;
    RateName rate = *parse_rate_parameter(parameter.name);
    rate.processor = "cpu0";
    alike[rate_parameter(rate)].push_back(parameter);
  }
  for (const auto& [name, rates] : alike) {
    const bool all = rates.size() == clusters &&
                     std::all_of(rates.begin(), rates.end(), [&](const Parameter& each) {
                       return each.mean == rates.front().mean;
                     });
    if (!all) continue;
    const RateName rate = *parse_rate_parameter(name);
    ceilings.peaks.push_back({Processor::cpu, rate.unit, rate.dtype, rate.accumulate,
                              *point.cpu_cores * rates.front().mean * point.cpu_hz.front(),
                              rates.front().source, rate.sparse});
  }
}

struct PaperBandwidth {
  double bytes_per_s = 0;
  Source source = Source::datasheet;
};

std::optional<PaperBandwidth> peak_bandwidth(const MachineModel& model,
                                             const OperatingPoint& point) {
  const auto bus = parameter_of(model, "memory_bus_bytes");
  const auto transfers = parameter_of(model, "memory_transfers_per_clock");
  if (!bus || !transfers || !point.memory_hz) return std::nullopt;
  return PaperBandwidth{bus->mean * transfers->mean * *point.memory_hz, bus->source};
}

// One of two independent normal limits; the smaller of the two counts.
struct NormalLimit {
  double mean = 0;
  double sigma = 0;

  double probability_below(double value) const {
    if (sigma <= 0) return value >= mean ? 1 : 0;
    return 0.5 * std::erfc((mean - value) / (sigma * std::sqrt(2.0)));
  }
};

double quantile_of_smaller(const NormalLimit& a, const NormalLimit& b, double probability) {
  double low = std::min(a.mean - 6 * a.sigma, b.mean - 6 * b.sigma);
  double high = std::min(a.mean + 6 * a.sigma, b.mean + 6 * b.sigma);
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    const double below = 1 - (1 - a.probability_below(middle)) * (1 - b.probability_below(middle));
    (below < probability ? low : high) = middle;
  }
  return std::max(0.0, high);
}

// A parameter that the model lacks takes its default, which is an assumption.
Source source_of(const MachineModel& model, std::string_view name) {
  const auto index = find_parameter(model, name);
  return index ? model.parameters[*index].source : Source::assumed;
}

void add_energies(Ceilings& ceilings, const MachineModel& model, const Coefficients& values) {
  const Power& power = values.power;
  const double volt = relative_voltage(power, ceilings.point.gpu_hz.value_or(0));
  for (const Peak& peak : ceilings.peaks) {
    if (peak.processor != Processor::gpu || peak.sparse) continue;
    const double joule = power.matrix_joule[index_of(peak.dtype)] * volt * volt;
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

// Of the smallest kernel, an elementwise one.
void add_launch_cost(Ceilings& ceilings, const MachineModel& model, const Coefficients& values,
                     Runtime runtime) {
  const double hz = host_hz_of(ceilings.point, values.host);
  const double clocks = values.host.node_clocks[index_of(KernelKind::elementwise)];
  if (!(clocks > 0) || !(hz > 0)) return;
  const std::string name = walks_one_by_one(runtime)
                               ? "torch_host_elementwise_clocks"
                               : std::string(library_of(runtime)) + "_launch_clocks";
  ceilings.launch_costs.push_back({values.processor, clocks / hz, source_of(model, name)});
}

}  // namespace

Ceilings datasheet_ceilings(const MachineModel& model, const OperatingPoint& point) {
  Ceilings ceilings;
  ceilings.device = model.device;
  ceilings.point = point;
  add_gpu_peaks(ceilings, model);
  add_cpu_peaks(ceilings, model);
  const auto peak = peak_bandwidth(model, point);
  if (!peak) return ceilings;
  if (find_parameter(model, "gpu_multiprocessors"))
    ceilings.bandwidths.push_back(
        {Processor::gpu, Level::dram, Direction::read, peak->bytes_per_s, peak->source});
  if (const auto usable = usable_bandwidth(model, point))
    ceilings.bandwidths.push_back(
        {Processor::gpu, Level::dram, Direction::read, usable->value, usable->source});
  if (find_parameter(model, "cpu0_cores"))
    ceilings.bandwidths.push_back(
        {Processor::cpu, Level::dram, Direction::read, peak->bytes_per_s, peak->source});
  return ceilings;
}

Ceilings model_ceilings(const MachineModel& model, const OperatingPoint& point, Runtime runtime) {
  Ceilings ceilings = datasheet_ceilings(model, point);
  const Coefficients values = coefficients(model, runtime);
  // Without a bus and a clock, the measured bandwidth.
  if (ceilings.bandwidths.empty() && values.memory_bytes_per_s > 0)
    ceilings.bandwidths.push_back({values.processor, Level::dram, Direction::read,
                                   values.memory_bytes_per_s,
                                   source_of(model, "cpu_dram_bytes_per_s")});
  add_launch_cost(ceilings, model, values, runtime);
  if (!values.power.known || !point.gpu_hz || !point.gpu_units) return ceilings;
  add_energies(ceilings, model, values);
  const DevicePoint device = device_point(values, point);
  const Source source = source_of(model, "gpu_busy_joule_per_sm_clock");
  ceilings.idle_power = ConstantPower{constant_power(values, device, point, 0, 0), source};
  ceilings.busy_power = ConstantPower{constant_power(values, device, point, 1, 0), source};
  return ceilings;
}

std::vector<Peak> datasheet_dla_peaks(const MachineModel& model, double dla_hz) {
  std::vector<Peak> peaks;
  const auto engines = parameter_of(model, "dla_engines");
  if (!engines) return peaks;
  for (const Parameter& parameter : model.parameters)
    if (const auto rate = parse_rate_parameter(parameter.name); rate && rate->processor == "dla")
      peaks.push_back({Processor::dla, rate->unit, rate->dtype, rate->accumulate,
                       engines->mean * parameter.mean * dla_hz, parameter.source, rate->sparse});
  return peaks;
}

std::optional<Estimate> usable_bandwidth(const MachineModel& model, const OperatingPoint& point) {
  const auto peak = peak_bandwidth(model, point);
  const auto efficiency = parameter_of(model, "gpu_dram_efficiency");
  const auto per_clock = parameter_of(model, "gpu_dram_bytes_per_clock");
  if (!peak || !efficiency || !per_clock || !point.gpu_hz) return std::nullopt;
  const NormalLimit by_memory{efficiency->mean * peak->bytes_per_s,
                              sigma_of(model, "gpu_dram_efficiency") * peak->bytes_per_s};
  const NormalLimit by_clock{per_clock->mean * *point.gpu_hz,
                             sigma_of(model, "gpu_dram_bytes_per_clock") * *point.gpu_hz};
  Estimate usable;
  usable.value = std::min(by_memory.mean, by_clock.mean);
  usable.low = std::min(usable.value, quantile_of_smaller(by_memory, by_clock, 0.05));
  usable.high = std::max(usable.value, quantile_of_smaller(by_memory, by_clock, 0.95));
  usable.source = std::max(efficiency->source, per_clock->source);
  return usable;
}

Roofline datasheet_roofline(const MachineModel& model, const OperatingPoint& point,
                            const std::string& machine, const RooflineOptions& options) {
  return roofline_of(datasheet_ceilings(model, point), usable_bandwidth(model, point), machine,
                     options);
}

}  // namespace ridgeline
