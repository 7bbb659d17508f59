// `ridgeline modes`: the power modes of a device, one of them, a check of a user's own file, or
// setting and restoring the mode of this machine; all safety of that is in devices/control.
#include "report/modes.h"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string>
#include <vector>

#include "base/mode_request.h"
#include "base/text.h"
#include "base/text_file.h"
#include "cli/answer.h"
#include "devices/control/session.h"
#include "devices/machine/identification.h"
#include "devices/modes/mode_filter.h"
#include "devices/modes/mode_space.h"
#include "devices/modes/present_mode.h"
#include "devices/nvpmodel/generation.h"
#include "devices/nvpmodel/write.h"
#include "report/mode_change.h"
#include "report/nvpmodel_check.h"

namespace ridgeline::cli {
namespace {

void declare_modes(OptionsDescription& options) {
  options.add_text(
      "jetpack", "RELEASE",
      "JetPack release that sets modes and clocks, for example 5; default: the newest");
  options.add_flag("all", "list every mode, not only the stock ones");
  options.add_text(
      "filter", "CONDITIONS",
      "list the modes that match, for example 'gpu>=600MHz,emc=max' or 'cores=4/8,sm=16'");
  options.add_text("mode", "MODE",
                   "one mode: 30W, or caps such as gpu=612MHz,emc=2133MHz,cpu=1.2GHz,cores=4,sm=8");
  options.add_text("from", "MODE", "mode from which reach is counted; default: the boot mode");
  options.add_flag("block", "print the mode as a POWER_MODEL block for nvpmodel.conf");
  options.add_text("conf", "FILE", "make the block fit this file: its names, its order, a free ID");
  options.add_flag("diff", "print the block as a patch to the file");
  options.add_text("name", "NAME", "name of the mode in the block");
  options.add_flag("lock", "with --block or 'set': hold the clocks at their caps");
  options.add_flag("apply", "with 'set': change the machine; without it, show what would change");
  options.add_text("on", "DEVICE",
                   "with 'check': the device to check against; default: this machine");
}

// A device with the generation of it that is meant.
struct ChosenDevice {
  catalog::Device device;
  std::string configuration;  // id
};

// The one that is named, in the release that is named; else this machine, as it is now.
ChosenDevice choose_device(const std::string& name, const Options& options,
                           const std::string& where) {
  ChosenDevice chosen;
  if (name.empty()) {
    const Identity identity = identify();
    chosen.device = this_device(identity);
    chosen.configuration = present_configuration(identity, chosen.device).id;
  } else {
    chosen.device = catalog::load(name, where);
    chosen.configuration = catalog::configuration(chosen.device).id;
  }
  if (options.has("jetpack"))
    chosen.configuration =
        catalog::configuration(chosen.device, options.text_or_empty("jetpack")).id;
  return chosen;
}

const catalog::Configuration& configuration_of(const ChosenDevice& chosen) {
  const auto& all = chosen.device.configurations;
  return *std::find_if(all.begin(), all.end(), [&](const catalog::Configuration& one) {
    return one.id == chosen.configuration;
  });
}

void check_combination(const Options& options) {
  const auto needs = [&](const char* option, bool given, const char* other, bool present) {
    if (given && !present)
      throw usage_error("--" + std::string(option), "goes with " + std::string(other));
  };
  const bool wants_block = flag(options, "block") || flag(options, "diff");
  needs("block", flag(options, "block"), "--mode", options.has("mode"));
  needs("diff", flag(options, "diff"), "--mode and --conf",
        options.has("mode") && options.has("conf"));
  for (const char* option : {"conf", "name"})
    needs(option, options.has(option), "--block or --diff", wants_block);
  needs("lock", flag(options, "lock"), "--block, --diff or 'modes set'", wants_block);
  needs("apply", flag(options, "apply"), "'modes set'", false);
  if (options.has("on"))
    throw usage_error("--on", "goes with 'modes check'", "name the device behind 'modes'");
  if (options.has("mode") && (flag(options, "all") || options.has("filter")))
    throw usage_error("--mode", "cannot be combined with --all or --filter", "choose one");
  if (wants_block && flag(options, "csv")) throw usage_error("--csv", "a block has no CSV form");
}

// nvpmodel's own names have letters, digits and underscores.
std::string block_name(const Options& options) {
  const std::string name = options.text_or_empty("name");
  const bool is_word = std::all_of(name.begin(), name.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (options.has("name") && (name.empty() || !is_word || name.size() > 63))
    throw usage_error("--name", quote(name) + " is not a name for a mode",
                      "use letters, digits and underscores");
  return name;
}

// The block, or the patch with --diff, for the mode that the listing asks for.
std::string nvpmodel_text(const ModesListing& listing, const Options& options, Console& console) {
  const nvpmodel::BlockOptions wanted{block_name(options), flag(options, "lock")};
  const std::string path = options.text_or_empty("conf");
  std::string text;
  nvpmodel::Configuration file;
  if (path.empty()) {
    file = nvpmodel::generation_file(listing.device, listing.configuration);
  } else {
    std::vector<nvpmodel::Finding> warnings;
    text = read_text_file(path);
    file = nvpmodel::parse_configuration(text, path, &warnings);
    for (const nvpmodel::Finding& warning : warnings)
      console.talk(path + ":" + std::to_string(warning.line) + ": " + warning.what);
  }
  const nvpmodel::PowerModel model =
      nvpmodel::compose(file, listing.device, nvpmodel::block_values(file, *listing.asked, wanted),
                        path.empty() ? listing.device.id : path);
  if (!flag(options, "diff")) return to_text(model);
  const std::string patch = nvpmodel::unified_diff(text, file, model, path);
  if (patch.empty()) console.talk(path + " has this mode already");
  return patch;
}

ExitCode check_file(const std::string& path, const Options& options, Console& console) {
  for (const char* option : {"mode", "filter", "from", "conf", "name"})
    if (options.has(option))
      throw usage_error("--" + std::string(option), "is not an option of 'modes check'");
  for (const char* option : {"all", "block", "diff", "lock", "apply"})
    if (flag(options, option))
      throw usage_error("--" + std::string(option), "is not an option of 'modes check'");
  const ChosenDevice chosen = choose_device(options.text_or_empty("on"), options, "--on");
  const catalog::Device& device = chosen.device;
  const nvpmodel::Reading reading = nvpmodel::read_configuration(read_text_file(path));
  const catalog::Configuration& configuration =
      options.has("jetpack") ? configuration_of(chosen)
                             : nvpmodel::closest_configuration(reading.configuration, device);
  const ModesCheck report{path, device, reading.configuration,
                          nvpmodel::check(reading, device, configuration)};
  Answer answer;
  answer.text = [&](std::ostream& out) { out << check_text(report, console.width); };
  answer.json = [&](std::ostream& out) { out << check_json(report); };
  answer.csv = [&](std::ostream& out) { out << check_csv(report); };
  write_answer(answer, options, console);
  throw_first_error(report);
  return ExitCode::ok;
}

// The stock mode that nvpmodel says this machine is in; else the default.
DeviceMode mode_of_this_machine(const ModesListing& listing) {
  const std::string name = present_mode({}).label;
  for (const DeviceMode& mode : listing.stock)
    if (mode.point.label == name) return mode;
  return listing.from;
}

ExitCode list_modes(const std::string& name, const Options& options, Console& console) {
  check_combination(options);
  const ChosenDevice chosen = choose_device(name, options, "modes");
  const catalog::Device& device = chosen.device;
  const catalog::Configuration& configuration = configuration_of(chosen);
  ModesListing listing{device,
                       configuration,
                       default_mode(device, configuration),
                       stock_modes(device, configuration),
                       full_grid(device, configuration),
                       flag(options, "all") || options.has("filter")};
  if (options.has("from"))
    listing.from = resolve(device, configuration,
                           parse_mode_request(options.text_or_empty("from"), "--from"), "--from");
  else if (name.empty())
    listing.from = mode_of_this_machine(listing);
  for (DeviceMode& mode : listing.stock) mode.reach = reach_between(device, listing.from, mode);
  if (options.has("filter")) {
    const ModeFilter filter = parse_mode_filter(options.text_or_empty("filter"));
    const ModeGrid fitting = filtered(device, listing.grid, filter);
    std::erase_if(listing.stock, [&](const DeviceMode& mode) {
      return !matches(listing.grid, filter, mode.point);
    });
    listing.grid = fitting;
  }
  if (options.has("mode")) {
    listing.asked =
        resolve(device, configuration, parse_mode_request(options.text_or_empty("mode"), "--mode"));
    listing.asked->reach = reach_between(device, listing.from, *listing.asked);
    if (flag(options, "block") || flag(options, "diff"))
      listing.block = nvpmodel_text(listing, options, console);
  }

  const bool wants_block = flag(options, "block") || flag(options, "diff");
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << (wants_block ? listing.block : modes_text(listing, console.width));
  };
  answer.json = [&](std::ostream& out) { write_modes_json(listing, out); };
  answer.csv = [&](std::ostream& out) { out << modes_csv(listing); };
  write_answer(answer, options, console);
  if (wants_block && !flag(options, "json"))
    for (const std::string& note : listing.asked->notes) console.talk(note);
  return ExitCode::ok;
}

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

ExitCode set_mode(const std::string& mode, const Options& options, Console& console) {
  refuse_other_options(options, "set", true);
  const SystemRoot root;
  const Identity identity = identify(root);
  const catalog::Device device = this_device(identity, root);
  const catalog::Configuration& configuration = present_configuration(identity, device);
  control::World world(root, control::settable_card(root));
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
  control::World world(root, control::settable_card(root));
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

ExitCode run_modes(const Options& options, Console& console) {
  const std::vector<std::string> words = positional(options);
  if (!words.empty() && words.front() == "check") {
    if (words.size() < 2)
      throw usage_error("modes check", "needs a file", "for example /etc/nvpmodel.conf");
    return check_file(words[1], options, console);
  }
  if (!words.empty() && words.front() == "set") {
    if (words.size() < 2)
      throw usage_error("modes set", "needs a mode", "for example 30W or gpu=612MHz,cores=4");
    return set_mode(words[1], options, console);
  }
  if (words.size() == 1 && words.front() == "restore") return restore_mode(options, console);
  if (words.size() > 1)
    throw usage_error({}, "unexpected argument '" + words[1] + "'", "see 'ridgeline modes --help'");
  return list_modes(words.empty() ? "" : words.front(), options, console);
}

}  // namespace

Command modes_command() {
  return {
      .name = "modes",
      .summary = "the power modes of a device: stock, custom, or one in detail",
      .positional = "[DEVICE | check FILE | set MODE | restore]",
      .max_positional = 2,
      .description =
          "Lists the stock modes of a device as clock vectors with the SMs that are on, and counts "
          "the custom ones: every combination of lockable clocks and cores, for each TPC mask of "
          "the stock modes. A clock that the mode does not cap runs at the firmware's limit. "
          "Changing the TPC mask, or switching a CPU cluster on or off, needs a reboot; everything "
          "else is live. 'check' checks an nvpmodel file against the device. 'set' shows which "
          "knobs "
          "of this machine a mode would change, and changes them with --apply, as root: what was "
          "there before is written down first, every value is read back, and 'restore' puts "
          "everything back. Masks of the GPU are never written, CPU 0 is never taken offline, and "
          "no reboot is started.",
      .examples = {{"modes jetson-orin-nano-8gb", "stock modes, and the number of custom ones"},
                   {"modes jetson-agx-orin-64gb --filter 'gpu>=600MHz,emc=max' --csv",
                    "all modes with fast memory and at least 600 MHz"},
                   {"modes jetson-agx-orin-64gb --mode gpu=612MHz,cores=4 --block",
                    "a POWER_MODEL block for nvpmodel"},
                   {"modes check my-nvpmodel.conf --on jetson-agx-orin-64gb",
                    "errors in a file, and differences from the stock modes"},
                   {"modes set gpu=612MHz,emc=2133MHz,cpu=1.2GHz,cores=4",
                    "what this mode would change on this machine"},
                   {"modes set 15W --apply", "set it, as root"},
                   {"modes restore", "put everything back, as root"}},
      .add_options = declare_modes,
      .run = run_modes};
}

}  // namespace ridgeline::cli
