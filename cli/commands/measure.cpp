// `ridgeline measure`: run the kernels on this machine and keep the result as a profile.
// Options → plan → measure → table; the work itself is in kernels/.
#include "kernels/cpu/measure.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <ostream>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/profile_store.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/commands/measure_list.h"
#include "cli/commands/verify_counters.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/requests/measure_input.h"
#include "cli/version.h"
#include "devices/machine/this_machine.h"
#include "devices/modes/present_mode.h"
#include "kernels/cpu/isa.h"
#include "kernels/cuda/gpu_here.h"
#include "kernels/cuda/measure.h"
#include "kernels/instruments.h"
#include "kernels/load_watch.h"
#include "kernels/repeatability.h"
#include "kernels/run_verdict.h"
#include "kernels/steady_clock.h"
#include "report/profile.h"
#include "report/targets.h"
#include "roofline/ceilings/measured_energy.h"

namespace ridgeline::cli {
namespace {

void declare_measure(OptionsDescription& options) {
  options.add_flag("gpu", "measure the CUDA device instead of the CPU");
  options.add_flag("quick", "at most a minute, one precision along the roof");
  options.add_text(
      "budget", "TIME",
      "time for the run, for example 90s (default: 50s with --quick, else 200s; of a GPU 35s and "
      "200s, where power can be read 42s and 270s)");
  options.add_text(
      "only", "WORDS",
      "measure only what matches one of these words: dtypes, memory levels, directions, sections, "
      "instruction sets, kernels; for example fp32,dram; storage and decode, what feeds a "
      "training, run only where they are named here");
  options.add_text("threads", "LIST", "thread counts, for example 1,2 (default: 1 and all cores)");
  options.add_flag(
      "verify-counters",
      "instead of rates: declared FLOP and bytes of each GPU kernel beside the GPU's own counters");
  options.add_flag(
      "check-targets",
      "hold the rates against targets: shares of what clock, width and bus allow; exit code 3 "
      "where one is missed");
  options.add_flag("list", "list what would be measured, and what cannot run here");
  options.add_text("output,o", "FILE",
                   "write the profile to FILE as well as to the per-user store");
  add_input_options(options);
}

// What both backends have in common.
template <class MeasureOptions>
void parse_common(const Options& options, const MeasureWords& words, MeasureOptions& result) {
  result.quick = flag(options, "quick");
  result.budget_s = part_budget_s(options, words);
  result.only = words.kernels;
}

cpu::MeasureOptions parse_cpu(const Options& options, const MeasureWords& words) {
  cpu::MeasureOptions result;
  parse_common(options, words, result);
  result.available_bytes = available_memory_bytes();
  if (options.has("threads")) {
    for (const std::string& word : split_words(options.text("threads")))
      result.threads.push_back(static_cast<int>(
          std::min<std::uint64_t>(parse_count(word, "--threads " + word), 1u << 30)));
    if (result.threads.empty()) throw usage_error("--threads", "needs a number");
  }
  return result;
}

cuda::MeasureOptions parse_gpu(const Options& options, const MeasureWords& words) {
  if (options.has("threads"))
    throw usage_error("--threads", "is for the CPU", "a GPU is measured with all of its threads");
  cuda::MeasureOptions result;
  parse_common(options, words, result);
  return result;
}

std::string impossible_rows(const ProfileMode& mode) {
  std::string names;
  const auto add = [&](const auto& row) {
    if (row.status == Status::impossible) names += (names.empty() ? "" : ", ") + row.kernel;
  };
  std::ranges::for_each(mode.compute, add);
  std::ranges::for_each(mode.memory, add);
  return names;
}

// A run that is not like the last one of its kind says so.
void compare_with_last(Profile& profile, Shelf shelf, const Console& console) {
  try {
    if (const auto newest = newest_profile_path(shelf))
      warn_of_differences(load_profile(*newest), profile);
  } catch (const Error& error) {
    console.talk(std::string("the last profile is not compared: ") + error.what());
  }
}

bool has_rates(const ProfileMode& mode) {
  const auto measured = [](const auto& row) { return row.status != Status::unsupported; };
  return std::ranges::any_of(mode.storage, measured) ||
         std::ranges::any_of(mode.decode, measured) ||
         std::ranges::any_of(mode.compute, measured) ||
         std::ranges::any_of(mode.memory, measured) || !mode.sweep.empty() ||
         !mode.latency.empty() || !mode.launch.empty() || !mode.transfer.empty();
}

void print_profile(const Profile& profile, const Options& options, Console& console) {
  if (flag(options, "json")) {
    console.out << dump_json(to_json(profile));
  } else if (flag(options, "csv")) {
    console.out << profile_csv(profile);
    // The table has no place for them.
    for (const ProfileMode& mode : profile.modes)
      console.talk(verdict_text(mode.conditions, console.width) +
                   conditions_text(mode.conditions, console.width));
  } else {
    console.out << profile_text(profile, console.width);
  }
}

void print_targets(const TargetCheck& check, const Options& options, Console& console) {
  if (flag(options, "json"))
    console.out << dump_json(to_json(check));
  else if (flag(options, "csv"))
    console.out << render_csv(target_table(check));
  else
    console.out << "\n" << target_text(check, console.width);
  if (flag(options, "gpu")) return;
  const std::string no_gpu = cuda::why_no_gpu();
  console.talk(no_gpu.empty() ? "the GPU's targets: ridgeline measure --gpu --check-targets"
                              : "the GPU's targets are not checked: no CUDA device: " + no_gpu);
}

// A backend as the command sees it: what it plans, and how it measures that.
struct Backend {
  std::vector<ListedTrial> plan;
  std::function<ProfileMode(const SamplerWorld&)> measure;
  bool all = true;  // whether nothing was left out of the plan
  std::vector<MachineGpu> gpus = {};
};

// Energy per FLOP and byte where power was read, or why it was not.
void conclude(const MeasureInstruments& instruments, ProfileMode& mode) {
  if (const auto sensor = instruments.sensor_name()) mode.energy = fitted_energy(mode, *sensor);
  instruments.note_missing_power(mode);
}

Backend cpu_backend(const cpu::MeasureOptions& wanted, const Topology& topology) {
  const auto plan = cpu::plan(wanted, topology);
  Backend backend;
  for (const auto& trial : plan)
    backend.plan.push_back({std::string(to_string(trial.section)), trial.name(), trial.what(),
                            trial.threads, trial.missing});
  backend.all = wanted.only.empty() && wanted.threads.empty();
  backend.measure = [=](const SamplerWorld& world) {
    MeasureInstruments instruments(world);
    ProfileMode mode = cpu::measure(plan, wanted, topology, identify_microarchitecture(), world,
                                    instruments.power());
    conclude(instruments, mode);
    return mode;
  };
  return backend;
}

// Clocks that the mode allows; the driver's own word counts where it is right.
std::optional<double> gpu_cap_hz(const cuda::DeviceFacts& facts) {
  const OperatingPoint mode = present_mode({});
  if (mode.gpu_hz) return mode.gpu_hz;
  return facts.integrated ? std::nullopt : facts.max_clock_hz;
}

Backend gpu_backend(const Options& options, const MeasureWords& words) {
  const cuda::MeasureOptions wanted = parse_gpu(options, words);
  const std::string reason = cuda::why_no_gpu();
  Backend backend;
  // Without a device there is still a plan to look at.
  std::shared_ptr<cuda::Gpu> gpu;
  if (reason.empty() || !flag(options, "list")) gpu = cuda::open_gpu_here();
  if (gpu) backend.gpus.push_back(cuda::machine_gpu(gpu->facts()));
  const auto plan =
      cuda::plan(wanted, gpu ? gpu->facts() : cuda::DeviceFacts{}, [&](const cuda::Kernel& kernel) {
        return gpu ? gpu->support(kernel) : cuda::CodeSupport{"no CUDA device: " + reason, false};
      });
  for (const auto& trial : plan)
    backend.plan.push_back({std::string(to_string(trial.role)), trial.name(), trial.what(),
                            gpu ? gpu->facts().multiprocessors : 1, trial.missing});
  backend.all = wanted.only.empty();
  backend.measure = [=](const SamplerWorld& world) {
    MeasureInstruments instruments(world, gpu->facts(), gpu_cap_hz(gpu->facts()));
    ProfileMode mode = cuda::measure(*gpu, plan, wanted, instruments.gpu(), world);
    conclude(instruments, mode);
    for (Warning& warning : cuda::sharing_warnings(gpu->facts(), std::getenv))
      mode.conditions.warnings.push_back(std::move(warning));
    return mode;
  };
  return backend;
}

// Where --only asks for no kernel.
Backend no_backend() {
  Backend backend;
  backend.all = false;
  backend.measure = [](const SamplerWorld&) { return ProfileMode{}; };
  return backend;
}

Shelf shelf_of(const MeasureWords& words, bool gpu, bool whole) {
  if (!words.any_kernel()) return Shelf::input;
  if (!whole) return Shelf::partial;
  return gpu ? Shelf::gpu : Shelf::whole;
}

ExitCode run_measure(const Options& options, Console& console) {
  const Topology topology = read_topology();
  const MeasureWords words = measure_words(options);
  if (flag(options, "verify-counters"))
    return verify_counters_here(parse_gpu(options, words), options, console);
  const bool gpu = flag(options, "gpu");
  const cpu::MeasureOptions cpu_options = gpu ? cpu::MeasureOptions{} : parse_cpu(options, words);
  const std::vector<int> threads = cpu::thread_counts(cpu_options, topology);
  const input::MeasureOptions input_options = parse_input(options, words, threads);
  const Backend backend = !words.any_kernel() ? no_backend()
                          : gpu               ? gpu_backend(options, words)
                                              : cpu_backend(cpu_options, topology);
  if (flag(options, "list")) {
    auto plan = backend.plan;
    std::ranges::copy(list_input(input_options, words, threads), std::back_inserter(plan));
    return list_trials(plan, options, console);
  }
  const std::string output = options.has("output") ? options.text("output") : std::string();
  if (options.has("output") && output.empty()) throw usage_error("--output", "needs a file name");
  // A place that cannot be written is found out before the minutes are spent, not after.
  if (!output.empty()) check_file_can_be_written(output);
  check_profile_store();
  if (input_options.storage) input::check_folder(*input_options.storage);

  Profile profile;
  profile.tool = std::string(tool_name());
  profile.machine = identify_machine();
  profile.machine.isa = cpu::running_isas();
  profile.machine.gpus = backend.gpus;

  const InterruptGuard guard;
  ProgressLine progress(console, "measuring");
  LoadWatch watch(topology.cpus);
  const SamplerWorld world{steady_seconds, [&] { return watch.since_last(); },
                           [] { return InterruptGuard::interrupted(); },
                           [&](double done, double left_s) { progress.show(done, left_s); }};
  ProfileMode& mode = profile.modes.emplace_back(backend.measure(world));
  input::measure(input_options, topology, world, mode);
  progress.clear();
  mode.mode = present_mode({});
  warn_of_surroundings(watch.busiest_process(), cpu_quota(), topology.cores, mode.conditions);
  mode.conditions.verdict = judge_run(mode);
  const bool disturbed = !disturbance(mode.conditions).empty();
  if (disturbed) mark_sweep_above_roof(mode);
  const bool whole = mode.conditions.complete && mode.conditions.rows.left_out == 0 && backend.all;
  const Shelf shelf = shelf_of(words, gpu, whole);
  // Of a disturbed run every row differs from the last one's, which says nothing new.
  if (!disturbed) compare_with_last(profile, shelf, console);

  const bool check = flag(options, "check-targets");
  const TargetCheck targets = check ? check_targets(mode) : TargetCheck{};
  if (!check || !(flag(options, "json") || flag(options, "csv")))
    print_profile(profile, options, console);
  if (check) print_targets(targets, options, console);
  if (!output.empty()) {
    save_profile(profile, output);
    console.talk("profile: " + output);
  }
  const std::string impossible = impossible_rows(mode);
  // On a disturbed machine a probe of the clock that was interrupted explains such a reading.
  if (!impossible.empty() && !disturbed)
    throw Error("measure", "impossible reading above 102 % of theory: " + impossible,
                "measure again on a quiet machine; the rows are marked");
  if (has_rates(mode)) {
    const std::string path = store_profile(profile, shelf);
    console.talk(disturbed ? "stored apart, as the machine was disturbed: " + path +
                                 " (to use it anyway: ridgeline roofline " + path + ")"
                           : "stored: " + path);
  }
  if (disturbed || !mode.conditions.complete || (check && targets.targets.empty()))
    return ExitCode::incomplete;
  return targets.met() ? ExitCode::ok : ExitCode::infeasible;
}

}  // namespace

Command measure_command() {
  return {.name = "measure",
          .summary = "run the kernels on this machine and keep the result as a profile",
          .positional = "",
          .max_positional = 0,
          .description =
              "Finds the peak FLOP/s per execution unit and dtype, the bandwidth per memory level "
              "and direction, points along the roof, load latency and the cost of fork and join. "
              "All kernels run in interleaved rounds; a value is the median with its 90 % "
              "interval. Rounds during which others used the CPU are set aside. Ctrl-C keeps what "
              "was measured, marked incomplete. The first line says whether the machine was quiet; "
              "a profile of a disturbed one is stored apart, is never the newest, and ends with "
              "exit code 4. On a quiet machine a reading above 102 % of what ports and clock "
              "allow is an error. Where --budget is too short for all rows, the least important "
              "ones are left out. --gpu measures the CUDA device in the same way: CUDA cores and "
              "tensor cores, DRAM, L2, L1 and shared memory, copies from and to the host, and what "
              "a launch costs. --only "
              "storage reads temporary files in --path past the page cache, --only decode times "
              "the decoding of JPEG images: what feeds a training pipeline.",
          .examples = {{"measure --quick", "measure this machine in a minute"},
                       {"measure -o profile.json", "the full run, also kept as profile.json"},
                       {"measure --only fp32,dram --threads 2", "a part of it"},
                       {"measure --gpu --quick", "the GPU of this machine"},
                       {"measure --gpu --check-targets", "is the GPU as fast as it should be?"},
                       {"measure --only storage,decode --path /data",
                        "how fast samples in /data are read and decoded"},
                       {"measure --list", "what would be measured"}},
          .add_options = declare_measure,
          .run = run_measure};
}

}  // namespace ridgeline::cli
