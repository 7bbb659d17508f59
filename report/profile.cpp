// One table per section, in the words of the profile. Unsupported kernels are named in one line
// with their reason, so that the numbers stay together.
#include "report/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

std::string interval_text(const std::optional<Estimate>& estimate) {
  if (!estimate || estimate->value <= 0) return "";
  const double half = (estimate->high - estimate->low) / 2 / estimate->value;
  return half > 1 ? format_half_width(half) : fmt::format("± {:.1f} %", 100 * half);
}

std::string share_text(const std::optional<Estimate>& rate, const std::optional<Estimate>& theory) {
  if (!rate) return "";
  if (!theory) return "unknown";
  return fmt::format("{:.1f} %", 100 * rate->value / theory->value);
}

std::string rate_text(const std::optional<Estimate>& rate, const char* unit) {
  return rate ? format_si(rate->value, unit, 4) : "";
}

std::string clock_text(const std::optional<Estimate>& clock_hz) {
  return clock_hz ? format_hz(clock_hz->value) : "";
}

// A table with its notes below it: rows with a note carry a number that the note repeats.
struct NotedTable {
  TextTable table;
  std::vector<std::string> notes;

  void add(std::vector<std::string> cells, Status status, const std::string& note) {
    std::string text = note;
    if (status != Status::ok)
      text = std::string(to_string(status)) + (note.empty() ? "" : ": " + note);
    const auto known = std::find(notes.begin(), notes.end(), text);
    const auto number = known - notes.begin() + 1;
    if (!text.empty() && known == notes.end()) notes.push_back(text);
    cells.push_back(text.empty() ? "" : fmt::format("[{}]", number));
    table.rows.push_back(std::move(cells));
  }

  std::string text(int width) const {
    if (table.rows.empty()) return {};
    std::string result = render_text(table, width);
    for (std::size_t i = 0; i < notes.size(); ++i)
      result += "  " + wrap(fmt::format("[{}] {}", i + 1, notes[i]), width, 6, 2) + "\n";
    return result + "\n";
  }
};

NotedTable compute_table(const ProfileMode& mode) {
  NotedTable result{{{{"compute", Align::left, true},
                      {"thr", Align::right},
                      {"measured", Align::right},
                      {"90 %", Align::right},
                      {"of theory", Align::right},
                      {"clock", Align::right},
                      {""}},
                     {}},
                    {}};
  for (const ComputeRow& row : mode.compute) {
    if (row.status == Status::unsupported && !row.flops_per_s) continue;
    result.add({row.kernel + (row.sparse ? ", 2:4 sparse" : ""), std::to_string(row.threads),
                rate_text(row.flops_per_s, is_integer(row.dtype) ? "OP/s" : "FLOP/s"),
                interval_text(row.flops_per_s), share_text(row.flops_per_s, row.theory_flops_per_s),
                clock_text(row.clock_hz)},
               row.status, row.note);
  }
  return result;
}

// "DRAM read", "DRAM read pinned": what a GPU reads through where it is not its usual memory.
std::string memory_name(const MemoryRow& row) {
  std::string name = fmt::format("{} {}", to_string(row.level), to_string(row.direction));
  if (!row.allocation.empty() && row.allocation != "device") name += " " + row.allocation;
  return name;
}

NotedTable memory_table(const ProfileMode& mode) {
  NotedTable result{{{{"memory", Align::left, true},
                      {"thr", Align::right},
                      {"measured", Align::right},
                      {"90 %", Align::right},
                      {"of theory", Align::right},
                      {"set", Align::right},
                      {""}},
                     {}},
                    {}};
  for (const MemoryRow& row : mode.memory)
    result.add({memory_name(row), std::to_string(row.threads), rate_text(row.bytes_per_s, "B/s"),
                interval_text(row.bytes_per_s),
                row.theory_bytes_per_s ? share_text(row.bytes_per_s, row.theory_bytes_per_s) : "",
                format_bytes(static_cast<double>(row.working_set_bytes))},
               row.status, row.note);
  return result;
}

