// Each fact of training is given, measured in a profile, or assumed from published epochs; the plan
// says which.
#include "cli/requests/plan_problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "base/profile.h"
#include "base/units.h"
#include "cli/requests/machine.h"
#include "cli/requests/memory.h"
#include "cli/requests/network.h"
#include "devices/modes/mode_space.h"
#include "planner/training/measured_input.h"
#include "roofline/explain/choices.h"
#include "workloads/network_variants.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

// The dataset of the published epochs that the other assumed facts come from, and their minibatch.
constexpr const char* usual_dataset = "gld23k";
constexpr std::int64_t usual_minibatch = 16;

void set_dataset(const InputRequest& input, TrainingRun& run) {
  const KnownDataset& usual = known_dataset(usual_dataset);
  run.dataset = usual.dataset;
  if (input.known) {
    run.dataset = input.known->value.dataset;
    run.sources.dataset = fmt::format("{}; {}", input.known->text, input.known->value.origin);
    return;
  }
  if (!input.samples) {
    run.sources.dataset = usual.origin;
    run.sources.assumed.push_back(fmt::format("--dataset is not given: {} is assumed", usual.name));
    return;
  }
  run.dataset.samples = input.samples->value;
  run.sources.dataset = input.samples->text;
  if (input.bytes_per_sample)
    run.dataset.bytes_per_sample = *input.bytes_per_sample;
  else
    run.sources.assumed.push_back(fmt::format(
        "{} does not say how large a sample is: {} is assumed ({})", input.samples->text,
        format_si(usual.dataset.bytes_per_sample, "B"), usual.name));
}

bool names_profile(const std::string& word) {
  std::error_code fault;
  if (word.ends_with("/s") || word.find("/s,") != std::string::npos) return false;  // a rate
  return word.ends_with(".json") || word.find('/') != std::string::npos ||
         std::filesystem::is_regular_file(word, fault);
}

// A medium by name, or the rows of a profile; its decoding is returned where it has any.
std::optional<Decoding> set_storage(const InputRequest& input, TrainingRun& run) {
  StorageMedium& storage = run.sources.storage;
  std::optional<Decoding> decoding;
  if (!input.storage) {
    storage = storage_medium("ssd");
    run.sources.assumed.push_back("--storage is not given: ssd is assumed (" + storage.origin +
                                  ")");
  } else if (!names_profile(*input.storage)) {
    storage = storage_medium(*input.storage, fmt::format("--storage {}", *input.storage));
  } else {
    const Profile profile = load_profile(*input.storage);
    const std::string name = std::filesystem::path(*input.storage).filename().string();
    const auto medium = measured_medium(profile, name);
    if (!medium)
      throw Error(*input.storage, "has no rows of storage, both of a long file and of samples",
                  "measure them: ridgeline measure --only storage,decode --path DIR",
                  ExitCode::incomplete);
    storage = *medium;
    decoding = measured_decoding(profile, name);
  }
  run.pipeline.medium = storage.cost;
  return decoding;
}

void set_decoding(const InputRequest& input, const std::optional<Decoding>& measured,
                  TrainingRun& run) {
  const double bytes = run.dataset.bytes_per_sample;
  if (input.decode_clocks) {
    run.pipeline.decode_clocks = input.decode_clocks->value;
    run.sources.decode = input.decode_clocks->text;
  } else if (measured && !run.dataset.in_memory) {  // files that are decoded were measured
    run.pipeline.decode_clocks = measured->clocks_per_byte * bytes;
    run.sources.decode = measured->origin;
  } else if (input.known) {
    run.pipeline.decode_clocks = input.known->value.decode_clocks;
    run.sources.decode = input.known->value.decode_origin;
  } else {
    run.pipeline.decode_clocks = usual_decode_clocks_per_byte * bytes;
    run.sources.decode = fmt::format(
        "{} clocks of a core per byte, PyTorch's image pipeline on Xavier boards (HiPC SRS 2021)",
        usual_decode_clocks_per_byte);
    run.sources.assumed.push_back("--decode is not given: " + run.sources.decode + " are assumed");
  }
}

