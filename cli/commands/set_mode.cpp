// Shows what would change; changes it with --apply. All safety is in devices/control.
#include "cli/commands/set_mode.h"

#include <memory>
#include <ostream>

#include "base/mode_request.h"
#include "cli/answer.h"
#include "devices/control/session.h"
#include "devices/machine/identification.h"
#include "devices/modes/mode_space.h"
#include "devices/modes/present_mode.h"
#include "devices/sensors/nvml.h"
#include "report/mode_change.h"

namespace ridgeline::cli {
namespace {

void write_change(const ModeChange& change, const Options& options, Console& console) {
  Answer answer;
  answer.text = [&](std::ostream& out) { out << mode_change_text(change, console.width); };
  answer.json = [&](std::ostream& out) { out << mode_change_json(change); };
  answer.csv = [&](std::ostream& out) { out << mode_change_csv(change); };
  write_answer(answer, options, console);
}

void refuse_other_options(const Options& options, const char* word, bool allows_set_options) {
  for (const char* option : {"mode", "filter", "from", "conf", "name", "on", "jetpack"})
    if (options.has(option))
      throw usage_error("--" + std::string(option),
                        std::string("is not an option of 'modes ") + word + "'");
  for (const char* option : {"all", "block", "diff"})
    if (flag(options, option))
      throw usage_error("--" + std::string(option),
                        std::string("is not an option of 'modes ") + word + "'");
  if (!allows_set_options)
    for (const char* option : {"lock", "apply"})
      if (flag(options, option))
        throw usage_error("--" + std::string(option), "goes with 'modes set'");
}

// A card's limits are set through its driver; the NVML of a Jetson sets nothing.
std::shared_ptr<Nvml> card_of(const SystemRoot& root) {
  if (is_jetson(root) || !exists(root, "proc/driver/nvidia/version")) return nullptr;
  std::string why;
  return Nvml::open({}, why);
}

// The same clocks with the SMs that are on now, where no cap forbids them.
std::string same_clocks(const control::World& world, const control::Knobs& knobs,
                        const catalog::Device& device, const catalog::Configuration& configuration,
                        OperatingPoint point, bool lock) {
  point.gpu_units.reset();
  const std::string text = request_text(point);
  try {
    const control::Wanted wanted = control::wanted_mode(
        knobs, device, configuration, parse_mode_request(text), lock, "modes set");
    control::preview(world, wanted);
  } catch (const Error&) {
    return {};
  }
  return "sudo ridgeline modes set " + text + (lock ? " --lock" : "") + " --apply";
}

}  // namespace

ExitCode set_mode(const std::string& mode, const Options& options, Console& console) {
  refuse_other_options(options, "set", true);
  const SystemRoot root;
  const Identity identity = identify(root);
  const catalog::Device device = this_device(identity, root);
  const catalog::Configuration& configuration = present_configuration(identity, device);
  control::World world(root, card_of(root));
  const control::Knobs knobs = control::find_knobs(world);
  const bool lock = flag(options, "lock");
  const ModeRequest request = parse_mode_request(mode, "modes set");

  ModeChange change;
  change.device = device.name;
  change.asked = mode;
  change.present = present_mode(root);
  if (!request.label.empty() || request.gpu_units) {
    const DeviceMode asked = resolve(device, configuration, request, "modes set");
    if (control::needs_reboot(knobs, asked)) {
      change.kind = ModeChange::Kind::reboot;
      change.nvpmodel_id = asked.id;
      change.units = asked.point.gpu_units;
      change.offer = same_clocks(world, knobs, device, configuration, asked.point, lock);
      write_change(change, options, console);
      return flag(options, "apply") ? ExitCode::infeasible : ExitCode::ok;
    }
  }
  const control::Wanted wanted =
      control::wanted_mode(knobs, device, configuration, request, lock, "modes set");
  change.notes = wanted.notes;
  if (!flag(options, "apply")) {
    change.changes = control::preview(world, wanted);
    write_change(change, options, console);
    return ExitCode::ok;
  }
  // Not even a lock is taken where nothing could be written.
  for (const control::Change& each : control::preview(world, wanted))
    world.check_writable(each.node);
  const InterruptGuard guard;
  control::Session session(world, control::user_journal);
  for (const std::string& note : session.notes()) console.talk(note);
  change.kind = ModeChange::Kind::applied;
  change.written = session.set(wanted, mode);
  session.keep();
  change.present = present_mode(root);
  write_change(change, options, console);
  return ExitCode::ok;
}

ExitCode restore_mode(const Options& options, Console& console) {
  refuse_other_options(options, "restore", false);
  const SystemRoot root;
  const Identity identity = identify(root);
  control::World world(root, card_of(root));
  control::Session session(world, control::user_journal);
  for (const std::string& note : session.notes()) console.talk(note);
  ModeChange change;
  change.kind = ModeChange::Kind::restored;
  change.device = this_device(identity, root).name;
  const control::Restored restored = session.restore();
  change.changes = session.restored_first();
  change.changes.insert(change.changes.end(), restored.changes.begin(), restored.changes.end());
  change.notes = restored.notes;
  change.present = present_mode(root);
  write_change(change, options, console);
  return ExitCode::ok;
}

}  // namespace ridgeline::cli
