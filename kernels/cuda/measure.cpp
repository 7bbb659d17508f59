// From plan to rows: tune, sample everything that can run, judge each series, probe launch costs.
// Kernels that cannot run or that failed become `unsupported` rows with the reason.
#include "kernels/cuda/measure.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "base/statistics.h"
#include "base/units.h"
#include "devices/sensors/nvml.h"
#include "kernels/cuda/bench.h"
#include "kernels/cuda/surroundings.h"
#include "kernels/cuda/sustain.h"
#include "kernels/cuda/theory.h"
#include "kernels/power_sweep.h"
#include "kernels/record.h"
#include "kernels/verdict.h"

namespace ridgeline::cuda {
namespace {

constexpr double quick_budget_s = 35, full_budget_s = 200;
constexpr double quick_power_budget_s = 42, full_power_budget_s = 270;  // with power
// Of the budget, at most. A pass through 160 times a large L2 takes tens of milliseconds on a
// Jetson, in quick runs too.
constexpr double tuning_share = 0.3, quick_tuning_share = 0.5;
// Held peaks take at most this share of a run. Less than a second would be another burst.
constexpr double usual_sustain_s = 5, sustain_share = 0.3, least_sustain_s = 1;
// Half of the sampler's own: rounds of a GPU are short, and its rows are to be right within 1 %.
constexpr double good_half_width = 0.001;

Verdict unsupported(const std::string& reason) {
  Verdict verdict;
  verdict.status = Status::unsupported;
  verdict.note = reason;
  return verdict;
}

// A clock below the mode's own is throttling, however steady it is; if the mode's is unknown, the
// driver's report counts.
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

void add_note(Verdict& verdict, const std::string& text) {
  if (text.empty()) return;
  verdict.note += verdict.note.empty() ? text : "; " + text;
}

// What L2 may serve of a set in DRAM, where memory was too short for a larger one.
std::string small_set_note(const Setup& setup, const DeviceFacts& facts) {
  if (!setup.kernel || !setup.dram() || setup.set_bytes >= enough_dram_l2 * facts.l2_bytes)
    return {};
  return fmt::format(
      "small set: up to {} may come from L2",
      format_percent(static_cast<double>(facts.l2_bytes) / static_cast<double>(setup.set_bytes)));
}

// Rows that the time was too short to tune say so themselves; this is what to do about it.
void warn_of_tuning(const std::vector<PlannedTrial>& plan, const Bench& bench, double budget_s,
                    MeasuringConditions& conditions) {
  int cut_short = 0;
  for (std::size_t i = 0; i < plan.size(); ++i)
    cut_short += bench.setup(i).kernel && bench.tuning(i).cut_short();
  conditions.rows.cut_short += cut_short;
  if (cut_short > 0)
    conditions.warnings.push_back(
        {fmt::format("the time was too short to find the best launch shape of {} kernel{}",
                     cut_short, cut_short == 1 ? "" : "s"),
         fmt::format("--budget {:.0f}s", 2 * budget_s)});
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
      mode.compute.back().roof =
          !kernel.fed && faster_instruction(kernel, facts.architecture).empty();
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
    case Role::latency:
      mode.latency.push_back({Processor::gpu, name, level_of(trial.chain, facts),
                              trial.chain.bytes(), verdict.status, verdict.note,
                              inverse(verdict.rate)});
      break;
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

constexpr Grid one_warp{1, 32};
constexpr int round_trips_between = 50;

// Keeps the calling thread where it is: cores of a machine may differ in clock and kind.
class OneCore {
 public:
  OneCore() {
    const int core = sched_getcpu();
    if (core < 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(core), &one);
    bound_ = sched_setaffinity(0, sizeof one, &one) == 0;
  }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;
  ~OneCore() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool bound_ = false;
};

double round_trip(Gpu& gpu, const Kernel& empty, const std::function<double()>& now_s) {
  const double start = now_s();
  gpu.launch(empty, one_warp, {});
  gpu.synchronize();
  return now_s() - start;
}

double slope(Gpu& gpu, int most, const std::function<void(int)>& start_all,
             const std::function<double()>& now_s) {
  std::vector<double> counts, times;
  for (int n = 1; n <= most; n *= 2) {
    const double start = now_s();
    start_all(n);
    gpu.synchronize();
    counts.push_back(n);
    times.push_back(now_s() - start);
  }
  return theil_sen(counts, times).slope;
}

// A graph is made before it is timed, so that each size needs its own repetitions.
double graph_slope(Gpu& gpu, const Kernel& empty, int most, const std::function<double()>& now_s) {
  std::vector<double> counts, times;
  for (int n = 16; n <= most; n *= 4) {
    gpu.capture(empty, one_warp, {}, n);
    gpu.replay();  // the first one uploads
    gpu.synchronize();
    const double start = now_s();
    gpu.replay();
    gpu.synchronize();
    counts.push_back(n);
    times.push_back(now_s() - start);
  }
  return theil_sen(counts, times).slope;
}

// What it costs to launch: the host's time for an empty kernel, three ways. A line through
// n = 1 … 4096 launches separates the cost of one launch from the cost of waiting. Repetitions run
// through all n once, so that a slow change of the host affects all alike; the slope of each
// repetition's Theil–Sen line is one value, in seconds per launch. The thread stays on its core;
// `between` is called now and then, on the same core, while nothing is timed.
std::vector<double> probe_launch(Gpu& gpu, const Kernel& empty, LaunchKind kind, bool quick,
                                 const std::function<double()>& now_s,
                                 const std::function<void()>& between) {
  const OneCore one_core;
  const int repetitions = kind == LaunchKind::round_trip ? (quick ? 200 : 1000) : (quick ? 7 : 21);
  round_trip(gpu, empty, now_s);  // the first launch loads the code
  std::vector<double> values;
  for (int i = 0; i < repetitions; ++i) {
    if (between && (kind != LaunchKind::round_trip || i % round_trips_between == 0)) between();
    switch (kind) {
      case LaunchKind::round_trip:
        values.push_back(round_trip(gpu, empty, now_s));
        break;
      case LaunchKind::async_launch:
        values.push_back(slope(
            gpu, 4096,
            [&](int n) {
              for (int k = 0; k < n; ++k) gpu.launch(empty, one_warp, {});
            },
            now_s));
        break;
      case LaunchKind::graph_node:
        values.push_back(graph_slope(gpu, empty, 1024, now_s));
        break;
    }
  }
  return values;
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

// The trials that can run; each reads afterwards what held the clock down.
std::vector<Trial> watched(const std::vector<Trial>& trials,
                           const std::function<std::uint64_t()>& throttle_reasons,
                           std::vector<std::uint64_t>& seen, Surroundings& surroundings) {
  std::vector<Trial> runnable;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].run) continue;
    Trial trial = trials[i];
    trial.run = [run = trials[i].run, &throttle_reasons, &bits = seen[i], &surroundings] {
      const Reading reading = run();
      if (throttle_reasons) bits |= throttle_reasons();
      surroundings.look();
      return reading;
    };
    runnable.push_back(std::move(trial));
  }
  return runnable;
}

// Seconds for all held peaks together, before it is known which rows are peaks: one per arithmetic
// and two of DRAM.
double time_to_sustain(const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
                       double total_s) {
  const double each_s = options.sustain_s.value_or(options.quick ? 0 : usual_sustain_s);
  if (each_s <= 0) return 0;
  std::set<std::pair<Unit, DType>> arithmetic;
  bool dram = false;
  for (const PlannedTrial& trial : plan) {
    if (!trial.missing.empty()) continue;
    if (trial.role == Role::compute && !trial.kernel().sparse)
      arithmetic.insert({trial.kernel().unit, trial.kernel().dtype});
    dram = dram || (trial.role == Role::memory && trial.kernel().level == Level::dram);
  }
  const double peaks = static_cast<double>(arithmetic.size()) + (dram ? 2 : 0);
  const double wanted_s = each_s * peaks;
  // Whoever asks for a time gets it, unless the budget is given too.
  if (options.sustain_s && options.budget_s <= 0) return wanted_s;
  const double most_s = sustain_share * total_s;
  return std::min(wanted_s, most_s) < least_sustain_s * peaks && wanted_s > most_s
             ? 0
             : std::min(wanted_s, most_s);
}

// Launches of some tens of milliseconds, one after the other, while the sensor is read. Their
// lengths differ at random, so that they do not fall in step with a period of the sensor.
constexpr double burst_s = 0.04, shortest = 0.7, longest = 1.3;

// Bursts of a trial that return their work: bytes, or FLOP of arithmetic. The bench must outlive
// them.
PowerMeter::Burst long_run(Bench& bench, std::size_t index, std::uint64_t l2_bytes) {
  constexpr std::uint64_t least_l2 = 16, least_part = std::uint64_t{16} << 20;
  Setup tuned = bench.setup(index);
  const double once_s = bench.run(index, tuned, {}).seconds;
  double repeats = tuned.repeats * burst_s / std::max(once_s, 1e-6);
  if (tuned.walks() && repeats < 1) {
    // A pass takes longer than a burst: a part of the set, still far beyond L2, is enough.
    const auto whole = static_cast<double>(tuned.set_bytes);
    const auto part = static_cast<std::uint64_t>(repeats * whole);
    tuned.set_bytes = std::min(
        tuned.set_bytes, std::max({part, least_l2 * l2_bytes, least_part, tuned.least_bytes()}));
    repeats *= whole / static_cast<double>(tuned.set_bytes);
  }
  return [&bench, index, tuned, repeats,
          random = Random{5}](const std::function<void()>& look) mutable {
    const double length = shortest + (longest - shortest) * random.unit();
    Setup setup = tuned;
    setup.repeats = static_cast<std::uint32_t>(std::clamp(length * repeats, 1.0, 1e9));
    bench.run(index, setup, look);
    return setup.work();
  };
}

// Arithmetic alone beside the sweep of the same data type: where memory is so slow that it limits
// every point of the sweep, only this tells constant power from that of traffic.
bool is_power_peak(const PlannedTrial& trial) {
  return trial.role == Role::compute && trial.missing.empty() && trial.instruction.empty() &&
         trial.kernel().unit == Unit::vector && trial.kernel().dtype == DType::fp32 &&
         trial.kernel().accumulate == DType::fp32;
}

bool has_power(const PlannedTrial& trial) {
  return trial.role == Role::sweep && trial.missing.empty();
}

int power_points(const std::vector<PlannedTrial>& plan) {
  const auto points = std::ranges::count_if(plan, has_power);
  if (points == 0) return 0;
  return static_cast<int>(points + std::ranges::count_if(plan, is_power_peak));
}

void measure_power(ProfileMode& mode, const std::vector<PlannedTrial>& plan, Bench& bench,
                   PowerSweep& power, std::uint64_t l2_bytes) {
  if (power.seconds() == 0) return;
  for (std::size_t i = 0; i < plan.size() && !bench.lost(); ++i) {
    if (!has_power(plan[i])) continue;
    const auto row = std::ranges::find(mode.sweep, plan[i].name(), &SweepRow::kernel);
    if (row == mode.sweep.end() || !row->bytes_per_s) continue;
    bench.guard(i, [&] { power.measure_row(*row, long_run(bench, i, l2_bytes), mode); });
  }
  // After the sweep, whose last point draws nearly as much: little is left of a change in between.
  for (std::size_t i = 0; i < plan.size() && !bench.lost(); ++i) {
    if (!is_power_peak(plan[i]) || !bench.setup(i).kernel) continue;
    const auto row =
        std::ranges::find(mode.compute, bench.setup(i).kernel->name, &ComputeRow::kernel);
    if (row == mode.compute.end() || !row->flops_per_s) continue;
    bench.guard(i, [&] { power.measure_row(*row, long_run(bench, i, l2_bytes), mode); });
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
  const bool free_of_budget = options.sustain_s && options.budget_s <= 0;
  double total_s = total_budget_s(options, instruments.power != nullptr);
  const double sustain_s = time_to_sustain(plan, options, total_s);
  if (free_of_budget) total_s += sustain_s;
  ProfileMode mode;
  mode.conditions.started = utc_now();
  Surroundings surroundings(instruments.look);
  world.progress(0, total_s);  // before the first kernel: tuning takes a while
  warn_of_code(gpu, plan, mode.conditions);
  PowerSweep power(instruments.power, power_points(plan), options.quick, total_s, mode.conditions,
                   instruments.clocks_held);
  const double budget_s = total_s - power.seconds() - sustain_s;
  power.measure_idle(mode);

  const double rates_start = world.now_s();
  Bench bench(gpu, plan, options, world,
              (options.quick ? quick_tuning_share : tuning_share) * budget_s);
  SamplerWorld part = part_of_run(world, start, total_s);
  // A device that is lost ends the run as an interruption does: with what there is.
  part.interrupted = [&] { return world.interrupted() || bench.lost(); };

  const std::vector<Trial> all = bench.trials();
  std::vector<std::uint64_t> reasons(all.size());
  const std::vector<Trial> runnable =
      watched(all, instruments.throttle_reasons, reasons, surroundings);
  Sampling sampling;
  if (!runnable.empty()) {
    SamplerOptions sampler;
    sampler.good_half_width = good_half_width;
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
  std::vector<SustainedRow> held;
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
      if (plan[i].role != Role::transfer) {
        add_note(verdict, bench.tuning(i).note());
        add_note(verdict, small_set_note(bench.setup(i), gpu.facts()));
      }
      counts.add(verdict);
    }
    add_row(mode, plan[i], kernel, verdict, gpu.facts(),
            plan[i].role == Role::transfer ? bench.transfer_bytes() : bench.setup(i).set_bytes);
    if (plan[i].role == Role::compute) held.push_back({i, true, mode.compute.size() - 1});
    if (plan[i].role == Role::memory) held.push_back({i, false, mode.memory.size() - 1});
  }
  if (sustain_s > 0 && !lost) {
    const auto peaks = peaks_to_sustain(mode, held);
    sustain(mode, peaks, bench,
            std::min(sustain_s / static_cast<double>(std::max<std::size_t>(peaks.size(), 1)),
                     options.sustain_s.value_or(usual_sustain_s)),
            surroundings, part);
  }
  lost = lost || bench.lost();
  if (!lost) measure_power(mode, plan, bench, power, gpu.facts().l2_bytes);
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
  if (!world.interrupted()) warn_of_tuning(plan, bench, total_s, mode.conditions);
  if (world.interrupted()) mode.conditions.complete = false;
  surroundings.look();
  surroundings.record(mode.conditions);
  mode.conditions.duration_s = world.now_s() - start;
  counts.warn(mode.conditions);
  return mode;
}

}  // namespace ridgeline::cuda