// What the board was seen to keep of a dataset; otherwise, where CPU and GPU share the memory, what
// is not taken.
void set_memory(const InputRequest& input, const MachineSource& machine, TrainingRun& run) {
  double& bytes = run.pipeline.free_memory_bytes;
  if (input.free_memory_bytes) {
    bytes = input.free_memory_bytes->value;
    run.sources.memory = input.free_memory_bytes->text;
    return;
  }
  if (const auto seen = find_parameter(machine.model, "page_cache_bytes")) {
    bytes = machine.model.parameters[*seen].mean;
    run.sources.memory =
        fmt::format("seen on this board while it trained, {}; its source: ridgeline devices {}",
                    to_string(machine.model.parameters[*seen].source), machine.model.device);
    return;
  }
  const auto memory = find_parameter(machine.model, "memory_bytes");
  const bool is_shared =
      machine.known ? !machine.known->device.cpu.empty() : !has_gpu(machine.model);
  if (!memory || !is_shared) {
    run.sources.memory = "the size of the host's memory is unknown";
    run.sources.assumed.push_back(
        "--free-memory is not given and nothing is known of the host's memory: no sample is taken "
        "to stay in its page cache");
    return;
  }
  const double whole = machine.model.parameters[*memory].mean;
  bytes = usual_page_cache_bytes(whole);
  const bool is_share = bytes > whole - usual_memory_taken_bytes;
  run.sources.memory =
      is_share
          ? fmt::format("a quarter of {}, as on Xavier NX (HiPC SRS 2021)", format_si(whole, "B"))
          : fmt::format(
                "{} less {} for system, framework and network, as on Xavier NX (HiPC "
                "SRS 2021)",
                format_si(whole, "B"), format_si(usual_memory_taken_bytes, "B"));
}

void set_workers(const InputRequest& input, const MachineSource& machine, TrainingRun& run) {
  if (input.workers)
    run.pipeline.workers = *input.workers;
  else
    run.sources.assumed.push_back(
        "--workers is not given: the training process loads by itself, PyTorch's default");
  run.pipeline.cores = std::max(1, machine.point.cpu_cores.value_or(run.pipeline.workers + 1));
  if (!machine.point.cpu_cores)
    run.sources.assumed.push_back(
        fmt::format("the host is unknown: {} cores at a typical server clock are assumed, and "
                    "their power is not counted",
                    run.pipeline.cores));
}

TrainingRun training_input(const InputRequest& input, const MachineSource& machine) {
  TrainingRun run;
  set_dataset(input, run);
  const auto measured = set_storage(input, run);
  set_decoding(input, measured, run);
  set_memory(input, machine, run);
  set_workers(input, machine, run);
  if (input.strict && !run.sources.assumed.empty())
    throw Error("--strict", fmt::format("{}", fmt::join(run.sources.assumed, "; ")),
                "give them, or leave --strict out", ExitCode::incomplete);
  return run;
}

TrainingRun training_run(const PlanRequest& request, const MachineSource& machine) {
  TrainingRun run = training_input(request.input, machine);
  if (!has_gpu(machine.model) && run.pipeline.workers > 0)
    run.sources.assumed.push_back("assumed: loaders do not slow down training on the same cores");
  run.epochs = request.epochs;
  return run;
}

ConcurrentRun concurrent_run(const PlanRequest& request, const MachineSource& machine) {
  ConcurrentRun run;
  run.stream = request.stream;
  if (request.input.samples || request.input.known)
    run.input = training_input(request.input, machine);
  else if (request.input.strict)
    throw Error("--strict", "--dataset is not given: samples to train with are taken to be at hand",
                "give --dataset, or leave --strict out", ExitCode::incomplete);
  return run;
}

CandidateModes modes_for(const PlanRequest& request, const MachineSource& machine) {
  if (machine.known)
    return candidate_modes(machine.known->device, machine.known->configuration, *machine.mode,
                           request.modes);
  if (!request.needs_modes.empty())
    throw usage_error(request.needs_modes, machine.name + " has one mode, as it was measured");
  return single_mode(machine.point);
}

