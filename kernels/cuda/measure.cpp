// From plan to rows: tune, sample everything that can run, judge each series, probe launch costs.
// Kernels that cannot run or that failed become `unsupported` rows with the reason.
#include "kernels/cuda/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/statistics.h"
#include "base/units.h"
#include "devices/sensors/nvml.h"
#include "kernels/cuda/bench.h"
#include "kernels/cuda/launch_probe.h"
#include "kernels/cuda/long_run.h"
#include "kernels/cuda/theory.h"
#include "kernels/power_sweep.h"
#include "kernels/record.h"
#include "kernels/verdict.h"

namespace ridgeline::cuda {
namespace {

constexpr double quick_budget_s = 35, full_budget_s = 200;
constexpr double quick_power_budget_s = 42, full_power_budget_s = 270;  // with power
constexpr double tuning_share = 0.3;                                    // of the budget, at most

Verdict unsupported(const std::string& reason) {
  Verdict verdict;
  verdict.status = Status::unsupported;
  verdict.note = reason;
  return verdict;
}

Theory theory_of(const Kernel& kernel, const DeviceFacts& facts) {
  if (kernel.role == Role::memory && kernel.level == Level::dram)
    return {.rate = facts.memory_bytes_per_s};
  const auto per_cycle = theory_per_cycle(kernel, facts.architecture);
  if (!per_cycle) return {};
  return {.per_hz = *per_cycle * facts.multiprocessors};
}

// A clock below the mode's own is throttling, however steady it is; where nobody knows the mode's,
// the driver's word counts.
void compare_with_cap(Verdict& verdict, std::optional<double> cap_hz, std::uint64_t reasons) {
  const std::string held = throttle_text(reasons);
  const double share = cap_hz && verdict.clock_hz ? verdict.clock_hz->value / *cap_hz : 1;
  const bool below = share < throttled_below_cap;
  if (!below && held.empty()) return;
  if ((below || !cap_hz) && verdict.status == Status::ok) verdict.status = Status::throttled;
  if (!verdict.note.empty()) verdict.note += "; ";
  if (below) verdict.note += "ran at " + format_percent(share) + " of the mode's clock";
  if (!held.empty())
    verdict.note +=
        (below ? ", which the driver held down (" : "the driver held the clock down (") + held +
        ")";
}

void add_row(ProfileMode& mode, const PlannedTrial& trial, const Kernel& kernel,
             const Verdict& verdict, const DeviceFacts& facts, std::uint64_t set_bytes) {
  const std::string isa = fmt::format("sm_{}", facts.architecture);
  // A rate of another instruction is of no kernel: its row has the name that the plan gives it.
  const std::string name = trial.instruction.empty() ? std::string(kernel.name) : trial.name();
  const int threads = facts.multiprocessors;
  switch (trial.role) {
    case Role::compute:
      mode.compute.push_back({Processor::gpu, name, kernel.unit, kernel.dtype, kernel.accumulate,
                              isa, threads, verdict.status, verdict.note, verdict.rate,
                              verdict.theory, verdict.clock_hz, kernel.sparse});
      break;
    case Role::memory:
      mode.memory.push_back(
          {Processor::gpu, name, kernel.level, kernel.direction, isa, threads, verdict.status,
           verdict.note, verdict.rate, verdict.theory, verdict.clock_hz, set_bytes,
           kernel.level == Level::dram ? std::string(to_string(trial.memory)) : std::string()});
      break;
    case Role::sweep: {
      const double flop_per_byte = kernel.flop_per_trip() / kernel.bytes_per_trip();
      mode.sweep.push_back({Processor::gpu, name, kernel.dtype, threads, kernel.fma_per_element,
                            flop_per_byte, verdict.status, verdict.note,
                            scaled(verdict.rate, flop_per_byte), verdict.rate, set_bytes});
      break;
    }
    case Role::launch:
      mode.launch.push_back({Processor::gpu, trial.name(), 1, verdict.status, verdict.note,
                             verdict.rate, verdict.clock_hz});  // seconds, not a rate
      break;
    case Role::transfer:
      mode.transfer.push_back({Processor::gpu, std::string(to_string(trial.transfer.kind)),
                               std::string(trial.transfer.host_memory()), set_bytes, verdict.status,
                               verdict.note, verdict.rate});
      break;
  }
}

// The clock of the verdict is that of the core that launched.
Verdict launch_verdict(Gpu& gpu, const PlannedTrial& trial, const MeasureOptions& options,
                       const std::function<double()>& host_clock_hz, const SamplerWorld& world,
                       bool& lost) {
  if (!trial.missing.empty()) return unsupported(trial.missing);
  try {
    std::vector<double> clocks;
    const auto probe_clock = [&] {
      const double hz = host_clock_hz ? host_clock_hz() : 0;
      if (hz > 0) clocks.push_back(hz);
    };
    Verdict verdict;
    verdict.rate = median_estimate(
        probe_launch(gpu, trial.kernel(), trial.launch, options.quick, world.now_s, probe_clock),
        Source::measured);
    if (!clocks.empty()) verdict.clock_hz = median_estimate(clocks, Source::measured);
    return verdict;
  } catch (const GpuError& error) {
    lost = lost || error.kind() == GpuError::Kind::lost;
    return unsupported(std::string("failed: ") + error.what());
  }
}

double total_budget_s(const MeasureOptions& options, bool power) {
  if (options.budget_s > 0) return options.budget_s;
  if (power) return options.quick ? quick_power_budget_s : full_power_budget_s;
  return options.quick ? quick_budget_s : full_budget_s;
}

// The trials that can run, each of which asks afterwards what held the clock down.
std::vector<Trial> watched(const std::vector<Trial>& trials,
                           const std::function<std::uint64_t()>& throttle_reasons,
                           std::vector<std::uint64_t>& seen) {
  std::vector<Trial> runnable;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].run) continue;
    Trial trial = trials[i];
    if (throttle_reasons)
      trial.run = [run = trials[i].run, &throttle_reasons, &bits = seen[i]] {
        const Reading reading = run();
        bits |= throttle_reasons();
        return reading;
      };
    runnable.push_back(std::move(trial));
  }
  return runnable;
}

