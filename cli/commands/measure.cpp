// `ridgeline measure`: run the kernels on this machine and keep the result as a profile.
// Parses, measures, writes; the work itself is in kernels/.
#include "cli/requests/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <ostream>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/profile_store.h"
#include "base/text_table.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/commands/measure_backend.h"
#include "cli/commands/version.h"
#include "devices/machine/this_machine.h"
#include "kernels/cpu/isa.h"
#include "kernels/cuda/gpu_here.h"
#include "kernels/input/jpeg.h"
#include "kernels/input/photo.h"
#include "kernels/repeatability.h"
#include "kernels/run_verdict.h"
#include "kernels/steady_clock.h"
#include "report/counters.h"
#include "report/profile.h"
#include "report/targets.h"

namespace ridgeline::cli {
namespace {

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

Shelf shelf_of(const MeasureRequest& request, bool whole) {
  if (!request.any_kernel()) return Shelf::input;
  if (!whole) return Shelf::partial;
  return request.gpu ? Shelf::gpu : Shelf::whole;
}

// What was asked for; without --only everything, with the reason why it does not run.
std::vector<ListedTrial> list_input(const input::MeasureOptions& wanted, bool everything,
                                    const std::vector<int>& threads) {
  std::vector<ListedTrial> rows;
  const std::string unasked = everything ? "runs only where --only names it" : "";
  if (wanted.storage || everything) {
    const std::uint64_t sample =
        wanted.storage ? wanted.storage->sample_bytes : input::default_sample_bytes;
    for (const int readers : input::reader_counts)
      rows.push_back({"storage", "sequential", "one long file", readers, unasked});
    for (const int readers : input::reader_counts)
      rows.push_back({"storage", "samples",
                      "files of " + format_si(static_cast<double>(sample), "B"), readers, unasked});
  }
  if (wanted.decode || everything)
    for (const int count : threads)
      rows.push_back({"decode", "jpeg",
                      fmt::format("{}x{} pixels", input::photo_width, input::photo_height), count,
                      input::why_no_jpeg().empty() ? unasked : input::why_no_jpeg()});
  return rows;
}

void list_trials(const std::vector<ListedTrial>& plan, const Options& options, Console& console) {
  const auto table = [&] {
    TextTable listed{{{"section"},
                      {"kernel"},
                      {"what"},
                      {"threads", Align::right},
                      {"cannot run because", Align::left, true}},
                     {}};
    for (const ListedTrial& trial : plan)
      listed.rows.push_back(
          {trial.section, trial.kernel, trial.what, std::to_string(trial.threads), trial.missing});
    return listed;
  };
  Answer answer;
  answer.text = [&](std::ostream& out) { out << render_text(table(), console.width); };
  answer.csv = [&](std::ostream& out) { out << render_csv(table()); };
  answer.json = [&](std::ostream& out) {
    Json rows = Json::array();
    for (const ListedTrial& trial : plan)
      rows.push_back({{"section", trial.section},
                      {"kernel", trial.kernel},
                      {"what", trial.what},
                      {"threads", trial.threads},
                      {"missing", trial.missing.empty() ? Json() : Json(trial.missing)}});
    out << dump_json({{"schema", "ridgeline.measure_plan/1"}, {"rows", rows}});
  };
  write_answer(answer, options, console);
}

// Declared work of each GPU kernel beside measured work. The profile store is not touched: nothing
// here is a rate.
ExitCode verify_counters_here(const MeasureRequest& request, const Options& options,
                              Console& console) {
  const std::shared_ptr<cuda::Gpu> gpu = cuda::open_gpu_here();
  if (const std::string reason = cuda::why_no_cupti(); !reason.empty()) throw Error({}, reason);
  const auto plan = cuda::plan(request.gpu_options(), gpu->facts(),
                               [&](const cuda::Kernel& kernel) { return gpu->support(kernel); });
  const InterruptGuard guard;
  ProgressLine progress(console, "counting");
  const double begin_s = steady_seconds();
  const cuda::Verification verification = verify_counters(
      *gpu, plan, cuda::ProfilerApi::newest, [] { return InterruptGuard::interrupted(); },
      [&](double done) {
        if (done > 0) progress.show(done, (steady_seconds() - begin_s) * (1 - done) / done);
      });
  progress.clear();
  Answer answer;
  answer.text = [&](std::ostream& out) { out << verification_text(verification, console.width); };
  answer.json = [&](std::ostream& out) {
    out << dump_json(verification_json(verification, gpu->facts()));
  };
  answer.csv = [&](std::ostream& out) { out << verification_csv(verification); };
  write_answer(answer, options, console);
  return judge_verification(verification);
}

// With --check-targets the targets stand below the text, and in place of the data.
void write_profile(const Profile& profile, const TargetCheck* targets, const Options& options,
                   Console& console) {
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << profile_text(profile, console.width);
    if (targets) out << "\n" << target_text(*targets, console.width);
  };
  answer.json = [&](std::ostream& out) {
    out << dump_json(targets ? to_json(*targets) : to_json(profile));
  };
  answer.csv = [&](std::ostream& out) {
    out << (targets ? render_csv(target_table(*targets)) : profile_csv(profile));
  };
  if (!targets)
    for (const ProfileMode& mode : profile.modes)
      answer.beside_csv.push_back(verdict_text(mode.conditions, console.width) +
                                  conditions_text(mode.conditions, console.width));
  write_answer(answer, options, console);
}

void remark_on_gpu_targets(const Console& console) {
  const std::string no_gpu = cuda::why_no_gpu();
  console.talk(no_gpu.empty() ? "the GPU's targets: ridgeline measure --gpu --check-targets"
                              : "the GPU's targets are not checked: no CUDA device: " + no_gpu);
}

ExitCode run_measure(const Options& options, Console& console) {
  const MeasureRequest request = measure_request(options);
  if (request.verify_counters) return verify_counters_here(request, options, console);
  if (!request.modes.empty()) return measure_modes(request, options, console);
  const Topology topology = read_topology();
  const cpu::MeasureOptions cpu_options =
      request.gpu ? cpu::MeasureOptions{} : request.cpu_options();
  const std::vector<int> threads = cpu::thread_counts(cpu_options, topology);
  const input::MeasureOptions input_options = request.input_options(threads);
  const Backend backend = measure_backend(request, topology);
  if (request.list) {
    auto plan = backend.plan;
    std::ranges::copy(list_input(input_options, request.everything, threads),
                      std::back_inserter(plan));
    list_trials(plan, options, console);
    return ExitCode::ok;
  }
  // A place that cannot be written is found out before the minutes are spent, not after.
  if (!request.output.empty()) check_file_can_be_written(request.output);
  const bool stores = request.output.empty() || has_profile_store();
  if (stores) check_profile_store();
  if (input_options.storage) input::check_folder(*input_options.storage);

  Profile profile;
  profile.tool = std::string(tool_name());
  profile.machine = identify_machine();
  profile.machine.isa = cpu::running_isas();
  profile.machine.gpus = backend.gpus;

  const InterruptGuard guard;
  ProfileMode& mode = profile.modes.emplace_back(
      measured_mode(backend, topology, "measuring", console,
                    [&](const SamplerWorld& world, ProfileMode& measured) {
                      input::measure(input_options, topology, world, measured);
                    }));
  const bool disturbed = !disturbance(mode.conditions).empty();
  if (disturbed) mark_sweep_above_roof(mode);
  const bool whole = mode.conditions.complete && mode.conditions.rows.left_out == 0 && backend.all;
  const Shelf shelf = shelf_of(request, whole);
  // In a disturbed run every row differs from the last profile; that is no news.
  if (!disturbed) compare_with_last(profile, shelf, console);

  const TargetCheck targets = request.check_targets ? check_targets(mode) : TargetCheck{};
  write_profile(profile, request.check_targets ? &targets : nullptr, options, console);
  if (request.check_targets && !request.gpu) remark_on_gpu_targets(console);
  if (!request.output.empty()) {
    save_profile(profile, request.output);
    console.talk("profile: " + request.output);
  }
  const std::string impossible = impossible_rows(mode);
  // On a disturbed machine a probe of the clock that was interrupted explains such a reading.
  if (!impossible.empty() && !disturbed)
    throw Error("measure", "impossible reading above 102 % of theory: " + impossible,
                "measure again on a quiet machine; the rows are marked");
  if (has_rates(mode) && stores) {
    const std::string path = store_profile(profile, shelf);
    console.talk(disturbed ? "stored apart, as the machine was disturbed: " + path +
                                 " (to use it anyway: ridgeline roofline " + path + ")"
                           : "stored: " + path);
  }
  if (disturbed || !mode.conditions.complete || (request.check_targets && targets.targets.empty()))
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
              "interval. Rounds disturbed by other processes are discarded. Ctrl-C keeps what was "
              "measured, marked incomplete. The first line reports whether the machine was quiet; "
              "a profile of a disturbed machine is stored apart, never counts as the newest, and "
              "the exit code is 4. On a quiet machine a reading above 102 % of what ports and "
              "clock allow is an error. If --budget is too short, the least important rows are "
              "left out. --gpu measures the CUDA device in the same way: CUDA cores and tensor "
              "cores, DRAM, L2, L1 and shared memory, copies from and to the host, and what a "
              "launch costs. --only storage reads temporary files in --path past the page cache, "
              "--only decode times the decoding of JPEG images: both feed a training pipeline. "
              "--modes measures one power mode after the other into one profile, in a shuffled "
              "order with clocks locked, and restores the machine at the end, after Ctrl-C and "
              "after a crash; CPU kernels use fewer cores by affinity alone.",
          .examples = {{"measure --quick", "measure this machine in a minute"},
                       {"measure -o profile.json", "the full run, also kept as profile.json"},
                       {"measure --only fp32,dram --threads 2", "only a part"},
                       {"measure --gpu --quick", "the GPU of this machine"},
                       {"measure --gpu --check-targets",
                        "check whether the GPU is as fast as it should be"},
                       {"measure --only storage,decode --path /data",
                        "how fast samples in /data are read and decoded"},
                       {"measure --modes grid:cores=all --quick", "every number of cores"},
                       {"measure --gpu --modes stock --resume", "every stock mode, as root"},
                       {"measure --list", "what would be measured"}},
          .add_options = add_measure_options,
          .run = run_measure};
}

}  // namespace ridgeline::cli
