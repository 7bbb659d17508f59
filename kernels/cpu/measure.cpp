// From plan to rows: sample everything that can run, judge each series, fill in the profile.
// Kernels that cannot run here become `unsupported` rows with the reason.
#include "kernels/cpu/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "base/units.h"
#include "devices/machine/this_machine.h"
#include "kernels/cpu/bench.h"
#include "kernels/cpu/theory.h"
#include "kernels/power_sweep.h"
#include "kernels/record.h"
#include "kernels/verdict.h"

namespace ridgeline::cpu {
namespace {

constexpr double quick_budget_s = 50, full_budget_s = 200;
constexpr double latency_share = 0.15;  // of the budget

ComputeRow compute_row(const PlannedTrial& trial, const Verdict& verdict) {
  const Kernel& kernel = *trial.kernel;
  return {Processor::cpu, std::string(kernel.name), kernel.unit,
          kernel.dtype,   kernel.accumulate,        std::string(to_string(kernel.isa)),
          trial.threads,  verdict.status,           verdict.note,
          verdict.rate,   verdict.theory,           verdict.clock_hz};
}

MemoryRow memory_row(const PlannedTrial& trial, const WritePattern& pattern, const Verdict& verdict,
                     std::uint64_t bytes) {
  const Kernel& kernel = *pattern.kernel;
  MemoryRow row{Processor::cpu,
                std::string(kernel.name),
                trial.set.level,
                kernel.direction,
                std::string(to_string(kernel.isa)),
                trial.threads,
                verdict.status,
                verdict.note,
                verdict.rate,
                verdict.theory,
                verdict.clock_hz,
                bytes};
  if (kernel.direction == Direction::nt_write && trial.set.level != Level::dram && row.note.empty())
    row.note = "non-temporal stores pass by the caches";
  if (pattern.apart)
    row.note += std::string(row.note.empty() ? "" : "; ") + "threads apart in their pages";
  return row;
}

SweepRow sweep_row(const PlannedTrial& trial, const Verdict& verdict, std::uint64_t bytes) {
  const Kernel& kernel = *trial.kernel;
  const double flop_per_byte = kernel.flop_per_trip() / kernel.bytes_per_trip();
  return {Processor::cpu,
          std::string(kernel.name),
          kernel.dtype,
          trial.threads,
          kernel.fma_per_element,
          flop_per_byte,
          verdict.status,
          verdict.note,
          scaled(verdict.rate, flop_per_byte),
          verdict.rate,
          bytes};
}

void add_row(ProfileMode& mode, const PlannedTrial& trial, const WritePattern& pattern,
             const Verdict& verdict, std::uint64_t bytes) {
  switch (trial.section) {
    case Section::compute:
      mode.compute.push_back(compute_row(trial, verdict));
      break;
    case Section::memory:
      mode.memory.push_back(memory_row(trial, pattern, verdict, bytes));
      break;
    case Section::sweep:
      mode.sweep.push_back(sweep_row(trial, verdict, bytes));
      break;
    case Section::latency:
      mode.latency.push_back({Processor::cpu, trial.name(), trial.set.level, bytes, verdict.status,
                              verdict.note, inverse(verdict.rate)});
      break;
    case Section::launch:
      mode.launch.push_back({Processor::cpu, "fork_join", trial.threads, verdict.status,
                             verdict.note, inverse(verdict.rate)});
      break;
  }
}

// The theory of a memory kernel is that of the load ports: it holds in L1 only.
std::optional<double> theory_per_hz(const PlannedTrial& trial, const Microarchitecture* core) {
  if (!trial.kernel) return std::nullopt;
  if (trial.section == Section::memory && trial.set.level != Level::l1) return std::nullopt;
  const auto per_cycle = theory_per_cycle(*trial.kernel, core);
  if (!per_cycle) return std::nullopt;
  return *per_cycle * trial.threads;
}

void warn_of_sets(const std::vector<PlannedTrial>& plan, MeasuringConditions& conditions) {
  const bool small =
      std::ranges::any_of(plan, [](const PlannedTrial& t) { return t.set.too_small; });
  if (small)
    conditions.warnings.push_back(
        {"DRAM rates are of a working set below four times the last cache: memory is short",
         "free some memory and measure again"});
}

// What a part of a run measured: a series per trial (empty for those that cannot run or were left
// out), the pattern that it ran, and the bytes that each worked on. The bench is there for trials
// to run again.
struct Phase {
  std::unique_ptr<Bench> bench;
  std::vector<Trial> trials;
  Sampling sampling;
  std::vector<SampleSeries> series;
  std::vector<WritePattern> patterns;
  std::vector<std::uint64_t> bytes;
  bool bound = true;
};

Phase run_rounds(const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
                 const Topology& topology, double budget_s, const SamplerWorld& world) {
  Phase phase;
  phase.bench = std::make_unique<Bench>(plan, options, topology, [&] { world.progress(0, 0); });
  phase.trials = phase.bench->trials();
  std::vector<Trial> runnable;
  std::vector<std::size_t> indices;
  for (const std::size_t i : by_importance(plan)) {
    if (!phase.trials[i].run) continue;
    runnable.push_back(phase.trials[i]);
    indices.push_back(i);
  }
  SamplerOptions sampling;
  sampling.budget_s = budget_s;
  phase.bound = phase.bench->threads_bound();
  phase.sampling = sample(runnable, sampling, world);
  phase.series.resize(plan.size());
  phase.bytes.resize(plan.size());
  for (const PlannedTrial& trial : plan) phase.patterns.push_back({trial.kernel, false});
  for (std::size_t next = 0; next < indices.size(); ++next) {
    const std::size_t i = indices[next];
    phase.series[i] = phase.sampling.series[next];
    if (!plan[i].kernel) continue;
    phase.patterns[i] = phase.bench->pattern(i);
    phase.bytes[i] = phase.bench->working_set_bytes(i);
  }
  return phase;
}

// Each step has a bench of its own: a chain stays in its cache only if
// nothing else runs in between, and two long ones may not fit into memory.
Phase run_ladder(const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
                 const Topology& topology, double budget_s, const SamplerWorld& world) {
  Phase phase;
  std::vector<std::vector<PlannedTrial>> steps;
  for (const PlannedTrial& trial : plan) steps.push_back({trial});
  std::vector<LoneTrial> alone;
  std::unique_ptr<Bench> bench;
  Trial one;
  for (const std::vector<PlannedTrial>& step : steps) {
    LoneTrial trial;
    trial.prepare = [&] {
      bench = std::make_unique<Bench>(step, options, topology);
      phase.bound = phase.bound && bench->threads_bound();
      one = bench->trials().front();
    };
    trial.trial = {step.front().name(), [&] { return one.run(); }};
    trial.size = static_cast<double>(step.front().set.bytes_per_thread);
    trial.runs = step.front().missing.empty();
    trial.release = [&] { bench.reset(); };
    alone.push_back(std::move(trial));
  }
  SamplerOptions sampling;
  sampling.budget_s = budget_s;
  const std::vector<Sampling> parts = sample_alone(alone, sampling, world);
  phase.sampling = joined(parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    phase.series.push_back(parts[i].series.front());
    phase.patterns.push_back({plan[i].kernel, false});
    phase.bytes.push_back(plan[i].set.bytes_per_thread);
  }
  return phase;
}

// In one line; the sections are in order of the plan.
void warn_of_left_out(const std::map<Section, int>& left_out, std::size_t planned, bool quick,
                      MeasuringConditions& conditions) {
  std::string sections;
  for (const auto& [section, rows] : left_out) {
    conditions.rows.left_out += rows;
    sections += (sections.empty() ? "" : ", ") + std::to_string(rows) + " " +
                std::string(to_string(section));
  }
  if (conditions.rows.left_out == 0) return;
  conditions.warnings.push_back(
      {fmt::format("the time was too short for {} of {} rows, the least important ones: {}",
                   conditions.rows.left_out, planned, sections),
       fmt::format("--budget {:.0f}s", quick ? quick_budget_s : full_budget_s)});
}

bool has_power(const PlannedTrial& trial) {
  return trial.section == Section::sweep && trial.missing.empty();
}

// Windows one behind the other; the sensor is read between two bursts of them.
PowerMeter::Burst long_run(const Trial& trial, const std::function<double()>& now_s) {
  return [&](const std::function<void()>& look) {
    constexpr double burst_s = 0.1;
    double bytes = 0;
    const double start = now_s();
    for (double at = start; at < start + burst_s;) {
      const double rate = trial.run().rate;
      const double end = now_s();
      bytes += rate * (end - at);
      at = end;
    }
    look();
    return bytes;
  };
}

void measure_power(ProfileMode& mode, const std::vector<PlannedTrial>& plan, const Phase& phase,
                   PowerSweep& power, const SamplerWorld& world) {
  if (power.seconds() == 0 || world.interrupted()) return;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!has_power(plan[i])) continue;
    const auto row = std::ranges::find(mode.sweep, plan[i].name(), &SweepRow::kernel);
    if (row != mode.sweep.end() && row->bytes_per_s)
      power.measure_row(*row, long_run(phase.trials[i], world.now_s), mode);
  }
  power.measure_idle(mode);
}

