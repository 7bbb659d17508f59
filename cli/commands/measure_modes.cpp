// Set, settle, measure, keep, next. The profile is on disk after every mode, so that a sweep can go
// on after Ctrl-C, a crash or a reboot; the machine is restored at every end.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/profile_store.h"
#include "base/text_table.h"
#include "cli/answer.h"
#include "cli/commands/measure_backend.h"
#include "cli/commands/version.h"
#include "cli/measure_world.h"
#include "devices/catalog/model.h"
#include "devices/control/machine_watch.h"
#include "devices/control/session.h"
#include "devices/control/sweep_plan.h"
#include "devices/machine/identification.h"
#include "devices/machine/this_machine.h"
#include "devices/modes/clock_table.h"
#include "devices/sensors/nvml.h"
#include "devices/sensors/sensors.h"
#include "kernels/cpu/isa.h"
#include "kernels/power_meter.h"
#include "report/mode_sweep.h"
#include "report/profile.h"
#include "roofline/ceilings/measured_energy.h"
#include "roofline/model/priors.h"
#include "roofline/model/sweep_model.h"

namespace ridgeline::cli {
namespace {

constexpr double settle_step_s = 0.1, settled_s = 1, settle_limit_s = 10;
constexpr double cool_limit_s = 180, below_trip_c = 15;

// Waits until held clocks read as they were set for a second; false if they never did.
bool settle(const control::World& control, const control::Wanted& wanted) {
  const MeasureWorld& machine = measure_world();
  const double begin_s = machine.now_s();
  double steady_since_s = begin_s;
  while (machine.now_s() - begin_s < settle_limit_s) {
    const control::Knobs knobs = control::find_knobs(control);
    const OperatingPoint clocks = control::present_clocks(control, knobs);
    const bool gpu_holds =
        !wanted.gpu_hz || !clocks.gpu_hz || same_clock(*wanted.gpu_hz, *clocks.gpu_hz);
    const bool memory_holds =
        !wanted.memory_hz || !clocks.memory_hz || same_clock(*wanted.memory_hz, *clocks.memory_hz);
    if (!gpu_holds || !memory_holds) steady_since_s = machine.now_s();
    if (machine.now_s() - steady_since_s >= settled_s) return true;
    machine.wait(settle_step_s);
  }
  return false;
}

// A machine that is still hot from the mode before would throttle in this one.
void cool_down(const control::World& control) {
  const MeasureWorld& machine = measure_world();
  const auto trip_c = control::passive_trip_c(control.root());
  if (!trip_c) return;
  const double begin_s = machine.now_s();
  while (machine.now_s() - begin_s < cool_limit_s) {
    const auto now_c = control::hottest_zone_c(control.root());
    if (!now_c || *now_c < *trip_c - below_trip_c || InterruptGuard::interrupted()) return;
    machine.wait(1);
  }
}

std::string sweep_path() { return profile_store_directory() + "/sweep/profile.json"; }

// The profile to go on with; the modes that were cut short are measured again.
Profile resumed(const std::string& path, const Machine& machine) {
  Profile profile = load_profile(path);
  if (profile.machine.name != machine.name || profile.machine.cores != machine.cores)
    throw Error(path, "is the profile of another machine, " + profile.machine.name,
                "leave out --resume");
  std::erase_if(profile.modes, [](const ProfileMode& mode) { return !mode.conditions.complete; });
  return profile;
}

bool is_measured(const Profile& profile, const control::SweepMode& mode) {
  return std::ranges::any_of(profile.modes, [&](const ProfileMode& measured) {
    return measured.mode.label == mode.label;
  });
}

// A part of the machine's cores, in the order in which threads are bound.
Topology first_cores(Topology topology, int cores) {
  topology.cpus.resize(std::min(topology.cpus.size(), static_cast<std::size_t>(cores)));
  topology.cores = std::min(topology.cores, cores);
  return topology;
}

void list_modes_to_measure(const control::SweepPlan& plan, const Options& options,
                           Console& console) {
  TextTable table{{{"mode"}, {"cannot be measured now because", Align::left, true}, {"command"}},
                  {}};
  for (const control::SweepMode& mode : plan.modes) table.rows.push_back({mode.label, "", ""});
  for (const control::SkippedMode& mode : plan.skipped)
    table.rows.push_back({mode.label, mode.why, mode.command});
  TextTable shown = table;
  if (plan.skipped.empty()) {
    shown.columns.resize(1);
    for (std::vector<std::string>& cells : shown.rows) cells.resize(1);
  }
  Answer answer;
  answer.text = [&](std::ostream& out) { out << render_text(shown, console.width); };
  answer.csv = [&](std::ostream& out) { out << render_csv(table); };
  answer.json = [&](std::ostream& out) {
    Json rows = Json::array();
    for (const std::vector<std::string>& cells : table.rows)
      rows.push_back({{"section", "mode"},
                      {"kernel", cells[0]},
                      {"what", cells[2]},
                      {"threads", 1},
                      {"missing", cells[1].empty() ? Json() : Json(cells[1])}});
    out << dump_json({{"schema", "ridgeline.measure_plan/1"}, {"rows", rows}});
  };
  write_answer(answer, options, console);
}

// Beside what was read back stands what was asked for.
void note_wanted(const control::Wanted& wanted, std::optional<SystemConditions>& seen) {
  if (!seen) return;
  const auto note = [&](const char* name, const std::optional<double>& asked) {
    const auto knob = std::ranges::find(seen->knobs, name, &KnobCondition::knob);
    if (asked && knob != seen->knobs.end()) knob->asked = asked;
  };
  note("gpu", wanted.gpu_hz);
  note("emc", wanted.memory_hz);
  note("cpu", wanted.cpu_hz);
  if (!wanted.cpus_on.empty()) note("cores", static_cast<double>(wanted.cpus_on.size()));
}

constexpr double idle_count_s = 4, suspend_limit_s = 5;

// Power at rest with clocks as they are now; nothing without a sensor.
std::optional<IdleRow> idle_row(IdleState state, Processor processor,
                                const control::World& control) {
  const MeasureWorld& machine = measure_world();
  SensorPlace place;
  if (processor == Processor::gpu) place.nvml = Nvml::open({}, place.no_nvml);
  const FoundSensor found = find_power_sensor(processor, place);
  if (!found.sensor) return std::nullopt;
  PowerMeter meter(*found.sensor, {machine.now_s, machine.wait, InterruptGuard::interrupted});
  try {
    const auto power_w = meter.measure_idle(idle_count_s);
    if (!power_w) return std::nullopt;
    const OperatingPoint clocks = control::present_clocks(control, control::find_knobs(control));
    return IdleRow{state, *power_w, clocks.gpu_hz, clocks.memory_hz};
  } catch (const SensorError&) {  // the kernels' own power says so
    return std::nullopt;
  }
}

// The machine at rest in a mode that was measured: clocks held as for the kernels, then with its
// governors at work below the same caps, then with the GPU suspended if the system can say so.
std::vector<IdleRow> idle_rows(const ProfileMode& measured, control::Session& session,
                               const control::Wanted& unlocked, control::World& control,
                               bool has_gpu) {
  std::vector<IdleRow> rows;
  if (!measured.idle_power_w || InterruptGuard::interrupted()) return rows;
  rows.push_back(
      {IdleState::locked, *measured.idle_power_w, measured.mode.gpu_hz, measured.mode.memory_hz});
  const Processor processor = has_gpu ? Processor::gpu : Processor::cpu;
  try {
    session.restore();  // of what was held nothing stays
    session.set(unlocked, measured.mode.label);
  } catch (const Error&) {  // a clock that this system can hold, but not cap
    return rows;
  }
  {
    const auto gpu = has_gpu ? measure_world().open_gpu() : nullptr;  // awake, and nothing to do
    if (const auto row = idle_row(IdleState::governor, processor, control)) rows.push_back(*row);
  }
  if (!has_gpu) return rows;
  const MeasureWorld& machine = measure_world();
  const double begin_s = machine.now_s();
  const auto is_suspended = [&] {
    return control::is_gpu_suspended(control, control::find_knobs(control)).value_or(false);
  };
  while (!is_suspended()) {
    if (machine.now_s() - begin_s > suspend_limit_s || InterruptGuard::interrupted()) return rows;
    machine.wait(settle_step_s);
  }
  const auto row = idle_row(IdleState::suspended, processor, control);
  if (row && is_suspended()) rows.push_back(*row);
  return rows;
}

// How the modes that a fit did not see are predicted; only for a GPU that the catalog knows.
std::vector<LeftOutError> errors_of_left_out(const Profile& profile, const Identity& identity) {
  if (identity.catalog_id.empty() || !has_gpu_rates(profile)) return {};
  const catalog::Device device = catalog::load(identity.catalog_id);
  return left_out_errors(with_priors(catalog::machine_model(device)), profile);
}

}  // namespace

ExitCode measure_modes(const MeasureRequest& asked, const Options& options, Console& console) {
  const MeasureWorld& machine = measure_world();
  const SystemRoot root;
  const Identity identity = identify(root);
  const catalog::Device device = this_device(identity, root);
  const catalog::Configuration& configuration = present_configuration(identity, device);
  const auto opened = machine.open_control();
  control::World& control = *opened;
  const Topology topology = read_topology();
  const control::SweepPlan plan =
      control::plan_sweep(asked.modes, control, control::find_knobs(control), device, configuration,
                          {!asked.gpu, topology.cores}, "--modes");
  for (const std::string& note : plan.notes) console.talk(note);
  if (asked.list) {
    list_modes_to_measure(plan, options, console);
    return ExitCode::ok;
  }
  if (plan.modes.empty())
    throw Error("--modes",
                "no mode can be measured now: " + plan.skipped.front().label + " " +
                    plan.skipped.front().why,
                plan.skipped.front().command, ExitCode::infeasible);

  const std::string path = asked.output.empty() ? sweep_path() : asked.output;
  check_profile_store();
  if (asked.output.empty())
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  check_file_can_be_written(path);
  Profile profile;
  profile.tool = std::string(tool_name());
  profile.machine = identify_machine();
  profile.machine.isa = cpu::running_isas();
  std::error_code fault;
  if (asked.resume && std::filesystem::exists(path, fault))
    profile.modes = resumed(path, profile.machine).modes;

  const auto wanted_of = [&](const control::SweepMode& mode, bool locked = true) {
    return control::wanted_mode(control::find_knobs(control), device, configuration, mode.request,
                                locked, "--modes");
  };
  // Rights are missing before the first mode or not at all.
  bool changes = false;
  for (const control::SweepMode& mode : plan.modes)
    for (const control::Change& change : control::preview(control, wanted_of(mode))) {
      control.check_writable(change.node);
      changes = true;
    }
  const InterruptGuard guard;
  std::optional<control::Session> session;
  if (changes) {
    session.emplace(control, control::sweep_journal);
    for (const std::string& note : session->notes()) console.talk(note);
  }

  bool complete = true, disturbed = false;
  std::size_t done = 0;
  for (const control::SweepMode& mode : plan.modes) {
    ++done;
    if (is_measured(profile, mode)) continue;
    if (InterruptGuard::interrupted()) {
      complete = false;
      break;
    }
    const control::Wanted wanted = wanted_of(mode);
    std::vector<control::Written> written;
    bool settled = true;
    if (session) {
      cool_down(control);
      written = session->set(wanted, mode.label);
      settled = settle(control, wanted);
    }
    MeasureRequest request = asked;
    const Topology part = mode.threads ? first_cores(topology, *mode.threads) : topology;
    if (mode.threads) request.threads = {*mode.threads};
    const std::string title = fmt::format("mode {} of {}", done, plan.modes.size());
    ProfileMode measured;
    {
      const Backend backend = measure_backend(request, part);
      profile.machine.gpus = backend.gpus;
      measured = measured_mode(backend, part, title.c_str(), console, {});
    }
    measured.mode.label = mode.label;
    if (mode.threads) measured.mode.cpu_cores = mode.threads;
    if (wanted.memory_hz && !measured.mode.memory_hz) measured.mode.memory_hz = wanted.memory_hz;
    if (session)
      if (const auto hz = control::memory_hz(control, control::find_knobs(control)))
        measured.mode.memory_hz = hz;  // that was locked, below a cap
    if (!settled)
      measured.conditions.warnings.push_back(
          {"the clocks that the system shows did not settle at those that were set",
           "compare with the clocks of the rows, which were counted"});
    for (const control::Written& each : written)
      if (each.rounded)
        measured.conditions.warnings.push_back(
            {fmt::format("{}: the kernel made {} of {}", each.change.knob,
                         control::value_text(each.change.node, each.got),
                         control::value_text(each.change.node, each.change.to)),
             ""});
    note_wanted(wanted, measured.conditions.system);
    if (session)
      measured.idle = idle_rows(measured, *session, wanted_of(mode, false), control,
                                !profile.machine.gpus.empty());
    disturbed = disturbed || !disturbance(measured.conditions).empty();
    complete = complete && measured.conditions.complete;
    console.talk(mode_line(measured, done, plan.modes.size()));
    console.talk(conditions_text(measured.conditions, console.width));
    profile.modes.push_back(std::move(measured));
    save_profile(profile, path);
    if (!complete) break;
  }
  if (session) session->restore();
  share_byte_energies(profile.modes);
  save_profile(profile, path);

  const ModeSweep sweep{profile, plan.skipped, errors_of_left_out(profile, identity)};
  Answer answer;
  answer.text = [&](std::ostream& out) { out << mode_sweep_text(sweep, console.width); };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(profile)); };
  answer.csv = [&](std::ostream& out) { out << profile_csv(profile); };
  write_answer(answer, options, console);
  console.talk("profile: " + path);
  if (!complete) {
    console.talk("go on with the same command and --resume");
    return ExitCode::incomplete;
  }
  const std::string stored = store_profile(profile, asked.gpu ? Shelf::gpu : Shelf::partial);
  console.talk((disturbed ? "stored apart, as the machine was disturbed: " : "stored: ") + stored);
  return disturbed ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace ridgeline::cli