NotedTable sweep_table(const ProfileMode& mode) {
  NotedTable result{{{{"sweep", Align::left, true},
                      {"thr", Align::right},
                      {"FLOP/byte", Align::right},
                      {"FLOP/s", Align::right},
                      {"B/s", Align::right},
                      {"90 %", Align::right},
                      {"power", Align::right},
                      {""}},
                     {}},
                    {}};
  for (const SweepRow& row : mode.sweep)
    result.add({fmt::format("DRAM + {} {} FMA", row.fma_per_element, to_string(row.dtype)),
                std::to_string(row.threads), format_number(row.flop_per_byte),
                rate_text(row.flops_per_s, "FLOP/s"), rate_text(row.bytes_per_s, "B/s"),
                interval_text(row.bytes_per_s), rate_text(row.power_w, "W")},
               row.status, row.note);
  const bool power = std::any_of(mode.sweep.begin(), mode.sweep.end(),
                                 [](const SweepRow& row) { return row.power_w.has_value(); });
  if (!power) {
    constexpr std::ptrdiff_t column = 6;
    result.table.columns.erase(result.table.columns.begin() + column);
    for (auto& cells : result.table.rows) cells.erase(cells.begin() + column);
  }
  return result;
}

NotedTable energy_table(const ProfileMode& mode) {
  NotedTable result{{{{"energy", Align::left, true},
                      {"fitted", Align::right},
                      {"90 %", Align::right},
                      {"sensor"},
                      {""}},
                     {}},
                    {}};
  const auto add = [&](const EnergyFitRow& row, const char* what,
                       const std::optional<Estimate>& value, const char* unit) {
    result.add({fmt::format("{}, {}", row.kernel, what), rate_text(value, unit),
                interval_text(value), row.sensor},
               row.status, row.note);
  };
  for (const EnergyFitRow& row : mode.energy) {
    add(row, (std::string(to_string(row.dtype)) + " arithmetic").c_str(), row.joule_per_flop,
        "J/FLOP");
    add(row, "DRAM", row.joule_per_byte, "J/B");
    add(row, "constant while it runs", row.constant_power_w, "W");
  }
  for (const IdleRow& row : mode.idle)
    if (row.state != IdleState::locked)
      result.add({std::string("at rest, ") +
                      (row.state == IdleState::suspended ? "GPU suspended" : "governors at work") +
                      " (measured)",
                  rate_text(row.power_w, "W"), interval_text(row.power_w)},
                 Status::ok, "");
  if (mode.idle_power_w)
    result.add(
        {"at rest (measured)", rate_text(mode.idle_power_w, "W"), interval_text(mode.idle_power_w)},
        Status::ok, "");
  return result;
}

std::string transfer_name(const TransferRow& row) {
  return fmt::format("{}, {} memory",
                     row.kind == "host_to_device"   ? "host to device"
                     : row.kind == "device_to_host" ? "device to host"
                                                    : "both ways at once",
                     row.host_memory);
}

NotedTable transfer_table(const ProfileMode& mode) {
  NotedTable result{{{{"copies", Align::left, true},
                      {"measured", Align::right},
                      {"90 %", Align::right},
                      {"each", Align::right},
                      {""}},
                     {}},
                    {}};
  for (const TransferRow& row : mode.transfer)
    result.add(
        {transfer_name(row), rate_text(row.bytes_per_s, "B/s"), interval_text(row.bytes_per_s),
         row.bytes > 0 ? format_bytes(static_cast<double>(row.bytes)) : ""},
        row.status, row.note);
  return result;
}

std::string launch_text(const LaunchRow& row) {
  if (row.kind == "fork_join") return fmt::format("fork and join, {} threads", row.threads);
  if (row.kind == "async_launch") return "kernel launch, one of many";
  if (row.kind == "round_trip") return "kernel launch and wait";
  if (row.kind == "graph_node") return "kernel as a node of a CUDA graph";
  return row.kind;
}

