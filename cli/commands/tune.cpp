// `ridgeline tune MODEL`: run a network with a few threads and batches until it is known which to
// use. Parses, runs, writes; what to run next is decided in validation/.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/profile.h"
#include "base/profile_store.h"
#include "base/statistics.h"
#include "base/text_file.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/measure_world.h"
#include "cli/requests/machine.h"
#include "cli/requests/network.h"
#include "cli/requests/values.h"
#include "devices/machine/identification.h"
#include "devices/machine/this_machine.h"
#include "devices/machine/topology.h"
#include "execution/network_run.h"
#include "execution/torch_backend.h"
#include "kernels/cpu/core_clock.h"
#include "kernels/instruments.h"
#include "kernels/load_watch.h"
#include "report/network_run.h"
#include "report/tuning.h"
#include "roofline/model/network_load.h"
#include "validation/calibration.h"
#include "validation/setting_draws.h"
#include "validation/tuning.h"
#include "workloads/network_variants.h"

namespace ridgeline::cli {
namespace {

constexpr double seconds_per_run = 5;
constexpr double usual_regret = 0.03;
// Runs of one machine differ from session to session by more than their own interval says.
constexpr double least_noise = 0.02;

void declare_tune(OptionsDescription& options) {
  add_network_options(options);
  options.add_flag("train", "tune one training step instead of inference");
  options.add_text("optimizer", "sgd|momentum|adam|adamw",
                   "optimizer, with --train (default: sgd)");
  options.add_text("threads", "LIST",
                   "threads to choose from, such as 1,2; default: those of the profile");
  options.add_text("until", "regret=N%",
                   "stop when the choice is expected to cost at most this much more than the best "
                   "setting; default: regret=3%");
  options.add_text("latency", "TIME", "time limit of one batch");
  options.add_text("seconds", "N", "time to spend on each run; default: 5");
  options.add_text("profile", "FILE",
                   "profile of this machine to start from; default: the newest one");
  options.add_text("table", "FILE", "add the runs to a measurement table");
  options.add_text("output,o", "FILE",
                   "write the model of this machine, fitted to the runs of the chosen threads");
}

struct TuneRequest {
  NetworkRequest network;
  std::optional<TrainingOptions> training;
  std::vector<int> threads;
  std::vector<std::int64_t> batches;
  TuningOptions tuning;
  double budget_s = seconds_per_run;  // of each run
  std::string profile;
};

// "regret=3%".
double regret_limit(const Options& options) {
  const auto text = options.word("until");
  if (!text) return usual_regret;
  const std::string where = as_typed("until", *text);
  constexpr std::string_view head = "regret=";
  if (!text->starts_with(head))
    throw usage_error(where, "is not a limit of the regret", "write for example regret=3%");
  return positive(percent(text->substr(head.size()), where), where);
}

// Counts that the profile has rates for: settings with others could not be predicted.
std::vector<int> profiled_threads(const Profile& profile) {
  std::set<int> counts;
  for (const ComputeRow& row : profile.modes.front().compute)
    if (row.processor == Processor::cpu) counts.insert(row.threads);
  return {counts.begin(), counts.end()};
}

std::vector<int> thread_counts(const Options& options, const Profile& profile,
                               const Topology& topology) {
  const int most = static_cast<int>(topology.cpus.size());
  std::vector<int> known = profiled_threads(profile);
  std::erase_if(known, [&](int count) { return count > most; });
  const auto text = options.word("threads");
  if (!text && !known.empty()) return known;
  if (!text)
    throw Error({}, "the profile has no rates of the CPU", "run 'ridgeline measure'",
                ExitCode::incomplete);
  std::set<int> counts;
  for (const std::string& word : list_of(*text, as_typed("threads", *text))) {
    const std::string where = as_typed("threads", *text);
    const std::int64_t count = dimension(word, where, 1);
    if (count > most)
      throw usage_error(
          where, fmt::format("{} is not from 1 to {}, the CPUs of this machine", count, most));
    if (std::find(known.begin(), known.end(), count) == known.end())
      throw usage_error(
          where,
          fmt::format("the profile has no rates of {} thread{}", count, count == 1 ? "" : "s"),
          fmt::format("run 'ridgeline measure --threads {}'", *text));
    counts.insert(static_cast<int>(count));
  }
  return {counts.begin(), counts.end()};
}

void check_dtype(const Options& options) {
  const auto text = options.word("dtype");
  if (!text) return;
  const std::string where = as_typed("dtype", *text);
  for (const std::string& word : list_of(*text, where))
    if (lenient_token<DType>(word) != DType::fp32)
      throw usage_error(where, quote(word) + " cannot be executed here, only fp32",
                        "leave --dtype out; 'ridgeline plan' predicts other types");
}

TuneRequest tune_request(const Options& options, const Topology& topology) {
  TuneRequest request;
  const std::string word = required_word(options, "'tune' needs a model", "tune resnet50");
  check_dtype(options);
  request.network = network_request_without_lists(options, word);
  if (!is_file(request.network)) request.network.dtype = DType::fp32;
  request.training = training_options(options);
  if (const auto text = options.word("batch")) {
    std::set<std::int64_t> batches;
    for (const std::string& each : list_of(*text, as_typed("batch", *text)))
      batches.insert(parse_batch(each));
    request.batches.assign(batches.begin(), batches.end());
  }
  request.tuning.regret = regret_limit(options);
  if (const auto text = options.word("latency"))
    request.tuning.goal.latency_s = seconds_of(*text, as_typed("latency", *text));
  if (const auto text = options.word("seconds"))
    request.budget_s =
        positive(plain_number(*text, as_typed("seconds", *text), "5"), as_typed("seconds", *text));
  request.profile = options.text_or_empty("profile");
  if (request.profile.empty()) request.profile = require_newest_cpu_profile();
  request.threads = thread_counts(options, load_profile(request.profile), topology);
  return request;
}

// One setting with what it takes to predict and run it.
struct Candidate {
  int threads = 1;
  std::int64_t batch = 1;
  NetworkRequest network;
  Conditions conditions;
  MachineModel model;  // of that many threads
  StepDraws steps;
  RunMemory memory;
};

void check_fits(const Candidate& candidate) {
  const double needed = candidate.memory.peak();
  const double available = static_cast<double>(available_memory_bytes());
  if (available <= 0 || needed <= available) return;
  throw Error(candidate.network.word,
              fmt::format("batch {} needs {} of memory, {} are available here", candidate.batch,
                          format_bytes(needed), format_bytes(available)),
              "leave this batch out");
}

std::vector<Candidate> candidates_of(const TuneRequest& request) {
  const Task task = request.training ? Task::training : Task::inference;
  std::vector<Candidate> candidates;
  for (const int threads : request.threads) {
    MachineRequest wanted;
    wanted.on = request.profile;
    wanted.threads = threads;
    const MachineSource machine = machine_source(wanted);
    NetworkVariants variants(request.network, request.training);
    const auto add = [&](const NetworkVariant& variant) {
      if (variant.dtype != DType::fp32)
        throw Error(request.network.word,
                    fmt::format("computes in {}, which cannot be executed here, only fp32",
                                to_string(variant.dtype)),
                    {}, ExitCode::incomplete);
      Candidate candidate;
      candidate.threads = threads;
      candidate.batch = variant.batch;
      candidate.network = request.network;
      if (!request.batches.empty()) candidate.network.batch = variant.batch;
      candidate.conditions.point = machine.point;
      candidate.conditions.runtime = Runtime::torch_eager;
      candidate.model = machine.model;
      candidate.memory = variant.memory;
      check_fits(candidate);
      candidate.steps = step_draws(
          model_for(machine.model, request.network, task, candidate.conditions.runtime),
          network_load(variant.demands, candidate.conditions.runtime), candidate.conditions);
      candidates.push_back(std::move(candidate));
    };
    if (request.batches.empty()) add(variants.as_given(Runtime::torch_eager));
    for (const std::int64_t batch : request.batches)
      add(is_file(request.network)
              ? variants.with(batch, variants.as_given(Runtime::torch_eager).dtype,
                              Runtime::torch_eager)
              : variants.with(batch, DType::fp32, Runtime::torch_eager));
  }
  return candidates;
}

std::vector<SettingDraws> draws_of(const std::vector<Candidate>& candidates, bool has_sensor) {
  std::vector<StepDraws> steps;
  std::vector<SettingPlace> places;
  for (const Candidate& candidate : candidates) {
    steps.push_back(candidate.steps);
    places.push_back(
        {candidate.conditions.point, static_cast<double>(candidate.batch), DType::fp32});
    places.back().point.cpu_cores = candidate.threads;
  }
  return setting_draws(steps, places, has_sensor);
}

// "seq=128": without what has a column of its own.
std::string tuned_options(const Network& network) {
  std::string text;
  for (const auto& [key, value] : network.source.options)
    if (key != "dtype" && key != "batch") text += (text.empty() ? "" : ";") + key + "=" + value;
  return text;
}

// Everything that stays the same from run to run.
class TuningSession {
 public:
  TuningSession(const TuneRequest& request, const Topology& topology, Console& console)
      : request_(request),
        watch_(topology.cpus),
        progress_(console, "running"),
        sampler_{measure_world().now_s, [this] { return watch_.since_last(); },
                 [] { return InterruptGuard::interrupted(); },
                 [this](double done, double left_s) { progress_.show(done, left_s); }},
        instruments_(sampler_) {}

