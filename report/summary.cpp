// The summary of this machine as text and as JSON.
// Colour only repeats what the words yes and no say.
#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

std::string paint(std::string text, const char* code, bool color) {
  return color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string count(int number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

void append(std::string& list, const std::string& item) {
  if (item.empty()) return;
  if (!list.empty()) list += ", ";
  list += item;
}

std::string cores_text(const Machine& machine) {
  std::string text = count(machine.cores, "core");
  append(text, count(machine.hardware_threads, "hardware thread"));
  if (machine.numa_nodes > 1) append(text, count(machine.numa_nodes, "NUMA node"));
  return text;
}

std::string caches_text(const Machine& machine) {
  std::string text;
  for (const Cache& cache : machine.caches) {
    std::string item = fmt::format("{} {}", to_string(cache.level),
                                   format_bytes(static_cast<double>(cache.bytes)));
    if (cache.instances > 1) item += fmt::format(" × {}", cache.instances);
    append(text, item);
  }
  return text.empty() ? "unknown" : text;
}

std::string system_text(const Machine& machine) {
  std::string text;
  append(text, machine.os);
  append(text, machine.kernel.empty() ? "" : "kernel " + machine.kernel);
  append(text, machine.architecture);
  append(text, machine.hypervisor);
  return text;
}

std::string device_and_release(const DeviceHere& here) {
  std::string text = device_text(here);
  append(text, release_text(here));
  return text;
}

std::string mode_text(const MachineSummary& summary) {
  const OperatingPoint& mode = summary.mode;
  std::string text = mode.label;
  append(text, mode.cpu_cores ? count(*mode.cpu_cores, "CPU") + " online" : "");
  std::string clocks;
  for (const double hz : mode.cpu_hz) clocks += (clocks.empty() ? "" : " / ") + format_hz(hz);
  append(text, clocks.empty() ? "CPU clock unknown" : "CPU up to " + clocks);
  append(text, mode.gpu_hz ? "GPU up to " + format_hz(*mode.gpu_hz) : "");
  append(text, mode.memory_hz ? "memory up to " + format_hz(*mode.memory_hz) : "");
  append(text, mode.cap_w ? "cap " + format_si(*mode.cap_w, "W") : "");
  append(text, summary.governor.empty() ? "" : "governor " + summary.governor);
  return text;
}

std::string stored_profile_text(const MachineSummary& summary) {
  if (!summary.profile) return "none yet";
  const StoredProfile& profile = *summary.profile;
  if (!profile.fault.empty()) return "unreadable: " + profile.fault;
  return profile.path + ", measured " + profile.started +
         (profile.gpu.empty() ? "" : " on " + profile.gpu) +
         (profile.complete ? "" : ", incomplete") +
         (profile.disturbed ? ", on a disturbed machine: other commands do not use it" : "");
}

// "cores   2 cores, …", folded with a hanging indent.
std::string fact(const std::string& name, const std::string& text, int width) {
  constexpr int column = 11;
  return "  " + name +
         std::string(static_cast<std::size_t>(column - 2 - display_width(name)), ' ') +
         wrap(text, width, column, column) + '\n';
}

std::string answer(bool available, const std::string& text, int width, bool color) {
  constexpr int column = 7;
  return (available ? "  yes  " : "  " + paint("no", "33", color) + "   ") +
         wrap(text, width, column, column) + '\n';
}

std::string ability_lines(const Ability& ability, int width, bool color) {
  std::string lines = answer(ability.available, ability.name + ": " + ability.detail, width, color);
  if (!ability.fix.empty()) lines += "       " + wrap("→ " + ability.fix, width, 9, 7) + '\n';
  return lines;
}

// Instruction sets are many: those that run on one line, the others grouped by the reason.
std::string run_lines(const std::vector<Ability>& abilities, int width, bool color) {
  std::string running;
  std::vector<std::pair<std::string, std::string>> missing;  // reason, names
  for (const Ability& ability : abilities) {
    if (ability.kind != Ability::Kind::run) continue;
    if (ability.available) {
      append(running, ability.name);
      continue;
    }
    auto group = std::find_if(missing.begin(), missing.end(),
                              [&](const auto& known) { return known.first == ability.detail; });
    if (group == missing.end()) group = missing.insert(missing.end(), {ability.detail, ""});
    append(group->second, ability.name);
  }
  std::string lines = running.empty() ? "" : answer(true, running, width, color);
  for (const auto& [reason, names] : missing)
    lines += answer(false, names + ": " + reason, width, color);
  return lines;
}

std::string kind_lines(const MachineSummary& summary, Ability::Kind kind, int width, bool color) {
  if (kind == Ability::Kind::run) return run_lines(summary.abilities, width, color);
  std::string lines;
  for (const Ability& ability : summary.abilities)
    if (ability.kind == kind) lines += ability_lines(ability, width, color);
  return lines;
}

}  // namespace

NextCommand next_command(const MachineSummary& summary) {
  if (!summary.profile)
    return {"ridgeline measure --quick", "measures this machine in about a minute"};
  if (!summary.profile->fault.empty() || !summary.profile->complete)
    return {"ridgeline measure", "measures this machine again: the last profile is incomplete"};
  if (summary.profile->disturbed)
    return {"ridgeline measure --quick", "measures this machine again, once it is quiet"};
  return {"ridgeline roofline", "draws the roofline of that profile"};
}

std::string summary_text(const MachineSummary& summary, int width, bool color) {
  const Machine& machine = summary.machine;
  std::string name = machine.name;
  if (!machine.microarchitecture.empty()) name += " (" + machine.microarchitecture + ")";
  std::string text = paint(wrap(name, width), "1", color) + '\n';
  text += fact("cores", cores_text(machine), width);
  text += fact("caches", caches_text(machine), width);
  text += fact("memory", format_bytes(static_cast<double>(machine.memory_bytes)), width);
  text += fact("system", system_text(machine), width);
  text += fact("device", device_and_release(summary.device), width);
  text += fact("mode", mode_text(summary), width);
  text += fact("profile", stored_profile_text(summary), width);
  for (const auto& [kind, title] : {std::pair{Ability::Kind::set, "Can be set here"},
                                    std::pair{Ability::Kind::read, "Can be read here"},
                                    std::pair{Ability::Kind::run, "Can run here"}})
    text += '\n' + paint(title, "1", color) + '\n' + kind_lines(summary, kind, width, color);
  const NextCommand next = next_command(summary);
  text += "\nNext: " + paint(next.line, "1", color) + '\n';
  text += "      " + wrap(next.why, width, 6, 6) + '\n';
  return text;
}

Json to_json(const MachineSummary& summary) {
  Json abilities = Json::array();
  for (const Ability& ability : summary.abilities)
    abilities.push_back({{"kind", to_string(ability.kind)},
                         {"name", ability.name},
                         {"available", ability.available},
                         {"detail", ability.detail},
                         {"fix", ability.fix}});
  Json profile;
  if (summary.profile)
    profile = {{"path", summary.profile->path},         {"started", summary.profile->started},
               {"complete", summary.profile->complete}, {"disturbed", summary.profile->disturbed},
               {"gpu", summary.profile->gpu},           {"fault", summary.profile->fault}};
  const NextCommand next = next_command(summary);
  return {
      {"schema", MachineSummary::schema},  {"machine", ridgeline::to_json(summary.machine)},
      {"device", to_json(summary.device)}, {"mode", ridgeline::to_json(summary.mode)},
      {"governor", summary.governor},      {"abilities", std::move(abilities)},
      {"profile", std::move(profile)},     {"next", {{"command", next.line}, {"why", next.why}}}};
}

}  // namespace ridgeline
