// The JSON form of Ceilings.
// roofline/ computes them from a model.
#include "base/ceilings.h"

#include "base/json.h"
#include "base/limits.h"

namespace ridgeline {
namespace {

constexpr double max_joule = 1.0;  // per FLOP or byte; real ones are a trillion times smaller

Json peak_to_json(const Peak& peak) {
  return {{"processor", to_string(peak.processor)},
          {"unit", to_string(peak.unit)},
          {"dtype", to_string(peak.dtype)},
          {"accumulate", to_string(peak.accumulate)},
          {"sparse", peak.sparse},
          {"flops_per_s", peak.flops_per_s},
          {"source", to_string(peak.source)}};
}

Peak peak_from_json(const JsonCursor& cursor) {
  return {cursor.at("processor").token<Processor>(),
          cursor.at("unit").token<Unit>(),
          cursor.at("dtype").token<DType>(),
          cursor.at("accumulate").token<DType>(),
          bounded(cursor.at("flops_per_s"), max_rate_per_s),
          cursor.at("source").token<Source>(),
          cursor.at("sparse").boolean()};
}

Json bandwidth_to_json(const Bandwidth& bandwidth) {
  return {{"processor", to_string(bandwidth.processor)},
          {"level", to_string(bandwidth.level)},
          {"direction", to_string(bandwidth.direction)},
          {"bytes_per_s", bandwidth.bytes_per_s},
          {"source", to_string(bandwidth.source)}};
}

Bandwidth bandwidth_from_json(const JsonCursor& cursor) {
  return {cursor.at("processor").token<Processor>(), cursor.at("level").token<Level>(),
          cursor.at("direction").token<Direction>(),
          bounded(cursor.at("bytes_per_s"), max_rate_per_s), cursor.at("source").token<Source>()};
}

Json launch_cost_to_json(const LaunchCost& launch) {
  return {{"processor", to_string(launch.processor)},
          {"time_s", launch.time_s},
          {"source", to_string(launch.source)}};
}

LaunchCost launch_cost_from_json(const JsonCursor& cursor) {
  return {cursor.at("processor").token<Processor>(), bounded(cursor.at("time_s"), max_time_s),
          cursor.at("source").token<Source>()};
}

Json flop_energy_to_json(const FlopEnergy& energy) {
  return {{"processor", to_string(energy.processor)},
          {"unit", to_string(energy.unit)},
          {"dtype", to_string(energy.dtype)},
          {"joule_per_flop", energy.joule_per_flop},
          {"source", to_string(energy.source)}};
}

FlopEnergy flop_energy_from_json(const JsonCursor& cursor) {
  return {cursor.at("processor").token<Processor>(), cursor.at("unit").token<Unit>(),
          cursor.at("dtype").token<DType>(), bounded(cursor.at("joule_per_flop"), max_joule),
          cursor.at("source").token<Source>()};
}

Json byte_energy_to_json(const ByteEnergy& energy) {
  return {{"processor", to_string(energy.processor)},
          {"level", to_string(energy.level)},
          {"joule_per_byte", energy.joule_per_byte},
          {"source", to_string(energy.source)}};
}

ByteEnergy byte_energy_from_json(const JsonCursor& cursor) {
  return {cursor.at("processor").token<Processor>(), cursor.at("level").token<Level>(),
          bounded(cursor.at("joule_per_byte"), max_joule), cursor.at("source").token<Source>()};
}

Json constant_power_to_json(const std::optional<ConstantPower>& power) {
  if (!power) return nullptr;
  return {{"power_w", power->power_w}, {"source", to_string(power->source)}};
}

std::optional<ConstantPower> constant_power_from_json(const std::optional<JsonCursor>& cursor) {
  if (!cursor) return std::nullopt;
  return ConstantPower{bounded(cursor->at("power_w"), max_power_w),
                       cursor->at("source").token<Source>()};
}

}  // namespace

Json to_json(const Ceilings& ceilings) {
  return {{"schema", Ceilings::schema},
          {"device", ceilings.device},
          {"point", to_json(ceilings.point)},
          {"peaks", array_of(ceilings.peaks, peak_to_json)},
          {"bandwidths", array_of(ceilings.bandwidths, bandwidth_to_json)},
          {"launch_costs", array_of(ceilings.launch_costs, launch_cost_to_json)},
          {"idle_power", constant_power_to_json(ceilings.idle_power)},
          {"busy_power", constant_power_to_json(ceilings.busy_power)},
          {"flop_energies", array_of(ceilings.flop_energies, flop_energy_to_json)},
          {"byte_energies", array_of(ceilings.byte_energies, byte_energy_to_json)}};
}

Ceilings ceilings_from_json(const JsonCursor& cursor) {
  check_schema(cursor, Ceilings::schema);
  Ceilings ceilings;
  ceilings.device = cursor.at("device").text();
  ceilings.point = operating_point_from_json(cursor.at("point"));
  ceilings.peaks = vector_of(cursor.at("peaks"), peak_from_json);
  ceilings.bandwidths = vector_of(cursor.at("bandwidths"), bandwidth_from_json);
  ceilings.launch_costs = vector_of(cursor.at("launch_costs"), launch_cost_from_json);
  ceilings.idle_power = constant_power_from_json(cursor.find("idle_power"));
  ceilings.busy_power = constant_power_from_json(cursor.find("busy_power"));
  ceilings.flop_energies = vector_of(cursor.at("flop_energies"), flop_energy_from_json);
  ceilings.byte_energies = vector_of(cursor.at("byte_energies"), byte_energy_from_json);
  return ceilings;
}

}  // namespace ridgeline