std::string latency_text(const LatencyRow& row) {
  const std::string set = format_bytes(static_cast<double>(row.working_set_bytes));
  if (row.kernel == "chase_pages") return "load latency, one line in each 2 MiB of " + set;
  return fmt::format("load latency, {}{}", set,
                     row.level ? fmt::format(" in {}", to_string(*row.level)) : "");
}

NotedTable time_table(const ProfileMode& mode) {
  NotedTable result{
      {{{"time", Align::left, true}, {"measured", Align::right}, {"90 %", Align::right}, {""}}, {}},
      {}};
  for (const LatencyRow& row : mode.latency)
    result.add({latency_text(row), row.time_s ? format_seconds(row.time_s->value) : "",
                interval_text(row.time_s)},
               row.status, row.note);
  for (const LaunchRow& row : mode.launch)
    result.add(
        {launch_text(row) + (row.clock_hz ? ", CPU at " + format_hz(row.clock_hz->value) : ""),
         row.time_s ? format_seconds(row.time_s->value) : "", interval_text(row.time_s)},
        row.status, row.note);
  return result;
}

// "1.30 → 1.07 GHz", or one of them where they are alike.
template <class Format>
std::string change_of(const std::optional<double>& first, const std::optional<double>& last,
                      const Format& format) {
  if (!first || !last) return "";
  const std::string from = format(*first), to = format(*last);
  return from == to ? to : from + " → " + to;
}

// Peaks that were held for seconds, beside their bursts.
NotedTable sustained_table(const ProfileMode& mode) {
  NotedTable result{{{{"held", Align::left, true},
                      {"for", Align::right},
                      {"measured", Align::right},
                      {"of burst", Align::right},
                      {"clock", Align::right},
                      {"temperature", Align::right},
                      {"power", Align::right},
                      {""}},
                     {}},
                    {}};
  const auto add = [&](const std::string& name, const std::optional<Sustained>& held,
                       const std::optional<Estimate>& burst, const char* unit) {
    if (!held || !held->rate || !burst) return;
    const auto celsius = [](double value) { return fmt::format("{:.0f} °C", value); };
    result.add({name, format_seconds(held->seconds), rate_text(held->rate, unit),
                format_percent(held->rate->value / burst->value),
                change_of(held->first_clock_hz, held->last_clock_hz,
                          [](double hz) { return format_hz(hz); }),
                change_of(held->first_temperature_c, held->last_temperature_c, celsius),
                held->power_w ? format_si(*held->power_w, "W") : ""},
               Status::ok, "");
  };
  for (const ComputeRow& row : mode.compute)
    add(row.kernel, row.sustained, row.flops_per_s, is_integer(row.dtype) ? "OP/s" : "FLOP/s");
  for (const MemoryRow& row : mode.memory)
    add(memory_name(row), row.sustained, row.bytes_per_s, "B/s");
  return result;
}

std::string filesystem_text(const StorageRow& row) {
  if (row.filesystem.empty()) return "an unknown file system";
  return row.filesystem + (row.medium.empty() ? "" : " on " + row.medium);
}

NotedTable storage_table(const ProfileMode& mode) {
  NotedTable result{{{{"storage", Align::left, true},
                      {"readers", Align::right},
                      {"measured", Align::right},
                      {"90 %", Align::right},
                      {"per read", Align::right},
                      {""}},
                     {}},
                    {}};
  for (const StorageRow& row : mode.storage)
    result.add({row.pattern + ", " + filesystem_text(row), std::to_string(row.readers),
                rate_text(row.bytes_per_s, "B/s"), interval_text(row.bytes_per_s),
                format_si(static_cast<double>(row.bytes_per_read), "B")},
               row.status, row.note);
  return result;
}

std::string sample_text(const DecodeRow& row) {
  std::string text = fmt::format("{} {}x{}", row.format, row.width, row.height);
  if (row.bytes > 0) text += ", " + format_si(static_cast<double>(row.bytes), "B");
  return row.library.empty() ? text : text + ", " + row.library;
}