bool has_power(const PlannedTrial& trial) {
  return trial.role == Role::sweep && trial.missing.empty();
}

void measure_power(ProfileMode& mode, const std::vector<PlannedTrial>& plan, Bench& bench,
                   PowerSweep& power) {
  if (power.seconds() == 0) return;
  for (std::size_t i = 0; i < plan.size() && !bench.lost(); ++i) {
    if (!has_power(plan[i])) continue;
    const auto row = std::ranges::find(mode.sweep, plan[i].name(), &SweepRow::kernel);
    if (row == mode.sweep.end() || !row->bytes_per_s) continue;
    bench.guard(i, [&] { power.measure_row(*row, long_run(bench, i), mode.conditions); });
  }
  if (!bench.lost()) power.measure_idle(mode);
}

void warn_of_code(Gpu& gpu, const std::vector<PlannedTrial>& plan,
                  MeasuringConditions& conditions) {
  const bool from_ptx = std::ranges::any_of(plan, [&](const PlannedTrial& trial) {
    return trial.missing.empty() && gpu.support(trial.kernel()).from_ptx;
  });
  if (from_ptx)
    conditions.warnings.push_back(
        {fmt::format("this build has no machine code for sm_{}: the driver compiled the kernels, "
                     "which nobody has proved",
                     gpu.facts().architecture),
         fmt::format("build with RIDGELINE_CUDA_ARCHITECTURES={}", gpu.facts().architecture)});
}

}  // namespace