// The mode of --why among those of the problem; one beside the grid is added to be compared with.
std::size_t index_of_why(const std::string& text, const MachineSource& machine,
                         CandidateModes& modes) {
  if (!machine.known)
    throw usage_error("--why", machine.name + " has one mode, as it was measured");
  const auto& [device, configuration] = *machine.known;
  const DeviceMode mode = named_mode(device, configuration, text, "--why");
  const auto same = [&](const CandidateMode& other) {
    OperatingPoint a = other.point, b = mode.point;
    a.label = b.label = "";
    return a == b;
  };
  const auto found = std::find_if(modes.modes.begin(), modes.modes.end(), same);
  const auto index = static_cast<std::size_t>(found - modes.modes.begin());
  if (found == modes.modes.end()) modes.modes.push_back({mode.point, mode.reach, false, false});
  return index;
}

void add_all(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

// The memory that the machine has for the runs of a plan, and what does not fit.
class PlannedMemory {
 public:
  PlannedMemory(const PlanRequest& request, const MachineSource& machine)
      : machine_(machine), usable_(usable_memory(machine.model)) {
    const auto& given = request.input.free_memory_bytes;
    if (!given) return;
    // With --train it is what the page cache has beside the run, and says of the run only that
    // the machine has at least as much.
    if (request.scenario == Scenario::inference || !usable_ || given->value > usable_->bytes.value)
      usable_ = given_memory(given->value, given->text);
  }

  // Nothing where the machine's memory is unknown.
  std::optional<MemoryFit> fit(const RunMemory& memory, std::span<const Runtime> runtimes) const {
    if (!usable_) return std::nullopt;
    return memory_fit(machine_.model, memory, runtimes, *usable_);
  }

  // False where the run cannot fit; the one that needs least is the one to refuse if none can.
  bool holds(const std::optional<MemoryFit>& fit, RefusedRun run, const std::string& what,
             std::vector<std::string>& notes) {
    if (!fit || fit->verdict() != MemoryVerdict::exceeds) return true;
    const std::string note = fmt::format("{} is left out: it needs {}, and {} has {} usable", what,
                                         format_si(fit->needed.value, "B"), machine_.name,
                                         format_si(fit->usable.bytes.value, "B"));
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    run.fit = *fit;
    if (!least_ || fit->needed.value < least_->fit.needed.value) least_ = std::move(run);
    return false;
  }

  // For a plan without a variant.
  Error refusal(const std::string& word) const {
    if (least_) return memory_error(*least_, machine_);
    return {word, "has no variant to plan", {}, ExitCode::infeasible};
  }

  void forget() { least_.reset(); }

 private:
  const MachineSource& machine_;
  std::optional<MemoryAmount> usable_;
  std::optional<RefusedRun> least_;
};

// One more token after `context` of them.
NetworkRequest decoding(NetworkRequest request, std::int64_t context) {
  request.options.phase = Phase::decode;
  request.options.seq.reset();
  request.options.logits.reset();
  request.options.context = context;
  return request;
}

const RunMemory& larger(const RunMemory& a, const RunMemory& b) {
  return a.peak() < b.peak() ? b : a;
}

// One variant per batch and type, those left out that the machine cannot hold.
std::vector<PlanVariant> variants_of(const PlannedNetwork& planned, Runtime runtime,
                                     PlannedMemory& memory, PlanProblem& problem,
                                     const std::optional<GenerationRequest>& generation = {}) {
  const MachineModel& model = problem.model;
  const std::string& word = planned.network.word;
  const bool own_types = !find_workload(word) && planned.dtypes.empty();
  std::vector<PlanVariant> variants;
  const auto note_once = [&](const std::string& note) {
    if (std::find(problem.notes.begin(), problem.notes.end(), note) == problem.notes.end())
      problem.notes.push_back(note);
  };
  NetworkRequest first = planned.network;
  if (!planned.batches.empty()) first.batch = planned.batches.front();
  if (!planned.dtypes.empty()) first.dtype = planned.dtypes.front();
  // A token in the middle of the answer stands for all; the last needs the most memory.
  std::optional<NetworkVariants> tokens, last_tokens;
  if (generation) {
    tokens.emplace(decoding(first, generation->prompt + generation->tokens / 2));
    last_tokens.emplace(decoding(first, generation->prompt + generation->tokens - 1));
  } else if (const auto workload = find_workload(word);
             workload && workload->options.has(WorkloadOption::phase) && !first.options.phase &&
             !planned.training) {
    note_once("a sample is one prompt; --prompt 512 --generate 128 plans whole answers in tokens");
  }
  NetworkVariants networks(first, planned.training);
  const NetworkVariant& given = networks.as_given(runtime);
  memory.forget();
  for (const DType wanted : planned.dtypes.empty() ? std::vector{given.dtype} : planned.dtypes) {
    const DType dtype = own_types ? wanted : runnable_dtype(model, wanted);
    if (dtype != wanted)
      note_once(fmt::format("{} has no units for {}; predicted as {}", problem.machine,
                            to_string(wanted), to_string(dtype)));
    for (const std::int64_t batch :
         planned.batches.empty() ? std::vector{given.batch} : planned.batches) {
      const NetworkVariant& network = networks.with(batch, dtype, runtime);
      for (const std::string& warning : network.warnings) note_once(warning);
      const std::array runtimes{runtime};
      const auto fit = memory.fit(
          last_tokens ? larger(network.memory, last_tokens->with(batch, dtype, runtime).memory)
                      : network.memory,
          runtimes);
      const auto fit_of = [&model, runtimes](const RunMemory& bytes, const MemoryAmount& usable) {
        return memory_fit(model, bytes, runtimes, usable);
      };
      if (!memory.holds(fit,
                        {.network = planned.network,
                         .training = planned.training,
                         .runtime = runtime,
                         .batch = batch,
                         .dtype = dtype,
                         .length_option = generation ? "prompt" : "",
                         .fit_of = fit_of},
                        fmt::format("batch {} in {}", batch, to_string(dtype)), problem.notes))
        continue;
      const bool known = std::any_of(variants.begin(), variants.end(), [&](const auto& other) {
        return other.batch == batch && other.dtype == dtype;
      });
      if (known) continue;
      variants.push_back(
          {std::make_shared<const NetworkLoad>(network_load(network.demands, runtime)), batch,
           dtype});
      variants.back().input_bytes = network.input_bytes;
      if (tokens) {
        variants.back().token = std::make_shared<const NetworkLoad>(
            network_load(tokens->with(batch, dtype, runtime).demands, runtime));
        variants.back().tokens = static_cast<double>(generation->tokens);
      }
      variants.back().memory = fit;
    }
  }
  if (variants.empty()) throw memory.refusal(word);
  if (const std::string note = tf32_note(model, variants.front().dtype, runtime); !note.empty())
    note_once(note);
  return variants;
}

// Samples that are neither cropped nor resized fix the network's image, unless --image is given.
void set_image(const InputRequest& input, NetworkRequest& network, PlanProblem& problem) {
  const auto workload = find_workload(network.word);
  if (!input.known || input.known->value.image == 0 || !workload || network.options.image) return;
  const KnownDataset& dataset = input.known->value;
  if (workload->image == dataset.image) return;
  if (workload->options.has(WorkloadOption::image)) {
    network.options.image = dataset.image;
    problem.notes.push_back(
        fmt::format("images of {0} are {1}x{1}: as --image {1}; --image {2} if they are resized to "
                    "the network's usual size",
                    dataset.name, dataset.image, workload->image));
  } else {
    problem.notes.push_back(
        fmt::format("images of {0} are {1}x{1}: assumed to be padded or resized "
                    "to the {2}x{2} of {3}",
                    dataset.name, dataset.image, workload->image, workload->name));
  }
}

// A sample as the loader hands it over is the network's input.
void set_tensors(const PlanVariant& variant, double minibatch, TrainingRun& run) {
  if (variant.input_bytes > 0) run.pipeline.tensor_bytes = variant.input_bytes / minibatch;
}

void set_training(const PlanRequest& request, const MachineSource& machine, PlannedNetwork& planned,
                  PlanProblem& problem) {
  problem.training = training_run(request, machine);
  add_all(problem.notes, problem.training.sources.assumed);
  set_image(request.input, planned.network, problem);
  // A minibatch that people train with, for networks that take any.
  if (!planned.batches.empty() || !find_workload(planned.network.word)) return;
  planned.batches = {usual_minibatch};
  problem.notes.push_back(
      fmt::format("--batch is not given: minibatches of {} are assumed", usual_minibatch));
}

std::string file_name(const std::string& word) {
  return std::filesystem::path(word).filename().string();
}

// Every variant of inference beside every minibatch of training, as far as both fit into memory.
void add_trained(const InputRequest& input, PlannedNetwork trained, PlannedMemory& memory,
                 PlanProblem& problem) {
  set_image(input, trained.network, problem);
  ConcurrentRun& run = problem.concurrent;
  run.network = file_name(trained.network.word);
  std::vector<PlanVariant> both;
  const std::vector<PlanVariant> steps = variants_of(trained, run.runtime, memory, problem);
  const std::array runtimes{problem.conditions.runtime, run.runtime};
  memory.forget();
  for (const PlanVariant& step : steps) {
    run.dtype = step.dtype;
    if (run.input) set_tensors(step, static_cast<double>(step.batch), *run.input);
    for (PlanVariant variant : problem.variants) {
      variant.trained = step.load;
      variant.minibatch = step.batch;
      if (variant.memory && step.memory) {
        const RunMemory serving = variant.memory->network;
        const auto fit_of = [&problem, serving, runtimes](RunMemory bytes,
                                                          const MemoryAmount& usable) {
          return memory_fit(problem.model, bytes += serving, runtimes, usable);
        };
        variant.memory = fit_of(step.memory->network, variant.memory->usable);
        if (!memory.holds(variant.memory,
                          {.network = trained.network,
                           .training = trained.training,
                           .runtime = run.runtime,
                           .batch = step.batch,
                           .dtype = step.dtype,
                           .batch_option = "--minibatch",
                           .beside = problem.network,
                           .fit_of = fit_of},
                          text_of(variant), problem.notes))
          continue;
      }
      both.push_back(variant);
    }
  }
  if (both.empty()) throw memory.refusal(trained.network.word);
  problem.variants = std::move(both);
  if (run.input)
    add_all(problem.notes, run.input->sources.assumed);
  else
    problem.notes.push_back("no --dataset: training samples are assumed to be in memory");
  const double jitter_s = run.stream.jitter_s;
  problem.notes.push_back(
      fmt::format("assumed: requests arrive evenly{}; switching between the networks costs nothing",
                  jitter_s > 0 ? ", at most " + format_seconds(jitter_s) + " early or late" : ""));
}

// With the scales of the planned networks, where the model was fitted to them. Two networks in one
// runtime would share a scale, so then both keep the prior.
void set_own_scales(const PlanRequest& request, PlanProblem& problem) {
  const Runtime runtime = problem.conditions.runtime;
  if (request.trained && problem.concurrent.runtime == runtime) return;
  const Task task = request.scenario == Scenario::training ? Task::training : Task::inference;
  problem.model = model_for(problem.model, request.run.network, task, runtime);
  if (request.trained)
    problem.model = model_for(problem.model, request.trained->network, Task::training,
                              problem.concurrent.runtime);
}

}  // namespace