NotedTable decode_table(const ProfileMode& mode) {
  NotedTable result{{{{"decode", Align::left, true},
                      {"thr", Align::right},
                      {"per core", Align::right},
                      {"90 %", Align::right},
                      {"clock", Align::right},
                      {""}},
                     {}},
                    {}};
  for (const DecodeRow& row : mode.decode)
    result.add({sample_text(row), std::to_string(row.threads),
                row.time_s ? format_seconds(row.time_s->value) : "", interval_text(row.time_s),
                clock_text(row.clock_hz)},
               row.status, row.note);
  return result;
}

// "not on this CPU: fma_avx512_fp16, tile_amx_bf16 (reason)", one line per reason.
std::string unsupported_text(const ProfileMode& mode, int width) {
  std::map<std::string, std::string> kernels_by_reason;
  for (const ComputeRow& row : mode.compute) {
    if (row.status != Status::unsupported || row.flops_per_s) continue;
    std::string& kernels = kernels_by_reason[row.note];
    kernels += (kernels.empty() ? "" : ", ") + row.kernel;
  }
  std::string text;
  for (const auto& [reason, kernels] : kernels_by_reason)
    text += wrap("unsupported: " + kernels + " (" + reason + ")", width, 2) + "\n";
  return text;
}

std::string estimate_fields(const std::optional<Estimate>& estimate) {
  if (!estimate) return ",,,";
  return csv_number(estimate->value) + "," + csv_number(estimate->low) + "," +
         csv_number(estimate->high) + "," + std::string(to_string(estimate->source));
}

// The bus of a GPU's DRAM has a clock of its own, which is not measured.
std::string sources_text(const ProfileMode& mode) {
  const bool bus = std::any_of(mode.memory.begin(), mode.memory.end(), [](const MemoryRow& row) {
    return row.processor == Processor::gpu && row.level == Level::dram && row.theory_bytes_per_s;
  });
  return std::string("sources: rates measured; theory = ports (datasheet) × clock (measured)") +
         (bus ? ", of DRAM bus × clock (datasheet)" : "");
}

}  // namespace

std::string verdict_text(const MeasuringConditions& conditions, int width) {
  if (!conditions.verdict) return {};
  const RunVerdict& verdict = *conditions.verdict;
  return wrap(std::string(to_string(verdict.state)) + ": " + verdict.reason +
                  (verdict.fix.empty() ? "" : "; " + verdict.fix),
              width, 2) +
         "\n";
}

namespace {

// "612 MHz", "306 MHz … 1.3 GHz".
template <class Format>
std::string span_text(const std::optional<double>& low, const std::optional<double>& high,
                      const Format& format) {
  if (!low || !high) return "";
  const std::string from = format(*low), to = format(*high);
  return from == to ? to : from + " … " + to;
}

std::string knob_text(const KnobCondition& knob) {
  const auto value = [&](double number) {
    return knob.knob == "cores" ? fmt::format("{:.0f}", number) : format_hz(number);
  };
  std::string text = knob.knob;
  if (knob.asked) text += " " + value(*knob.asked) + " asked,";
  text += " " + span_text(knob.lowest, knob.highest, value);
  if (knob.asked) text += " read back";
  if (knob.held) return text + " (held)";
  return knob.governor.empty() ? text : text + " (" + knob.governor + ")";
}

// "clocks: …; fan 50 %; 38 °C … 52 °C, trip point 84 °C; throttling: none seen".
std::string system_text(const SystemConditions& system) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  };
  for (const KnobCondition& knob : system.knobs)
    if (knob.highest) add(knob_text(knob));
  if (system.fan_highest)
    add("fan " + span_text(system.fan_lowest, system.fan_highest,
                           [](double share) { return format_percent(share); }));
  if (system.fan_rpm) add(fmt::format("fan {:.0f} rpm", *system.fan_rpm));
  const auto celsius = [](double value) { return fmt::format("{:.0f} °C", value); };
  if (system.hottest_c)
    add(span_text(system.coolest_c, system.hottest_c, celsius) +
        (system.trip_c ? ", trip point " + celsius(*system.trip_c) : ""));
  std::string events;
  for (const ThrottleCount& each : system.throttling)
    if (each.count > 0)
      events += (events.empty() ? "" : ", ") + fmt::format("{} {} times", each.kind, each.count);
  if (!system.throttling.empty()) add("throttling: " + (events.empty() ? "none seen" : events));
  if (!system.busiest_process.empty()) add("busiest other process: " + system.busiest_process);
  return text;
}

}  // namespace

