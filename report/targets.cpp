// One row per target. Arithmetic and shared memory are held against the clock that was measured
// under the same load, DRAM against bus × memory clock; of DRAM the best direction counts.
#include "report/targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/units.h"
#include "base/wrap.h"
#include "kernels/verdict.h"

namespace ridgeline {
namespace {

struct MemoryTarget {
  Processor processor;
  Level level;
  bool only_read;
  double least;
};

constexpr double gpu_arithmetic = 0.97, cpu_arithmetic = 0.98;
constexpr auto memory_targets = std::to_array<MemoryTarget>({
    {Processor::gpu, Level::dram, false, 0.93},
    {Processor::gpu, Level::shared, false, 0.90},
    {Processor::cpu, Level::l1, true, 0.98},
});

std::string processor_name(Processor processor) {
  return processor == Processor::gpu ? "GPU" : "CPU";
}

// The verdict calls a row impossible by its interval; a target wants the value itself below.
CheckedTarget target(const std::string& kernel, std::string what, const Estimate& rate,
                     double theory, double least, Status status) {
  const double share = rate.value / theory;
  return {kernel,
          std::move(what),
          share,
          least,
          rate.low / theory,
          rate.high / theory,
          status == Status::impossible || share > impossible_above};
}

void check_compute(const ProfileMode& mode, TargetCheck& check) {
  for (const ComputeRow& row : mode.compute) {
    if (!row.flops_per_s || !row.roof) continue;  // a rate that is no ceiling has no target
    if (!row.theory_flops_per_s) {
      check.without_theory.push_back(row.kernel);
      continue;
    }
    const std::string threads =
        row.processor == Processor::cpu
            ? fmt::format(", {} thread{}", row.threads, row.threads == 1 ? "" : "s")
            : "";
    check.targets.push_back(
        target(row.kernel,
               fmt::format("{} {} {}{}{}", processor_name(row.processor), to_string(row.unit),
                           to_string(row.dtype), row.sparse ? " sparse" : "", threads),
               *row.flops_per_s, row.theory_flops_per_s->value,
               row.processor == Processor::gpu ? gpu_arithmetic : cpu_arithmetic, row.status));
  }
}

void check_memory(const ProfileMode& mode, const MemoryTarget& wanted, TargetCheck& check) {
  const auto counts = [&](const MemoryRow& row) {
    return row.processor == wanted.processor && row.level == wanted.level && row.bytes_per_s &&
           (!wanted.only_read || row.direction == Direction::read) &&
           row.direction != Direction::random;
  };
  const MemoryRow* best = nullptr;
  for (const MemoryRow& row : mode.memory) {
    if (!counts(row)) continue;
    const auto share = [](const MemoryRow& of) {
      return of.theory_bytes_per_s ? of.bytes_per_s->value / of.theory_bytes_per_s->value : 0;
    };
    if (!best || share(row) > share(*best)) best = &row;
  }
  if (!best) return;
  if (!best->theory_bytes_per_s) {
    check.without_theory.push_back(best->kernel);
    return;
  }
  check.targets.push_back(target(best->kernel,
                                 fmt::format("{} {} {}", processor_name(wanted.processor),
                                             to_string(best->level), to_string(best->direction)),
                                 *best->bytes_per_s, best->theory_bytes_per_s->value, wanted.least,
                                 best->status));
}

}  // namespace

bool TargetCheck::met() const {
  return std::ranges::all_of(targets, [](const CheckedTarget& each) { return each.met(); });
}

TargetCheck check_targets(const ProfileMode& mode) {
  TargetCheck check;
  check_compute(mode, check);
  for (const MemoryTarget& wanted : memory_targets) check_memory(mode, wanted, check);
  return check;
}

TextTable target_table(const TargetCheck& check) {
  TextTable table{{{"target", Align::left, true},
                   {"kernel"},
                   {"of theory", Align::right},
                   {"90 %", Align::right},
                   {"at least", Align::right},
                   {"result"}},
                  {}};
  for (const CheckedTarget& each : check.targets) {
    const char* const result = each.impossible ? "IMPOSSIBLE" : each.met() ? "pass" : "FAIL";
    table.rows.push_back({each.what, each.kernel, format_percent(each.share, 1),
                          fmt::format("± {:.1f} %", 50 * (each.high - each.low) / each.share),
                          format_percent(each.least), result});
  }
  return table;
}

std::string target_text(const TargetCheck& check, int width) {
  std::string text;
  if (!check.targets.empty()) text = render_text(target_table(check), width);
  if (!check.without_theory.empty())
    text += wrap(fmt::format("no source states the limits of this hardware: {}",
                             fmt::join(check.without_theory, ", ")),
                 width, 2) +
            "\n";
  const auto missed =
      std::ranges::count_if(check.targets, [](const CheckedTarget& each) { return !each.met(); });
  if (check.targets.empty())
    text += "targets: no measured row has a theoretical limit to compare with\n";
  else
    text += fmt::format("targets: {} of {} met\n", std::ssize(check.targets) - missed,
                        check.targets.size());
  return text;
}

Json to_json(const TargetCheck& check) {
  Json targets = Json::array();
  for (const CheckedTarget& each : check.targets)
    targets.push_back({{"kernel", each.kernel},
                       {"what", each.what},
                       {"share_of_theory", each.share},
                       {"low", each.low},
                       {"high", each.high},
                       {"least", each.least},
                       {"impossible", each.impossible},
                       {"met", each.met()}});
  return {{"schema", TargetCheck::schema},
          {"targets", std::move(targets)},
          {"without_theory", check.without_theory}};
}

}  // namespace ridgeline