ProfileMode measure(Gpu& gpu, const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
                    const Instruments& instruments, const SamplerWorld& world) {
  const double start = world.now_s();
  const double total_s = total_budget_s(options, instruments.power != nullptr);
  ProfileMode mode;
  mode.conditions.started = utc_now();
  world.progress(0, total_s);  // before the first kernel: tuning takes a while
  warn_of_code(gpu, plan, mode.conditions);
  const auto points = std::ranges::count_if(plan, has_power);
  PowerSweep power(instruments.power, static_cast<int>(points), options.quick, total_s,
                   mode.conditions);
  const double budget_s = total_s - power.seconds();
  power.measure_idle(mode);

  const double rates_start = world.now_s();
  Bench bench(gpu, plan, options, world, tuning_share * budget_s);
  SamplerWorld part = part_of_run(world, start, total_s);
  // A device that is lost ends the run as an interruption does: with what there is.
  part.interrupted = [&] { return world.interrupted() || bench.lost(); };

  const std::vector<Trial> all = bench.trials();
  std::vector<std::uint64_t> reasons(all.size());
  const std::vector<Trial> runnable = watched(all, instruments.throttle_reasons, reasons);
  Sampling sampling;
  if (!runnable.empty()) {
    SamplerOptions sampler;
    sampler.budget_s = std::max(0.95 * budget_s - (world.now_s() - rates_start), budget_s / 2);
    sampling = sample(runnable, sampler, part);
    mode.conditions.rounds = sampling.rounds;
    add_sampling(mode.conditions, sampling);
    if (sampling.left_out > 0) {
      mode.conditions.rows.left_out += sampling.left_out;
      mode.conditions.warnings.push_back(
          {fmt::format("the time was too short for the last {} of {} rows", sampling.left_out,
                       runnable.size()),
           fmt::format("--budget {:.0f}s",
                       total_budget_s({.quick = options.quick}, instruments.power != nullptr))});
    }
  }
  bool lost = bench.lost();

  RowCounts counts;
  std::size_t next = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Kernel& kernel = bench.setup(i).kernel ? *bench.setup(i).kernel : plan[i].kernel();
    SampleSeries series = all[i].run ? sampling.series[next++] : SampleSeries{};
    std::erase_if(series.rates, [](double rate) { return rate <= 0; });  // of failed readings
    if (plan[i].role == Role::launch) {
      if (lost || world.interrupted()) continue;
      add_row(mode, plan[i], kernel,
              launch_verdict(gpu, plan[i], options, instruments.host_clock_hz, world, lost),
              gpu.facts(), 0);
      continue;
    }
    Verdict verdict;
    if (!plan[i].missing.empty()) {
      verdict = unsupported(plan[i].missing);
    } else if (!bench.failure(i).empty() && series.rates.empty()) {
      verdict = unsupported("failed: " + bench.failure(i));
    } else {
      verdict =
          judge(series, plan[i].role == Role::transfer ? Theory{} : theory_of(kernel, gpu.facts()));
      if (!verdict.rate) continue;  // interrupted or short of time before its first reading
      compare_with_cap(verdict, instruments.cap_hz, reasons[i]);
      counts.add(verdict);
    }
    add_row(mode, plan[i], kernel, verdict, gpu.facts(),
            plan[i].role == Role::transfer ? bench.transfer_bytes() : bench.setup(i).set_bytes);
  }
  if (!lost) measure_power(mode, plan, bench, power);
  lost = lost || bench.lost();
  if (lost) {
    mode.conditions.complete = false;
    std::string reason = "the GPU does not answer any more";
    for (std::size_t i = 0; i < plan.size(); ++i)
      if (!bench.failure(i).empty()) reason = bench.failure(i);
    mode.conditions.warnings.push_back(
        {"the GPU was lost during the run: " + reason, "see dmesg for the driver's own report"});
  }
  for (const Warning& warning : bench.warnings()) mode.conditions.warnings.push_back(warning);
  if (world.interrupted()) mode.conditions.complete = false;
  mode.conditions.duration_s = world.now_s() - start;
  counts.warn(mode.conditions);
  return mode;
}

}  // namespace ridgeline::cuda
