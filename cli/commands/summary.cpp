// `ridgeline` without a command, or `ridgeline summary`: what this machine is and can do.
// Looks only: nothing is measured or set.
#include "report/summary.h"

#include <optional>
#include <ostream>
#include <set>

#include "base/json.h"
#include "base/profile.h"
#include "base/profile_store.h"
#include "cli/answer.h"
#include "devices/machine/abilities.h"
#include "devices/machine/identification.h"
#include "devices/machine/this_machine.h"
#include "devices/modes/present_mode.h"
#include "kernels/cpu/kernel.h"

namespace ridgeline::cli {
namespace {

void declare_summary(OptionsDescription&) {}

// A profile that cannot be read is a finding, not a failure of the summary.
std::optional<StoredProfile> newest_profile() {
  StoredProfile stored;
  try {
    const auto newest = newest_profile_path();
    const auto path = newest ? newest : newest_disturbed_path();
    if (!path) return std::nullopt;
    stored.path = *path;
    const Profile profile = load_profile(*path);
    const MeasuringConditions& conditions = profile.modes.front().conditions;
    stored.started = conditions.started;
    stored.complete = conditions.complete;
    stored.disturbed = !disturbance(conditions).empty();
    if (!newest && !stored.disturbed) return std::nullopt;  // of a few rows only
    if (!profile.machine.gpus.empty()) stored.gpu = profile.machine.gpus.front().name;
  } catch (const Error& error) {
    stored.fault = error.what();
  }
  return stored;
}

// "this CPU does not have it": equal reasons are then equal text.
std::string without_name(std::string reason, const std::string& name) {
  if (const auto at = reason.find(name); at != std::string::npos)
    reason.replace(at, name.size(), "it");
  return reason;
}

// The instruction sets that kernels exist for on this architecture.
std::vector<Ability> run_abilities() {
  std::set<cpu::Isa> isas;
  for (const cpu::Kernel& kernel : cpu::kernel_table()) isas.insert(kernel.isa);
  isas.erase(cpu::Isa::baseline);
  std::vector<Ability> abilities;
  for (const cpu::Isa isa : isas) {
    const cpu::IsaSupport& support = cpu::isa_support(isa);
    const std::string name(cpu::to_string(isa));
    abilities.push_back(
        {Ability::Kind::run, name, support.runs, without_name(support.reason, name), {}});
  }
  return abilities;
}

MachineSummary look(const SystemRoot& root) {
  MachineSummary summary;
  summary.machine = identify_machine(root);
  summary.machine.isa = cpu::running_isas();
  const Identity identity = identify(root);
  summary.device = device_here(identity, this_device(identity, summary.machine, root));
  summary.mode = present_mode(root);
  summary.governor = cpu_governor(root);
  summary.abilities = system_abilities(root);
  for (Ability& ability : run_abilities()) summary.abilities.push_back(std::move(ability));
  summary.profile = newest_profile();
  return summary;
}

ExitCode run_summary(const Options& options, Console& console) {
  const MachineSummary summary = look({});
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << summary_text(summary, console.width, console.color);
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(summary)); };
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace

Command summary_command() {
  return {
      .name = "summary",
      .summary = "summary of this machine; same as no command",
      .positional = "",
      .max_positional = 0,
      .description =
          "Shows what this machine is, its present mode, what can be set, read and run here, how "
          "to enable the rest, and which command to run next. Measures and changes nothing.",
      .examples = {{"", "summary of this machine"}, {"--json", "the same as JSON, for scripts"}},
      .add_options = declare_summary,
      .run = run_summary,
      .has_csv = false};
}

}  // namespace ridgeline::cli