  bool has_sensor() { return instruments_.power() != nullptr; }

  NetworkRun run(const Candidate& candidate, Network& network) {
    ExecutionOptions how;
    how.threads = candidate.threads;
    if (request_.training) how.optimizer = request_.training->optimizer;
    const std::unique_ptr<Executable> executable = torch_executable(network.graph(), how);
    RunWorld world;
    world.sampler = sampler_;
    world.clock_hz = [this] { return clock_.read_hz(); };
    world.power = instruments_.power();
    NetworkRun run = run_network(*executable, candidate.threads, request_.budget_s, world);
    progress_.clear();
    return run;
  }

 private:
  const TuneRequest& request_;
  const InterruptGuard guard_;
  LoadWatch watch_;
  ProgressLine progress_;
  SamplerWorld sampler_;
  cpu::CoreClock clock_;
  MeasureInstruments instruments_;
};

ReportedRun reported_run(const TuneRequest& request, const Candidate& candidate,
                         const Network& network, const std::string& device, NetworkRun run) {
  ReportedRun reported;
  reported.network = std::filesystem::path(request.network.word).filename().string();
  reported.options = tuned_options(network);
  reported.task = request.training ? Task::training : Task::inference;
  reported.batch = candidate.batch;
  reported.device = device;
  reported.run = std::move(run);
  return reported;
}

Observation observation_of(const ReportedRun& run, const Candidate& candidate) {
  Observation row;
  row.device = run.device;
  row.network = run.network;
  row.options = run.options;
  row.batch = run.batch;
  row.task = run.task;
  row.conditions = candidate.conditions;
  row.conditions.point.cpu_cores = candidate.threads;
  row.time_s = run.run.time_s.value;
  if (run.run.power_w) row.power_w = run.run.power_w->value;
  return row;
}

// The model of the chosen number of threads: a profile has rates for each number of its own.
MachineModel fitted_model(const Candidate& chosen, const std::vector<Candidate>& candidates,
                          const std::vector<std::pair<std::size_t, ReportedRun>>& runs,
                          const std::string& profile) {
  std::vector<Observation> rows;
  for (const auto& [setting, run] : runs)
    if (candidates[setting].threads == chosen.threads)
      rows.push_back(observation_of(run, candidates[setting]));
  // The model has the name of the processor, which the catalog does not have.
  LoadedDevices devices;
  const std::string& device = runs.front().second.device;
  devices.emplace(device, catalog::load(device));
  return calibrate(chosen.model, rows, model_predictor(std::move(devices), profile)).model;
}

void add_notes(ReportedTuning& reported) {
  const auto disturbed = std::count_if(reported.settings.begin(), reported.settings.end(),
                                       [](const TunedSetting& each) { return each.disturbed; });
  if (disturbed > 0)
    reported.notes.push_back(fmt::format(
        "the machine was busy in {} of {} runs: a choice between settings that are close may be "
        "another one on a quiet machine",
        disturbed, reported.tuning.runs.size()));
  if (!reported.tuning.reached && reported.tuning.runs.size() == reported.settings.size())
    reported.notes.push_back("every setting was run: the differences are within their noise");
}

Error no_setting_keeps(const ReportedTuning& reported, const Options& options) {
  const TunedSetting& nearest = reported.settings[reported.tuning.choice.setting];
  const double time_s = nearest.time_s.value_or(nearest.predicted_s).value;
  return Error(reported.network,
               fmt::format("no setting keeps {}: the nearest, {} thread{} with batch {}, takes {}",
                           as_typed("latency", *options.word("latency")), nearest.threads,
                           nearest.threads == 1 ? "" : "s", nearest.batch, format_seconds(time_s)),
               "allow more time or a smaller --batch", ExitCode::infeasible);
}

ExitCode run_tune(const Options& options, Console& console) {
  check_answer_files(options, {"table", "output"});
  const Topology topology = read_topology();
  TuneRequest request = tune_request(options, topology);
  if (options.has("output") && is_file(request.network))
    throw usage_error("--output", "a fitted model keeps networks by name, not files",
                      "collect the runs with --table");
  if (!std::holds_alternative<Graph>(load_network(request.network).content))
    throw Error(request.network.word, "lists the kernels of an engine, which LibTorch cannot run",
                "run it with trtexec and give its times to 'ridgeline calibrate'");
  const std::vector<Candidate> candidates = candidates_of(request);

  ReportedTuning reported;
  reported.device = this_device(identify()).id;
  for (const Candidate& candidate : candidates) {
    const std::vector<double>& times = candidate.steps.time_s;
    reported.settings.push_back({candidate.threads, candidate.batch,
                                 interval_of_draws(median(times), times, Source::predicted)});
  }
  std::vector<std::pair<std::size_t, ReportedRun>> runs;
  bool interrupted = false;
  {
    TuningSession session(request, topology, console);
    request.tuning.goal.energy = session.has_sensor();
    request.tuning.noise.time = std::max(request.tuning.noise.time, least_noise);
    const auto run = [&](std::size_t setting) -> std::optional<MeasuredSetting> {
      if (interrupted) return std::nullopt;
      Network network = load_network(candidates[setting].network);
      runs.emplace_back(setting,
                        reported_run(request, candidates[setting], network, reported.device,
                                     session.run(candidates[setting], network)));
      const NetworkRun& done = runs.back().second.run;
      interrupted = !done.sampling.complete;
      TunedSetting& tuned = reported.settings[setting];
      tuned.time_s = done.time_s;
      tuned.power_w = done.power_w;
      tuned.energy_j = done.energy_j;
      tuned.disturbed = done.sampling.disturbed;
      MeasuredSetting measured{done.time_s.value, {}};
      if (done.power_w) measured.power_w = done.power_w->value;
      return measured;
    };
    reported.tuning = tune(draws_of(candidates, request.tuning.goal.energy), request.tuning, run);
  }
  reported.wanted = request.tuning;
  reported.network = std::filesystem::path(request.network.word).filename().string();
  reported.task = request.training ? Task::training : Task::inference;
  if (!runs.empty()) {
    reported.options = runs.front().second.options;
    reported.library = runs.front().second.run.library;
    for (const std::string& note : runs.front().second.run.notes) reported.notes.push_back(note);
  }
  add_notes(reported);
  const std::size_t choice = reported.tuning.choice.setting;
  reported.limits_hold = limits_hold(reported.tuning.draws[choice], request.tuning.goal);
  const auto table = [&] {
    const std::string path = options.text("table");
    std::error_code fault;
    std::string text;
    if (path != "-" && std::filesystem::is_regular_file(path, fault)) text = read_text_file(path);
    for (const auto& [setting, run] : runs) text = with_run_row(text, path, run);
    return text;
  };
  if (reported.limits_hold < 0.5) {
    if (options.has("table") && options.text("table") != "-")
      write_file_atomically(options.text("table"), table());
    throw no_setting_keeps(reported, options);
  }
  std::optional<MachineModel> fitted;
  try {
    if (options.has("output") && !runs.empty())
      fitted = fitted_model(candidates[choice], candidates, runs, request.profile);
  } catch (const Error& error) {
    reported.notes.push_back("no model is written: " + error.cause());
  }

  Answer answer;
  answer.text = [&](std::ostream& out) { out << tuning_text(reported, console.width); };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(reported)); };
  answer.csv = [&](std::ostream& out) { out << to_csv(reported); };
  if (!runs.empty()) answer.files.push_back({"table", [&](std::ostream& out) { out << table(); }});
  if (fitted)
    answer.files.push_back(
        {"output", [&](std::ostream& out) { out << dump_json(to_json(*fitted)); }});
  answer.beside_csv = as_notes(reported.notes);
  write_answer(answer, options, console);
  const bool lacks_model = options.has("output") && !fitted;
  return interrupted || lacks_model ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace

Command tune_command() {
  return {
      .name = "tune",
      .summary = "find the best threads and batch for a network with few runs on this machine",
      .positional = "MODEL",
      .max_positional = 1,
      .description =
          "Starts from what the profile of this machine predicts, then runs the network (as 'run' "
          "does) with the threads and batch that would inform the choice most, learns from "
          "the run, and stops when the choice is expected to cost at most 3 % more than the best "
          "setting (--until). Minimises energy per sample if this machine has a power sensor, "
          "otherwise time per sample; --latency limits the time of a batch. Prints the choice with "
          "its measured time first, then every run with the expected regret after it. Needs a "
          "profile ('ridgeline measure') and a ridgeline that was built with LibTorch.",
      .examples = {{"tune resnet50 --batch 1,8 --until regret=3%", "threads and batch"},
                   {"tune bert_base --batch 1,2,4,8 --latency 200ms", "under a limit of latency"},
                   {"tune resnet18 --batch 1,8 --table runs.csv -o my-machine.json",
                    "keep the runs, and the model fitted to them"}},
      .add_options = declare_tune,
      .run = run_tune};
}

}  // namespace ridgeline::cli
