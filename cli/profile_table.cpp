// One table per section, in the words of the profile. Unsupported kernels are named in one line
// with their reason, so that the numbers stay together.
#include "cli/profile_table.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"

namespace ridgeline::cli {
namespace {

std::string interval_text(const std::optional<Estimate>& estimate) {
  if (!estimate || estimate->value <= 0) return "";
  return fmt::format("± {:.1f} %", 50 * (estimate->high - estimate->low) / estimate->value);
}

std::string share_text(const std::optional<Estimate>& rate, const std::optional<Estimate>& theory) {
  if (!rate) return "";
  if (!theory) return "theory unknown";
  return fmt::format("{:.1f} %", 100 * rate->value / theory->value);
}

std::string note_text(Status status, const std::string& note) {
  if (status == Status::ok) return note;
  return std::string(to_string(status)) + (note.empty() ? "" : ": " + note);
}

std::string rate_text(const std::optional<Estimate>& rate, const char* unit) {
  return rate ? format_si(rate->value, unit, 4) : "";
}

std::string clock_text(const std::optional<Estimate>& clock_hz) {
  return clock_hz ? format_hz(clock_hz->value) : "";
}

TextTable compute_table(const ProfileMode& mode) {
  TextTable table{{{"compute"},
                   {"unit"},
                   {"dtype"},
                   {"thr", Align::right},
                   {"measured", Align::right},
                   {"90 %", Align::right},
                   {"of theory", Align::right},
                   {"clock", Align::right},
                   {"note", Align::left, true}},
                  {}};
  for (const ComputeRow& row : mode.compute) {
    if (row.status == Status::unsupported && !row.flops_per_s) continue;
    table.rows.push_back({row.kernel, std::string(to_string(row.unit)),
                          std::string(to_string(row.dtype)), std::to_string(row.threads),
                          rate_text(row.flops_per_s, is_integer(row.dtype) ? "OP/s" : "FLOP/s"),
                          interval_text(row.flops_per_s),
                          share_text(row.flops_per_s, row.theory_flops_per_s),
                          clock_text(row.clock_hz), note_text(row.status, row.note)});
  }
  return table;
}

TextTable memory_table(const ProfileMode& mode) {
  TextTable table{{{"memory"},
                   {"direction"},
                   {"thr", Align::right},
                   {"measured", Align::right},
                   {"90 %", Align::right},
                   {"of theory", Align::right},
                   {"set", Align::right},
                   {"note", Align::left, true}},
                  {}};
  for (const MemoryRow& row : mode.memory) {
    table.rows.push_back(
        {std::string(to_string(row.level)), std::string(to_string(row.direction)),
         std::to_string(row.threads), rate_text(row.bytes_per_s, "B/s"),
         interval_text(row.bytes_per_s),
         row.theory_bytes_per_s ? share_text(row.bytes_per_s, row.theory_bytes_per_s) : "",
         format_bytes(static_cast<double>(row.working_set_bytes)),
         note_text(row.status, row.note)});
  }
  return table;
}

TextTable sweep_table(const ProfileMode& mode) {
  TextTable table{{{"sweep"},
                   {"dtype"},
                   {"thr", Align::right},
                   {"FLOP/byte", Align::right},
                   {"FLOP/s", Align::right},
                   {"B/s", Align::right},
                   {"90 %", Align::right},
                   {"note", Align::left, true}},
                  {}};
  for (const SweepRow& row : mode.sweep)
    table.rows.push_back({fmt::format("DRAM + {} FMA", row.fma_per_element),
                          std::string(to_string(row.dtype)), std::to_string(row.threads),
                          format_number(row.flop_per_byte), rate_text(row.flops_per_s, "FLOP/s"),
                          rate_text(row.bytes_per_s, "B/s"), interval_text(row.bytes_per_s),
                          note_text(row.status, row.note)});
  return table;
}

TextTable time_table(const ProfileMode& mode) {
  TextTable table{{{"time"},
                   {"of"},
                   {"measured", Align::right},
                   {"90 %", Align::right},
                   {"note", Align::left, true}},
                  {}};
  for (const LatencyRow& row : mode.latency)
    table.rows.push_back({"load latency",
                          (row.level ? std::string(to_string(*row.level)) + ", " : "") +
                              format_bytes(static_cast<double>(row.working_set_bytes)),
                          row.time_s ? format_seconds(row.time_s->value) : "",
                          interval_text(row.time_s), note_text(row.status, row.note)});
  for (const LaunchRow& row : mode.launch)
    table.rows.push_back({"fork and join", fmt::format("{} threads", row.threads),
                          row.time_s ? format_seconds(row.time_s->value) : "",
                          interval_text(row.time_s), note_text(row.status, row.note)});
  return table;
}

// "not on this CPU: fma_avx512_fp16, tile_amx_bf16 (reason)", one line per reason.
std::string unsupported_text(const ProfileMode& mode) {
  std::map<std::string, std::string> kernels_by_reason;
  for (const ComputeRow& row : mode.compute) {
    if (row.status != Status::unsupported || row.flops_per_s) continue;
    std::string& kernels = kernels_by_reason[row.note];
    kernels += (kernels.empty() ? "" : ", ") + row.kernel;
  }
  std::string text;
  for (const auto& [reason, kernels] : kernels_by_reason)
    text += "unsupported: " + kernels + " (" + reason + ")\n";
  return text;
}

std::string conditions_text(const Conditions& conditions) {
  std::string text =
      fmt::format("{} rounds in {}", conditions.rounds, format_seconds(conditions.duration_s));
  if (conditions.rejected_rounds > 0)
    text += fmt::format(", {} more rejected (others used the CPU)", conditions.rejected_rounds);
  text += fmt::format(
      "; steal {}, other load {}; sources: rates measured, theory datasheet ports "
      "× measured clock\n",
      format_percent(conditions.steal_fraction, 1), format_percent(conditions.other_fraction, 1));
  if (!conditions.complete) text += "incomplete: interrupted before the end\n";
  for (const Warning& warning : conditions.warnings)
    text +=
        "warning: " + warning.text + (warning.fix.empty() ? "" : " (" + warning.fix + ")") + "\n";
  return text;
}

std::string estimate_fields(const std::optional<Estimate>& estimate) {
  if (!estimate) return ",,,";
  return csv_number(estimate->value) + "," + csv_number(estimate->low) + "," +
         csv_number(estimate->high) + "," + std::string(to_string(estimate->source));
}

}  // namespace

std::string profile_text(const Profile& profile, int width) {
  std::string text = fmt::format("{}{}, {} cores\n", profile.machine.name,
                                 profile.machine.microarchitecture.empty()
                                     ? ""
                                     : " (" + profile.machine.microarchitecture + ")",
                                 profile.machine.cores);
  for (const ProfileMode& mode : profile.modes) {
    text += fmt::format("mode: {}\n\n", mode.mode.label);
    for (const TextTable& table :
         {compute_table(mode), memory_table(mode), sweep_table(mode), time_table(mode)})
      if (!table.rows.empty()) text += render_text(table, width) + "\n";
    text += unsupported_text(mode) + conditions_text(mode.conditions);
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
      line("compute", row.processor, row.kernel, std::string(to_string(row.dtype)), row.threads,
           row.status, "flops_per_s", row.flops_per_s, row.theory_flops_per_s, row.clock_hz, 0, "",
           row.note);
    for (const MemoryRow& row : mode.memory)
      line("memory", row.processor, row.kernel,
           std::string(to_string(row.level)) + " " + std::string(to_string(row.direction)),
           row.threads, row.status, "bytes_per_s", row.bytes_per_s, row.theory_bytes_per_s,
           row.clock_hz, row.working_set_bytes, "", row.note);
    for (const SweepRow& row : mode.sweep)
      line("sweep", row.processor, row.kernel, std::string(to_string(row.dtype)), row.threads,
           row.status, "bytes_per_s", row.bytes_per_s, std::nullopt, std::nullopt,
           row.working_set_bytes, csv_number(row.flop_per_byte), row.note);
    for (const LatencyRow& row : mode.latency)
      line("latency", row.processor, row.kernel,
           row.level ? std::string(to_string(*row.level)) : "", 1, row.status, "time_s", row.time_s,
           std::nullopt, std::nullopt, row.working_set_bytes, "", row.note);
    for (const LaunchRow& row : mode.launch)
      line("launch", row.processor, row.kind, "empty job", row.threads, row.status, "time_s",
           row.time_s, std::nullopt, std::nullopt, 0, "", row.note);
  }
  return text;
}

}  // namespace ridgeline::cli