std::string conditions_text(const MeasuringConditions& conditions, int width) {
  std::string text =
      fmt::format("{} rounds in {}", conditions.rounds, format_seconds(conditions.duration_s));
  if (conditions.rejected_rounds > 0)
    text += fmt::format(", {} more rejected (others used the CPU)", conditions.rejected_rounds);
  text += fmt::format("; steal {}, other load {}", format_percent(conditions.steal_fraction, 1),
                      format_percent(conditions.other_fraction, 1));
  text = wrap(text, width, 2);
  if (conditions.system)
    if (const std::string around = system_text(*conditions.system); !around.empty())
      text += "\n" + wrap(around, width, 2);
  if (!conditions.complete) text += "\n" + wrap("incomplete: interrupted before the end", width, 2);
  for (const Warning& warning : conditions.warnings)
    text += "\n" +
            wrap("warning: " + warning.text + (warning.fix.empty() ? "" : " (" + warning.fix + ")"),
                 width, 2);
  return text;
}

std::string profile_text(const Profile& profile, int width) {
  std::string text;
  for (const ProfileMode& mode : profile.modes) text += verdict_text(mode.conditions, width);
  text += fmt::format("{}{}, {} cores\n", profile.machine.name,
                      profile.machine.microarchitecture.empty()
                          ? ""
                          : " (" + profile.machine.microarchitecture + ")",
                      profile.machine.cores);
  for (const MachineGpu& gpu : profile.machine.gpus)
    text += fmt::format("{} ({}), {} multiprocessors, {}\n", gpu.name, gpu.architecture,
                        gpu.multiprocessors, format_bytes(static_cast<double>(gpu.memory_bytes)));
  // Conditions and warnings come before the numbers that they are about.
  for (const ProfileMode& mode : profile.modes) {
    text +=
        fmt::format("mode: {}\n{}\n\n", mode.mode.label, conditions_text(mode.conditions, width));
    for (const NotedTable& table : {compute_table(mode), memory_table(mode), sustained_table(mode),
                                    transfer_table(mode), sweep_table(mode), energy_table(mode),
                                    time_table(mode), storage_table(mode), decode_table(mode)})
      text += table.text(width);
    text += unsupported_text(mode, width) + wrap(sources_text(mode), width, 2) + "\n";
  }
  return text;
}

