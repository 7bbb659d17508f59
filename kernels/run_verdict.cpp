// The reasons in order of what explains most: foreign load, unsteady rows, contradicting rows.
// The first that holds is the verdict.
#include "kernels/run_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/units.h"
#include "kernels/sampler.h"

namespace ridgeline {
namespace {

// What others compute slows a CPU's rows down, a GPU's hardly.
bool has_cpu_rows(const ProfileMode& mode) {
  const auto of_cpu = [](const auto& row) {
    return row.processor == Processor::cpu && row.status != Status::unsupported;
  };
  return std::ranges::any_of(mode.compute, of_cpu) || std::ranges::any_of(mode.memory, of_cpu) ||
         std::ranges::any_of(mode.sweep, of_cpu) || std::ranges::any_of(mode.latency, of_cpu) ||
         std::ranges::any_of(mode.launch, of_cpu) || !mode.decode.empty();
}

std::optional<RunVerdict> foreign_load(const ProfileMode& mode) {
  const MeasuringConditions& seen = mode.conditions;
  if (!seen.disturbed || !has_cpu_rows(mode)) return std::nullopt;
  if (seen.other_fraction > disturbing_other)
    return RunVerdict{RunState::disturbed,
                      "other processes took " + format_percent(seen.other_fraction) + " of the CPU",
                      "close them and measure again"};
  if (seen.steal_fraction > disturbing_steal)
    return RunVerdict{RunState::disturbed,
                      "the hypervisor took " + format_percent(seen.steal_fraction) + " of the CPU",
                      "measure when the host is quiet, or on dedicated cores"};
  return std::nullopt;
}

std::optional<RunVerdict> shared_gpu(const std::optional<GpuConditions>& gpu) {
  if (!gpu || gpu->load_before.value_or(0) <= disturbing_gpu_load) return std::nullopt;
  return RunVerdict{RunState::disturbed,
                    "other programs kept the GPU busy for " + format_percent(*gpu->load_before) +
                        " of the time before the run",
                    "close them and measure again"};
}

std::optional<RunVerdict> unsteady_rows(const RowTally& rows) {
  if (rows.judged < least_judged || rows.unsteady <= unsteady_share * rows.judged)
    return std::nullopt;
  const bool hot = 2 * rows.throttled > rows.unsteady;
  return RunVerdict{
      RunState::disturbed,
      fmt::format(
          "{} of {} rows are unsteady ({} drifted, {} ran at a falling clock, {} are noisy)",
          rows.unsteady, rows.judged, rows.drifted, rows.throttled, rows.noisy),
      hot ? "check cooling and power limits and measure again"
          : "let the machine settle and measure again"};
}

// The highest rate that the other rows of the mode allow a sweep row; absent where one is missing.
std::optional<Estimate> roof_of(const SweepRow& sweep, const ProfileMode& mode) {
  const auto counts = [&](const auto& row, const std::optional<Estimate>& rate) {
    return row.processor == sweep.processor && row.threads == sweep.threads && rate &&
           row.status != Status::impossible;
  };
  std::optional<Estimate> compute, read;
  for (const ComputeRow& row : mode.compute)
    if (counts(row, row.flops_per_s) && row.dtype == sweep.dtype && !row.sparse &&
        (!compute || row.flops_per_s->value > compute->value))
      compute = row.flops_per_s;
  for (const MemoryRow& row : mode.memory)
    if (counts(row, row.bytes_per_s) && row.level == Level::dram &&
        row.direction == Direction::read && (!read || row.bytes_per_s->value > read->value))
      read = row.bytes_per_s;
  if (!compute || !read) return std::nullopt;
  const auto least = [&](double roof, double slope) {
    return std::min(roof, slope * sweep.flop_per_byte);
  };
  return Estimate{least(compute->value, read->value), least(compute->low, read->low),
                  least(compute->high, read->high), Source::predicted};
}

struct AboveRoof {
  std::size_t row = 0;
  double share = 0;  // of the roof
};

std::vector<AboveRoof> above_roof(const ProfileMode& mode, double limit) {
  std::vector<AboveRoof> found;
  for (std::size_t i = 0; i < mode.sweep.size(); ++i) {
    const SweepRow& row = mode.sweep[i];
    if (!row.flops_per_s || !(row.flop_per_byte > 0)) continue;
    const auto roof = roof_of(row, mode);
    if (roof && roof->value > 0 && row.flops_per_s->low > limit * roof->high)
      found.push_back({i, row.flops_per_s->value / roof->value});
  }
  return found;
}

std::optional<RunVerdict> contradiction(const ProfileMode& mode) {
  const auto above = above_roof(mode, sweep_above_roof);
  if (std::ssize(above) < least_sweep_points) return std::nullopt;
  const double most = std::ranges::max_element(above, {}, &AboveRoof::share)->share;
  return RunVerdict{RunState::disturbed,
                    fmt::format("{} sweep points stand above their roof, at up to {} of it",
                                above.size(), format_percent(most)),
                    "let the machine settle and measure again"};
}

}  // namespace

RunVerdict judge_run(const ProfileMode& mode) {
  if (const auto load = foreign_load(mode)) return *load;
  if (const auto shared = shared_gpu(mode.conditions.gpu)) return *shared;
  if (const auto rows = unsteady_rows(mode.conditions.rows)) return *rows;
  if (const auto sweep = contradiction(mode)) return *sweep;
  return {RunState::quiet,
          fmt::format("other processes took {} of the CPU, the hypervisor {}",
                      format_percent(mode.conditions.other_fraction, 1),
                      format_percent(mode.conditions.steal_fraction, 1)),
          ""};
}

void mark_sweep_above_roof(ProfileMode& mode) {
  for (const AboveRoof& each : above_roof(mode, 1)) {
    SweepRow& row = mode.sweep[each.row];
    row.status = Status::impossible;
    row.note += (row.note.empty() ? "" : "; ") + format_percent(each.share) +
                " of its roof: the machine was disturbed";
  }
}

void warn_of_surroundings(const std::string& busiest, std::optional<double> quota, int cores,
                          MeasuringConditions& conditions) {
  const SamplerOptions limits;  // by which the sampler sets rounds aside
  const auto warn = [&](const std::string& text, const std::string& fix) {
    conditions.warnings.push_back({text, fix});
  };
  if (conditions.other_fraction > limits.max_other || conditions.disturbed)
    warn(fmt::format("other load: {} ran beside the measurement ({} of the measured cores' time)",
                     busiest.empty() ? "other processes" : busiest,
                     format_percent(conditions.other_fraction, 1)),
         "stop it and measure again");
  if (conditions.steal_fraction > limits.max_steal)
    warn(fmt::format("the hypervisor took {} of the measured cores' time",
                     format_percent(conditions.steal_fraction, 1)),
         "measure when the host is quiet, or on dedicated cores");
  if (quota && *quota < cores)
    warn(fmt::format("this process may use only {:.1f} of {} cores' time (cgroup quota)", *quota,
                     cores),
         "lift the quota, or measure with fewer --threads");
  if (!conditions.governor.empty() && conditions.governor != "performance")
    warn("the CPU governor is '" + conditions.governor + "': the clock may follow the load",
         "sudo cpupower frequency-set -g performance");
}

}  // namespace ridgeline