void add_conditions(MeasuringConditions& conditions, const Phase& phase) {
  add_sampling(conditions, phase.sampling);
  const Warning unbound{"threads could not be bound to cores", ""};
  if (!phase.bound && std::ranges::find(conditions.warnings, unbound) == conditions.warnings.end())
    conditions.warnings.push_back(unbound);
}

}  // namespace

ProfileMode measure(const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
                    const Topology& topology, const Microarchitecture* core,
                    const SamplerWorld& world, PowerMeter* meter) {
  const double start = world.now_s();
  const double total_s = options.budget_s > 0 ? options.budget_s
                         : options.quick      ? quick_budget_s
                                              : full_budget_s;
  ProfileMode mode;
  mode.conditions.started = utc_now();
  mode.conditions.governor = cpu_governor();
  PowerSweep power(meter, static_cast<int>(std::ranges::count_if(plan, has_power)), options.quick,
                   total_s, mode.conditions);
  const double budget_s = total_s - power.seconds();
  power.measure_idle(mode);

  // Steps of the latency ladder run one by one, after the rounds of all other trials, which have
  // the larger share of the time.
  std::vector<PlannedTrial> interleaved, alone;
  std::ranges::partition_copy(plan, std::back_inserter(interleaved), std::back_inserter(alone),
                              [](const PlannedTrial& t) { return t.section != Section::latency; });
  const double alone_s =
      alone.empty() ? 0 : (interleaved.empty() ? budget_s : latency_share * budget_s);
  const SamplerWorld part = part_of_run(world, start, total_s);
  part.progress(0, 0);  // before the first kernel: buffers and warm-up take a while

  RowCounts counts;
  std::map<Section, int> left_out;
  const auto add_phase = [&](const std::vector<PlannedTrial>& trials, const Phase& phase) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      Verdict verdict;
      verdict.status = Status::unsupported;
      verdict.note = trials[i].missing;
      if (trials[i].missing.empty()) {
        verdict = judge(phase.series[i], {.per_hz = theory_per_hz(trials[i], core)});
        if (!verdict.rate) {  // interrupted or short of time before its first reading
          if (phase.sampling.complete) ++left_out[trials[i].section];
          continue;
        }
      }
      add_row(mode, trials[i], phase.patterns[i], verdict, phase.bytes[i]);
      // The cost of fork and join scatters by nature.
      if (trials[i].section != Section::launch && verdict.rate) counts.add(verdict);
    }
    add_conditions(mode.conditions, phase);
  };
  if (!interleaved.empty()) {
    const double spent_s = world.now_s() - start;
    const Phase phase = run_rounds(interleaved, options, topology,
                                   total_s - power.seconds() - spent_s - alone_s, part);
    add_phase(interleaved, phase);
    mode.conditions.rounds = phase.sampling.rounds;
    measure_power(mode, interleaved, phase, power, world);
  }
  if (!alone.empty()) {
    const double left_s = total_s - (world.now_s() - start);
    const Phase phase = run_ladder(alone, options, topology, std::min(left_s, alone_s), part);
    add_phase(alone, phase);
    if (interleaved.empty()) mode.conditions.rounds = phase.sampling.rounds;
  }
  mode.conditions.duration_s = world.now_s() - start;
  warn_of_left_out(left_out, plan.size(), options.quick, mode.conditions);
  warn_of_sets(plan, mode.conditions);
  counts.warn(mode.conditions);
  return mode;
}

}  // namespace ridgeline::cpu