std::string profile_csv(const Profile& profile) {
  std::string text =
      "mode,section,processor,kernel,what,threads,status,quantity,value,low,high,source,"
      "theory,theory_low,theory_high,theory_source,clock_hz,working_set_bytes,flop_per_byte,note\n";
  for (const ProfileMode& mode : profile.modes) {
    const auto line = [&](const char* section, Processor processor, const std::string& kernel,
                          const std::string& what, int threads, Status status, const char* quantity,
                          const std::optional<Estimate>& value,
                          const std::optional<Estimate>& theory,
                          const std::optional<Estimate>& clock_hz, std::uint64_t bytes,
                          const std::string& flop_per_byte, const std::string& note) {
      text += csv_field(mode.mode.label) + "," + section + "," + std::string(to_string(processor)) +
              "," + csv_field(kernel) + "," + csv_field(what) + "," + std::to_string(threads) +
              "," + std::string(to_string(status)) + "," + quantity + "," + estimate_fields(value) +
              "," + estimate_fields(theory) + "," + (clock_hz ? csv_number(clock_hz->value) : "") +
              "," + (bytes > 0 ? std::to_string(bytes) : "") + "," + flop_per_byte + "," +
              csv_field(note) + "\n";
    };
    for (const ComputeRow& row : mode.compute)
      line("compute", row.processor, row.kernel,
           std::string(to_string(row.dtype)) + (row.sparse ? " sparse" : ""), row.threads,
           row.status, "flops_per_s", row.flops_per_s, row.theory_flops_per_s, row.clock_hz, 0, "",
           row.note);
    for (const MemoryRow& row : mode.memory)
      line("memory", row.processor, row.kernel, memory_name(row), row.threads, row.status,
           "bytes_per_s", row.bytes_per_s, row.theory_bytes_per_s, row.clock_hz,
           row.working_set_bytes, "", row.note);
    for (const SweepRow& row : mode.sweep)
      line("sweep", row.processor, row.kernel, std::string(to_string(row.dtype)), row.threads,
           row.status, "bytes_per_s", row.bytes_per_s, std::nullopt, std::nullopt,
           row.working_set_bytes, csv_number(row.flop_per_byte), row.note);
    for (const ComputeRow& row : mode.compute)
      if (row.power_w)
        line("compute", row.processor, row.kernel, std::string(to_string(row.dtype)), row.threads,
             row.status, "power_w", row.power_w, std::nullopt, row.clock_hz, 0, "", row.note);
    for (const SweepRow& row : mode.sweep)
      if (row.power_w)
        line("sweep", row.processor, row.kernel, std::string(to_string(row.dtype)), row.threads,
             row.status, "power_w", row.power_w, std::nullopt, std::nullopt, row.working_set_bytes,
             csv_number(row.flop_per_byte), row.note);
    for (const EnergyFitRow& row : mode.energy) {
      const auto fitted = [&](const char* quantity, const std::optional<Estimate>& value) {
        line("energy", row.processor, row.kernel,
             std::string(to_string(row.dtype)) + ", " + row.sensor, 1, row.status, quantity, value,
             std::nullopt, std::nullopt, 0, "", row.note);
      };
      fitted("joule_per_flop", row.joule_per_flop);
      fitted("joule_per_byte", row.joule_per_byte);
      fitted("constant_power_w", row.constant_power_w);
    }
    for (const IdleRow& row : mode.idle)
      line("energy", mode.compute.empty() ? Processor::cpu : mode.compute.front().processor,
           "at rest, " + std::string(to_string(row.state)), "at rest", 1, Status::ok,
           "idle_power_w", row.power_w, std::nullopt, std::nullopt, 0, "", "");
    if (mode.idle_power_w)
      line("energy", mode.sweep.empty() ? Processor::cpu : mode.sweep.front().processor, "",
           "at rest", 1, Status::ok, "idle_power_w", mode.idle_power_w, std::nullopt, std::nullopt,
           0, "", "");
    for (const TransferRow& row : mode.transfer)
      line("transfer", row.processor, row.kind, row.host_memory, 1, row.status, "bytes_per_s",
           row.bytes_per_s, std::nullopt, std::nullopt, row.bytes, "", row.note);
    for (const LatencyRow& row : mode.latency)
      line("latency", row.processor, row.kernel,
           row.level ? std::string(to_string(*row.level)) : "", 1, row.status, "time_s", row.time_s,
           std::nullopt, std::nullopt, row.working_set_bytes, "", row.note);
    for (const LaunchRow& row : mode.launch)
      line("launch", row.processor, row.kind, "empty job", row.threads, row.status, "time_s",
           row.time_s, std::nullopt, row.clock_hz, 0, "", row.note);
    for (const StorageRow& row : mode.storage)
      line("storage", Processor::cpu, row.pattern,
           fmt::format("{} bytes of {}", row.bytes_per_read, filesystem_text(row)), row.readers,
           row.status, "bytes_per_s", row.bytes_per_s, std::nullopt, std::nullopt, 0, "", row.note);
    for (const DecodeRow& row : mode.decode)
      line("decode", Processor::cpu, row.format, sample_text(row), row.threads, row.status,
           "time_s", row.time_s, std::nullopt, row.clock_hz, 0, "", row.note);
  }
  return text;
}

}  // namespace ridgeline