PlanSetup plan_setup(const PlanRequest& request) {
  const MachineSource machine = machine_source(request.machine);
  PlanSetup setup;
  setup.device = machine.known;
  PlanProblem& problem = setup.problem;
  problem.notes = machine.notes;
  problem.scenario = request.scenario;
  problem.model = machine.model;
  problem.machine = machine.name;
  problem.network = file_name(request.run.network.word);
  const Runtime runtime = request.runtime.value_or(
      usual_runtime(machine.model, request.scenario == Scenario::training));
  problem.conditions.runtime = runtime;
  problem.candidates = modes_for(request, machine);
  problem.host = request.host;
  setup.options.lead_with_stock = true;
  PlannedNetwork planned = request.run;
  if (request.scenario == Scenario::training) set_training(request, machine, planned, problem);
  if (request.scenario == Scenario::concurrent)
    problem.concurrent = concurrent_run(request, machine);
  PlannedMemory memory(request, machine);
  problem.variants = variants_of(planned, runtime, memory, problem, request.generation);
  const PlanVariant& some = problem.variants.front();
  set_tensors(some, static_cast<double>(some.batch), problem.training);
  if (request.trained) add_trained(request.input, *request.trained, memory, problem);
  set_own_scales(request, problem);
  if (!request.why.empty())
    setup.options.why = index_of_why(request.why, machine, problem.candidates);
  return setup;
}

}  // namespace ridgeline::cli
