// The JSON form of a Profile and the checks of a file that came from elsewhere.
// Only values that no measurement can give are rejected; doubtful ones pass.
#include "base/profile.h"

#include <fmt/format.h>

#include <cmath>

#include "base/atomic_file.h"
#include "base/file_kind.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "base/text.h"

namespace ridgeline {
namespace {

// A row that claims success must say how fast it went.
void check_rate(const JsonCursor& row, Status status, std::string_view key,
                const std::optional<Estimate>& rate) {
  if (status != Status::ok) return;
  if (!rate) row.fail(fmt::format("status is ok, but {} is missing", key));
  if (rate->value == 0) row.fail(fmt::format("status is ok, but {} is zero", key));
}

constexpr double max_temperature_c = 1000;

Json number_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json sustained_to_json(const std::optional<Sustained>& held) {
  if (!held) return nullptr;
  return {{"seconds", held->seconds},
          {"rate", nullable(held->rate)},
          {"first_clock_hz", number_or_null(held->first_clock_hz)},
          {"last_clock_hz", number_or_null(held->last_clock_hz)},
          {"first_temperature_c", number_or_null(held->first_temperature_c)},
          {"last_temperature_c", number_or_null(held->last_temperature_c)},
          {"power_w", number_or_null(held->power_w)}};
}

std::optional<Sustained> sustained_from_json(const JsonCursor& row) {
  const auto cursor = row.find("sustained");
  if (!cursor) return std::nullopt;
  Sustained held;
  held.seconds = bounded(cursor->at("seconds"), max_time_s);
  held.rate = optional_estimate(*cursor, "rate", max_rate_per_s);
  held.first_clock_hz = optional_bounded(*cursor, "first_clock_hz", max_clock_hz);
  held.last_clock_hz = optional_bounded(*cursor, "last_clock_hz", max_clock_hz);
  held.first_temperature_c = optional_bounded(*cursor, "first_temperature_c", max_temperature_c);
  held.last_temperature_c = optional_bounded(*cursor, "last_temperature_c", max_temperature_c);
  held.power_w = optional_bounded(*cursor, "power_w", max_power_w);
  return held;
}

Json gpu_conditions_to_json(const std::optional<GpuConditions>& gpu) {
  if (!gpu) return nullptr;
  return {{"load_before", number_or_null(gpu->load_before)},
          {"first_temperature_c", number_or_null(gpu->first_temperature_c)},
          {"highest_temperature_c", number_or_null(gpu->highest_temperature_c)},
          {"other_processes", gpu->other_processes},
          {"over_current_events", gpu->over_current_events},
          {"held_by", gpu->held_by}};
}

std::optional<GpuConditions> gpu_conditions_from_json(const JsonCursor& conditions) {
  const auto cursor = conditions.find("gpu");
  if (!cursor) return std::nullopt;
  GpuConditions gpu;
  gpu.load_before = optional_bounded(*cursor, "load_before", 1);
  gpu.first_temperature_c = optional_bounded(*cursor, "first_temperature_c", max_temperature_c);
  gpu.highest_temperature_c = optional_bounded(*cursor, "highest_temperature_c", max_temperature_c);
  gpu.other_processes = cursor->at("other_processes").count();
  gpu.over_current_events = cursor->at("over_current_events").size();
  gpu.held_by = cursor->at("held_by").text();
  return gpu;
}

Json knob_to_json(const KnobCondition& knob) {
  return {{"knob", knob.knob},
          {"asked", number_or_null(knob.asked)},
          {"lowest", number_or_null(knob.lowest)},
          {"highest", number_or_null(knob.highest)},
          {"governor", knob.governor},
          {"held", knob.held}};
}

KnobCondition knob_from_json(const JsonCursor& cursor) {
  KnobCondition knob;
  knob.knob = cursor.at("knob").text();
  knob.asked = optional_bounded(cursor, "asked", max_clock_hz);
  knob.lowest = optional_bounded(cursor, "lowest", max_clock_hz);
  knob.highest = optional_bounded(cursor, "highest", max_clock_hz);
  knob.governor = cursor.at("governor").text();
  knob.held = cursor.at("held").boolean();
  return knob;
}

Json system_to_json(const std::optional<SystemConditions>& system) {
  if (!system) return nullptr;
  Json throttling = Json::object();
  for (const ThrottleCount& each : system->throttling) throttling[each.kind] = each.count;
  return {{"knobs", array_of(system->knobs, knob_to_json)},
          {"fan_lowest", number_or_null(system->fan_lowest)},
          {"fan_highest", number_or_null(system->fan_highest)},
          {"fan_rpm", number_or_null(system->fan_rpm)},
          {"coolest_c", number_or_null(system->coolest_c)},
          {"hottest_c", number_or_null(system->hottest_c)},
          {"trip_c", number_or_null(system->trip_c)},
          {"throttling", std::move(throttling)},
          {"busiest_process", system->busiest_process}};
}

// Below zero outdoors.
std::optional<double> optional_celsius(const JsonCursor& cursor, std::string_view key) {
  const auto found = cursor.find(key);
  if (!found) return std::nullopt;
  const double celsius = found->number();
  if (!(std::abs(celsius) <= max_temperature_c)) found->fail("is not a temperature");
  return celsius;
}

std::optional<SystemConditions> system_from_json(const JsonCursor& conditions) {
  const auto cursor = conditions.find("system");
  if (!cursor) return std::nullopt;
  constexpr double max_rpm = 1e6;
  SystemConditions system;
  system.knobs = vector_of(cursor->at("knobs"), knob_from_json);
  system.fan_lowest = optional_bounded(*cursor, "fan_lowest", 1);
  system.fan_highest = optional_bounded(*cursor, "fan_highest", 1);
  system.fan_rpm = optional_bounded(*cursor, "fan_rpm", max_rpm);
  system.coolest_c = optional_celsius(*cursor, "coolest_c");
  system.hottest_c = optional_celsius(*cursor, "hottest_c");
  system.trip_c = optional_celsius(*cursor, "trip_c");
  for (const auto& [kind, count] : cursor->at("throttling").members())
    system.throttling.push_back({kind, count.size()});
  system.busiest_process = cursor->at("busiest_process").text();
  return system;
}

Json idle_to_json(const IdleRow& row) {
  return {{"state", to_string(row.state)},
          {"power_w", to_json(row.power_w)},
          {"gpu_hz", number_or_null(row.gpu_hz)},
          {"memory_hz", number_or_null(row.memory_hz)}};
}

IdleRow idle_from_json(const JsonCursor& cursor) {
  IdleRow row;
  row.state = cursor.at("state").token<IdleState>();
  const auto power_w = optional_estimate(cursor, "power_w", max_power_w);
  if (!power_w) cursor.fail("power_w is missing");
  row.power_w = *power_w;
  row.gpu_hz = optional_bounded(cursor, "gpu_hz", max_clock_hz);
  row.memory_hz = optional_bounded(cursor, "memory_hz", max_clock_hz);
  return row;
}

Json compute_to_json(const ComputeRow& row) {
  return {{"processor", to_string(row.processor)},
          {"kernel", row.kernel},
          {"unit", to_string(row.unit)},
          {"dtype", to_string(row.dtype)},
          {"accumulate", to_string(row.accumulate)},
          {"sparse", row.sparse},
          {"isa", row.isa},
          {"threads", row.threads},
          {"status", to_string(row.status)},
          {"note", row.note},
          {"flops_per_s", nullable(row.flops_per_s)},
          {"theory_flops_per_s", nullable(row.theory_flops_per_s)},
          {"clock_hz", nullable(row.clock_hz)},
          {"roof", row.roof},
          {"sustained", sustained_to_json(row.sustained)},
          {"power_w", nullable(row.power_w)}};
}

ComputeRow compute_from_json(const JsonCursor& cursor) {
  ComputeRow row;
  row.processor = cursor.at("processor").token<Processor>();
  row.kernel = cursor.at("kernel").text();
  row.unit = cursor.at("unit").token<Unit>();
  row.dtype = cursor.at("dtype").token<DType>();
  row.accumulate = cursor.at("accumulate").token<DType>();
  if (const auto sparse = cursor.find("sparse")) row.sparse = sparse->boolean();
  row.isa = cursor.at("isa").text();
  row.threads = bounded_units(cursor.at("threads"));
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.flops_per_s = optional_estimate(cursor, "flops_per_s", max_rate_per_s);
  row.theory_flops_per_s = optional_estimate(cursor, "theory_flops_per_s", max_rate_per_s);
  row.clock_hz = optional_estimate(cursor, "clock_hz", max_clock_hz);
  if (const auto roof = cursor.find("roof")) row.roof = roof->boolean();
  row.sustained = sustained_from_json(cursor);
  check_rate(cursor, row.status, "flops_per_s", row.flops_per_s);
  row.power_w = optional_estimate(cursor, "power_w", max_power_w);
  return row;
}

Json memory_to_json(const MemoryRow& row) {
  return {{"processor", to_string(row.processor)},
          {"kernel", row.kernel},
          {"level", to_string(row.level)},
          {"direction", to_string(row.direction)},
          {"allocation", row.allocation},
          {"isa", row.isa},
          {"threads", row.threads},
          {"status", to_string(row.status)},
          {"note", row.note},
          {"bytes_per_s", nullable(row.bytes_per_s)},
          {"theory_bytes_per_s", nullable(row.theory_bytes_per_s)},
          {"clock_hz", nullable(row.clock_hz)},
          {"working_set_bytes", row.working_set_bytes},
          {"sustained", sustained_to_json(row.sustained)}};
}

MemoryRow memory_from_json(const JsonCursor& cursor) {
  MemoryRow row;
  row.processor = cursor.at("processor").token<Processor>();
  row.kernel = cursor.at("kernel").text();
  row.level = cursor.at("level").token<Level>();
  row.direction = cursor.at("direction").token<Direction>();
  if (const auto allocation = cursor.find("allocation")) row.allocation = allocation->text();
  row.isa = cursor.at("isa").text();
  row.threads = bounded_units(cursor.at("threads"));
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.bytes_per_s = optional_estimate(cursor, "bytes_per_s", max_rate_per_s);
  row.theory_bytes_per_s = optional_estimate(cursor, "theory_bytes_per_s", max_rate_per_s);
  row.clock_hz = optional_estimate(cursor, "clock_hz", max_clock_hz);
  row.working_set_bytes = bounded_bytes(cursor.at("working_set_bytes"));
  row.sustained = sustained_from_json(cursor);
  check_rate(cursor, row.status, "bytes_per_s", row.bytes_per_s);
  return row;
}

Json sweep_to_json(const SweepRow& row) {
  return {{"processor", to_string(row.processor)},
          {"kernel", row.kernel},
          {"dtype", to_string(row.dtype)},
          {"threads", row.threads},
          {"fma_per_element", row.fma_per_element},
          {"flop_per_byte", row.flop_per_byte},
          {"status", to_string(row.status)},
          {"note", row.note},
          {"flops_per_s", nullable(row.flops_per_s)},
          {"bytes_per_s", nullable(row.bytes_per_s)},
          {"working_set_bytes", row.working_set_bytes},
          {"power_w", nullable(row.power_w)}};
}

SweepRow sweep_from_json(const JsonCursor& cursor) {
  SweepRow row;
  row.processor = cursor.at("processor").token<Processor>();
  row.kernel = cursor.at("kernel").text();
  row.dtype = cursor.at("dtype").token<DType>();
  row.threads = bounded_units(cursor.at("threads"));
  row.fma_per_element = cursor.at("fma_per_element").count();
  row.flop_per_byte = bounded(cursor.at("flop_per_byte"), max_rate_per_s);
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.flops_per_s = optional_estimate(cursor, "flops_per_s", max_rate_per_s);
  row.bytes_per_s = optional_estimate(cursor, "bytes_per_s", max_rate_per_s);
  row.working_set_bytes = bounded_bytes(cursor.at("working_set_bytes"));
  row.power_w = optional_estimate(cursor, "power_w", max_power_w);
  check_rate(cursor, row.status, "bytes_per_s", row.bytes_per_s);
  // Pure loads have no FLOP/s: an absent rate, not a rate of zero.
  if (row.fma_per_element > 0) check_rate(cursor, row.status, "flops_per_s", row.flops_per_s);
  return row;
}

Json latency_to_json(const LatencyRow& row) {
  return {{"processor", to_string(row.processor)},
          {"kernel", row.kernel},
          {"level", row.level ? Json(to_string(*row.level)) : Json()},
          {"working_set_bytes", row.working_set_bytes},
          {"status", to_string(row.status)},
          {"note", row.note},
          {"time_s", nullable(row.time_s)}};
}

LatencyRow latency_from_json(const JsonCursor& cursor) {
  LatencyRow row;
  row.processor = cursor.at("processor").token<Processor>();
  row.kernel = cursor.at("kernel").text();
  if (const auto level = cursor.find("level")) row.level = level->token<Level>();
  row.working_set_bytes = bounded_bytes(cursor.at("working_set_bytes"));
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.time_s = optional_estimate(cursor, "time_s", max_time_s);
  check_rate(cursor, row.status, "time_s", row.time_s);
  return row;
}

Json launch_to_json(const LaunchRow& row) {
  return {{"processor", to_string(row.processor)}, {"threads", row.threads},
          {"status", to_string(row.status)},       {"note", row.note},
          {"time_s", nullable(row.time_s)},        {"clock_hz", nullable(row.clock_hz)}};
}

LaunchRow launch_from_json(const JsonCursor& cursor, const std::string& kind) {
  LaunchRow row;
  row.processor = cursor.at("processor").token<Processor>();
  row.kind = kind;
  row.threads = bounded_units(cursor.at("threads"));
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.time_s = optional_estimate(cursor, "time_s", max_time_s);
  row.clock_hz = optional_estimate(cursor, "clock_hz", max_clock_hz);
  check_rate(cursor, row.status, "time_s", row.time_s);
  return row;
}

Json launches_to_json(const std::vector<LaunchRow>& rows) {
  Json kinds = Json::object();
  kinds["fork_join"] = Json::array();
  for (const LaunchRow& row : rows) kinds[row.kind].push_back(launch_to_json(row));
  return kinds;
}

Json transfer_to_json(const TransferRow& row) {
  return {{"processor", to_string(row.processor)},   {"kind", row.kind},
          {"host_memory", row.host_memory},          {"bytes", row.bytes},
          {"status", to_string(row.status)},         {"note", row.note},
          {"bytes_per_s", nullable(row.bytes_per_s)}};
}

TransferRow transfer_row_from_json(const JsonCursor& cursor) {
  TransferRow row;
  row.processor = cursor.at("processor").token<Processor>();
  row.kind = cursor.at("kind").text();
  row.host_memory = cursor.at("host_memory").text();
  row.bytes = bounded_bytes(cursor.at("bytes"));
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.bytes_per_s = optional_estimate(cursor, "bytes_per_s", max_rate_per_s);
  check_rate(cursor, row.status, "bytes_per_s", row.bytes_per_s);
  return row;
}

Json storage_to_json(const StorageRow& row) {
  return {{"pattern", row.pattern},
          {"filesystem", row.filesystem},
          {"medium", row.medium},
          {"readers", row.readers},
          {"bytes_per_read", row.bytes_per_read},
          {"status", to_string(row.status)},
          {"note", row.note},
          {"bytes_per_s", nullable(row.bytes_per_s)}};
}

StorageRow storage_from_json(const JsonCursor& cursor) {
  StorageRow row;
  row.pattern = cursor.at("pattern").text();
  row.filesystem = cursor.at("filesystem").text();
  row.medium = cursor.at("medium").text();
  row.readers = bounded_units(cursor.at("readers"));
  row.bytes_per_read = bounded_bytes(cursor.at("bytes_per_read"));
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.bytes_per_s = optional_estimate(cursor, "bytes_per_s", max_rate_per_s);
  check_rate(cursor, row.status, "bytes_per_s", row.bytes_per_s);
  return row;
}

Json decode_to_json(const DecodeRow& row) {
  return {{"format", row.format},
          {"library", row.library},
          {"width", row.width},
          {"height", row.height},
          {"bytes", row.bytes},
          {"threads", row.threads},
          {"status", to_string(row.status)},
          {"note", row.note},
          {"time_s", nullable(row.time_s)},
          {"clock_hz", nullable(row.clock_hz)}};
}

DecodeRow decode_from_json(const JsonCursor& cursor) {
  DecodeRow row;
  row.format = cursor.at("format").text();
  row.library = cursor.at("library").text();
  row.width = cursor.at("width").count();
  row.height = cursor.at("height").count();
  row.bytes = bounded_bytes(cursor.at("bytes"));
  row.threads = bounded_units(cursor.at("threads"));
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.time_s = optional_estimate(cursor, "time_s", max_time_s);
  row.clock_hz = optional_estimate(cursor, "clock_hz", max_clock_hz);
  check_rate(cursor, row.status, "time_s", row.time_s);
  return row;
}

Json energy_to_json(const EnergyFitRow& row) {
  return {{"processor", to_string(row.processor)},
          {"kernel", row.kernel},
          {"dtype", to_string(row.dtype)},
          {"sensor", row.sensor},
          {"status", to_string(row.status)},
          {"note", row.note},
          {"joule_per_flop", nullable(row.joule_per_flop)},
          {"joule_per_byte", nullable(row.joule_per_byte)},
          {"constant_power_w", nullable(row.constant_power_w)}};
}

EnergyFitRow energy_from_json(const JsonCursor& cursor) {
  EnergyFitRow row;
  row.processor = cursor.at("processor").token<Processor>();
  row.kernel = cursor.at("kernel").text();
  row.dtype = cursor.at("dtype").token<DType>();
  row.sensor = cursor.at("sensor").text();
  row.status = cursor.at("status").token<Status>();
  row.note = cursor.at("note").text();
  row.joule_per_flop = optional_estimate(cursor, "joule_per_flop", max_joule_per_event);
  row.joule_per_byte = optional_estimate(cursor, "joule_per_byte", max_joule_per_event);
  row.constant_power_w = optional_estimate(cursor, "constant_power_w", max_power_w);
  return row;
}

// Empty without a sensor.
Json energies_to_json(const std::vector<EnergyFitRow>& rows) {
  if (rows.empty()) return Json::object();
  return {{"fits", array_of(rows, energy_to_json)}};
}

Json rows_to_json(const RowTally& rows) {
  return {{"judged", rows.judged},       {"noisy", rows.noisy},       {"drifted", rows.drifted},
          {"throttled", rows.throttled}, {"unsteady", rows.unsteady}, {"left_out", rows.left_out},
          {"cut_short", rows.cut_short}};
}

RowTally rows_from_json(const JsonCursor& cursor) {
  const auto cut_short = cursor.find("cut_short");  // older profiles lack it
  return {cursor.at("judged").count(),       cursor.at("noisy").count(),
          cursor.at("drifted").count(),      cursor.at("throttled").count(),
          cursor.at("unsteady").count(),     cursor.at("left_out").count(),
          cut_short ? cut_short->count() : 0};
}

Json verdict_to_json(const std::optional<RunVerdict>& verdict) {
  if (!verdict) return nullptr;
  return {{"state", to_string(verdict->state)}, {"reason", verdict->reason}, {"fix", verdict->fix}};
}

Json conditions_to_json(const MeasuringConditions& conditions) {
  Json warnings = Json::array();
  for (const Warning& warning : conditions.warnings)
    warnings.push_back({{"text", warning.text}, {"fix", warning.fix}});
  return {{"started", conditions.started},
          {"duration_s", conditions.duration_s},
          {"complete", conditions.complete},
          {"rounds", conditions.rounds},
          {"rejected_rounds", conditions.rejected_rounds},
          {"disturbed", conditions.disturbed},
          {"governor", conditions.governor},
          {"steal_fraction", conditions.steal_fraction},
          {"other_fraction", conditions.other_fraction},
          {"warnings", std::move(warnings)},
          {"rows", rows_to_json(conditions.rows)},
          {"verdict", verdict_to_json(conditions.verdict)},
          {"gpu", gpu_conditions_to_json(conditions.gpu)},
          {"system", system_to_json(conditions.system)}};
}

MeasuringConditions conditions_from_json(const JsonCursor& cursor) {
  MeasuringConditions conditions;
  conditions.started = cursor.at("started").text();
  conditions.duration_s = bounded(cursor.at("duration_s"), max_time_s);
  conditions.complete = cursor.at("complete").boolean();
  conditions.rounds = cursor.at("rounds").count();
  conditions.rejected_rounds = cursor.at("rejected_rounds").count();
  if (const auto disturbed = cursor.find("disturbed")) conditions.disturbed = disturbed->boolean();
  conditions.governor = cursor.at("governor").text();
  conditions.steal_fraction = cursor.at("steal_fraction").non_negative();
  conditions.other_fraction = cursor.at("other_fraction").non_negative();
  for (const JsonCursor& warning : cursor.at("warnings").items())
    conditions.warnings.push_back({warning.at("text").text(), warning.at("fix").text()});
  if (const auto rows = cursor.find("rows")) conditions.rows = rows_from_json(*rows);
  if (const auto verdict = cursor.find("verdict"))
    conditions.verdict = RunVerdict{verdict->at("state").token<RunState>(),
                                    verdict->at("reason").text(), verdict->at("fix").text()};
  conditions.gpu = gpu_conditions_from_json(cursor);
  conditions.system = system_from_json(cursor);
  return conditions;
}

Json mode_to_json(const ProfileMode& mode) {
  return {{"mode", to_json(mode.mode)},
          {"conditions", conditions_to_json(mode.conditions)},
          {"compute", array_of(mode.compute, compute_to_json)},
          {"memory", array_of(mode.memory, memory_to_json)},
          {"sweep", array_of(mode.sweep, sweep_to_json)},
          {"latency", array_of(mode.latency, latency_to_json)},
          {"launch", launches_to_json(mode.launch)},
          {"transfer", array_of(mode.transfer, transfer_to_json)},
          {"storage", array_of(mode.storage, storage_to_json)},
          {"decode", array_of(mode.decode, decode_to_json)},
          {"idle_power_w", nullable(mode.idle_power_w)},
          {"idle", array_of(mode.idle, idle_to_json)},
          {"energy", energies_to_json(mode.energy)}};
}

// Compute and memory rows are what a profile is for; sections that a smaller measurement leaves
// out are read as empty.
ProfileMode mode_from_json(const JsonCursor& cursor) {
  ProfileMode mode;
  mode.mode = operating_point_from_json(cursor.at("mode"));
  mode.conditions = conditions_from_json(cursor.at("conditions"));
  mode.compute = vector_of(cursor.at("compute"), compute_from_json);
  mode.memory = vector_of(cursor.at("memory"), memory_from_json);
  if (const auto sweep = cursor.find("sweep")) mode.sweep = vector_of(*sweep, sweep_from_json);
  if (const auto latency = cursor.find("latency"))
    mode.latency = vector_of(*latency, latency_from_json);
  if (const auto launch = cursor.find("launch"))
    for (const auto& [kind, rows] : launch->members())
      for (const JsonCursor& row : rows.items()) mode.launch.push_back(launch_from_json(row, kind));
  if (const auto transfer = cursor.find("transfer"))
    mode.transfer = vector_of(*transfer, transfer_row_from_json);
  if (const auto storage = cursor.find("storage"))
    mode.storage = vector_of(*storage, storage_from_json);
  if (const auto decode = cursor.find("decode")) mode.decode = vector_of(*decode, decode_from_json);
  if (const auto energy = cursor.find("energy"))
    if (const auto fits = energy->find("fits")) mode.energy = vector_of(*fits, energy_from_json);
  mode.idle_power_w = optional_estimate(cursor, "idle_power_w", max_power_w);
  if (const auto idle = cursor.find("idle")) mode.idle = vector_of(*idle, idle_from_json);
  return mode;
}

}  // namespace

std::string disturbance(const MeasuringConditions& conditions) {
  const auto& verdict = conditions.verdict;
  return verdict && verdict->state == RunState::disturbed ? verdict->reason : std::string();
}

Json to_json(const Profile& profile) {
  return {{"schema", Profile::schema},
          {"tool", profile.tool},
          {"machine", to_json(profile.machine)},
          {"modes", array_of(profile.modes, mode_to_json)}};
}

Profile profile_from_json(const JsonCursor& cursor) {
  check_schema(cursor, Profile::schema);
  Profile profile;
  profile.tool = cursor.at("tool").text();
  profile.machine = machine_from_json(cursor.at("machine"));
  profile.modes = vector_of(cursor.at("modes"), mode_from_json);
  if (profile.modes.empty()) cursor.at("modes").fail("empty, a profile has at least one mode");
  return profile;
}

const ProfileMode& named_mode(const Profile& profile, const std::string& label,
                              const char* option) {
  std::string known;
  for (const ProfileMode& mode : profile.modes) {
    if (mode.mode.label == label || same_name(mode.mode.label, label)) return mode;
    known += (known.empty() ? "" : ", ") + mode.mode.label;
  }
  throw usage_error(option, "the profile has no mode " + quote(label), "it has " + known);
}

Profile load_profile(const std::string& path) {
  try {
    const Json document = read_json_file(path);
    return profile_from_json(file_cursor(document, path));
  } catch (const Error& error) {
    // A file of another kind is named; a damaged profile keeps its own message.
    const KnownFile file = file_kind(path);
    if (file.kind == FileKind::unknown || file.kind == FileKind::profile) throw;
    throw Error(path, "is not a profile", file.hint, error.code());
  }
}

void save_profile(const Profile& profile, const std::string& path) {
  write_file_atomically(path, dump_json(to_json(profile)));
}

}  // namespace ridgeline
