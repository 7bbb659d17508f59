// Networks are built once per batch and type; what the machine cannot hold is left out.
#include "cli/requests/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/units.h"
#include "cli/requests/explain_choices.h"
#include "cli/requests/plan_goal.h"
#include "cli/requests/plan_training.h"
#include "cli/requests/token_option.h"
#include "cli/requests/training.h"
#include "devices/modes/mode_space.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

// Of the published epochs that the facts of training come from.
constexpr std::int64_t usual_minibatch = 16;

// Batches of inference that are tried beside training.
constexpr std::int64_t usual_batches[] = {1, 2, 4, 8, 16, 32};
// And of training beside inference, where a step must not take longer than a request may wait.
constexpr std::int64_t usual_minibatches[] = {16, 8, 4};

// One network per batch and type, those left out that the machine cannot hold.
std::vector<PlanVariant> variants_for(NetworkVariants& networks, const std::string& word,
                                      Runtime runtime, PlanAsked& asked,
                                      const std::vector<std::int64_t>& batches,
                                      const std::vector<DType>& dtypes) {
  const MachineModel& model = asked.source.model;
  const bool own_types = !find_workload(word);
  const auto memory = find_parameter(model, "memory_bytes");
  std::vector<PlanVariant> variants;
  const auto note_once = [&](const std::string& note) {
    if (std::find(asked.notes.begin(), asked.notes.end(), note) == asked.notes.end())
      asked.notes.push_back(note);
  };
  const NetworkVariant& given = networks.as_given(runtime);
  for (const DType wanted : dtypes.empty() ? std::vector{given.dtype} : dtypes) {
    const DType dtype = own_types ? wanted : runnable_dtype(model, wanted);
    if (dtype != wanted)
      note_once(fmt::format("{} has no units for {}: predicted as {}", asked.source.name,
                            to_string(wanted), to_string(dtype)));
    for (const std::int64_t batch : batches.empty() ? std::vector{given.batch} : batches) {
      const NetworkVariant& network = networks.with(batch, dtype, runtime);
      for (const std::string& warning : network.warnings) note_once(warning);
      const double bytes = least_memory_bytes(network.demands);
      if (memory && bytes > model.parameters[*memory].mean) {
        note_once(fmt::format("batch {} in {} is left out: it needs {} at least", batch,
                              to_string(dtype), format_bytes(bytes)));
        continue;
      }
      const bool known = std::any_of(variants.begin(), variants.end(), [&](const auto& other) {
        return other.batch == batch && other.dtype == dtype;
      });
      if (!known)
        variants.push_back({std::make_shared<const NetworkLoad>(network.load), batch, dtype});
    }
  }
  if (variants.empty())
    throw Error(word, "does not fit into the memory of " + asked.source.name,
                "give a smaller --batch or a narrower --dtype", ExitCode::infeasible);
  return variants;
}

CandidateModes modes_for(const Options& options, const PlanAsked& asked) {
  const CandidateOptions wishes = mode_wishes(options);
  if (!asked.source.known) {
    for (const char* name : {"filter", "reach", "nvpmodel"})
      if (options.has(name))
        throw usage_error(fmt::format("--{}", name),
                          asked.source.name + " has one mode, as it was measured");
    if (wishes.stock_only)
      throw usage_error("--stock-only", asked.source.name + " has one mode, as it was measured");
    return single_mode(asked.source.point);
  }
  const auto& [device, configuration] = *asked.source.known;
  const DeviceMode from = options.has("mode")
                              ? named_mode(device, configuration, options.text("mode"), "--mode")
                              : default_mode(device, configuration);
  return candidate_modes(device, configuration, from, wishes);
}

// The mode of --why among those of the problem; one beside the grid is added to be compared with.
std::size_t asked_why(const std::string& text, const PlanAsked& asked, CandidateModes& modes) {
  if (!asked.source.known)
    throw usage_error("--why", asked.source.name + " has one mode, as it was measured");
  const auto& [device, configuration] = *asked.source.known;
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

// The options as if one network alone had been asked for.
Options options_for(Options options, const std::vector<std::int64_t>& batches,
                    const std::vector<DType>& dtypes) {
  if (!batches.empty()) options = with_value(options, "batch", std::to_string(batches.front()));
  if (!dtypes.empty())
    options = with_value(options, "dtype", std::string(to_string(dtypes.front())));
  return options;
}

void take_machine(const Options& options, Scenario task, PlanAsked& asked) {
  asked.source = machine_source(machine_request(options));
  asked.notes = asked.source.notes;
  // What a network is deployed with, or trained with.
  const bool deployed = task != Scenario::training && has_gpu(asked.source.model);
  asked.runtime =
      token_option(options, "runtime", deployed ? Runtime::tensorrt : Runtime::torch_eager);
  if (task == Scenario::training &&
      (asked.runtime == Runtime::tensorrt || asked.runtime == Runtime::onnxruntime))
    throw usage_error(fmt::format("--runtime {}", to_string(asked.runtime)), "does not train",
                      "write for example --runtime torch-compiled");
  if (options.has("board-offset")) {
    const double watts = parse_watts(options.text("board-offset"), "--board-offset");
    set_parameter(asked.source.model, {"board_offset_w", watts, Source::assumed});
  }
}

// Without --batch: a minibatch that people train with, for networks that take any.
std::vector<std::int64_t> minibatches(std::vector<std::int64_t> given, PlanAsked& asked) {
  if (!given.empty() || !find_workload(asked.word)) return given;
  asked.notes.push_back(
      fmt::format("--batch is not given: minibatches of {} are assumed", usual_minibatch));
  return {usual_minibatch};
}

// Those that can be gathered in time; a usage error where none can.
std::vector<std::int64_t> gathered(std::vector<std::int64_t> batches, const PlanAsked& asked) {
  const InferenceStream& stream = asked.problem.concurrent.stream;
  for (const Limit& limit : asked.objective.limits) {
    if (limit.kind != LimitKind::latency) continue;
    const auto wait_s = [&](std::int64_t batch) {
      return static_cast<double>(batch - 1) / stream.requests_per_s + 2 * stream.jitter_s;
    };
    const std::int64_t least = *std::min_element(batches.begin(), batches.end());
    if (wait_s(least) >= limit.bound)
      throw usage_error(limit.text,
                        fmt::format("contradicts rate, jitter and batch: samples wait {} for their "
                                    "batch in any mode",
                                    format_seconds(wait_s(least))),
                        "give a smaller --batch, or a longer latency");
    std::erase_if(batches, [&](std::int64_t batch) { return wait_s(batch) >= limit.bound; });
  }
  return batches;
}

void ask_concurrent(const Options& options, PlanAsked& asked) {
  asked.trained = options.text("train");
  asked.problem.concurrent = concurrent_run(options, asked.source);
  std::vector<std::int64_t> batches = batches_of(options);
  if (batches.empty() && find_workload(asked.word))
    batches.assign(std::begin(usual_batches), std::end(usual_batches));
  if (!batches.empty()) batches = gathered(std::move(batches), asked);
  const auto dtypes = dtypes_of(options);
  NetworkVariants networks(asked.word, options_for(options, batches, dtypes), std::nullopt);
  asked.problem.variants =
      variants_for(networks, asked.word, asked.runtime, asked, batches, dtypes);

  // The network that is trained has a batch of its own, and the type of its weights.
  Options trained = options;
  trained.erase("dtype");
  trained.erase("batch");
  std::vector<std::int64_t> sizes;
  if (options.has("minibatch"))
    sizes = batches_of(with_value(trained, "batch", options.text("minibatch")));
  else if (find_workload(asked.trained))
    sizes.assign(std::begin(usual_minibatches), std::end(usual_minibatches));
  NetworkVariants training(asked.trained, options_for(trained, sizes, {}),
                           training_details(options, true));
  asked.problem.concurrent.network = std::filesystem::path(asked.trained).filename().string();
  std::vector<PlanVariant> both;
  for (const PlanVariant& step :
       variants_for(training, asked.trained, asked.problem.concurrent.runtime, asked, sizes, {})) {
    asked.problem.concurrent.dtype = step.dtype;
    for (PlanVariant variant : asked.problem.variants) {
      variant.trained = step.load;
      variant.minibatch = step.batch;
      both.push_back(variant);
    }
  }
  asked.problem.variants = std::move(both);
  const auto& input = asked.problem.concurrent.input;
  if (!input)
    asked.notes.push_back("no --dataset: samples to train with are taken to be at hand");
  else
    asked.notes.insert(asked.notes.end(), input->sources.assumed.begin(),
                       input->sources.assumed.end());
  asked.notes.push_back(fmt::format(
      "requests are taken to come evenly{}; switching between the networks to cost nothing",
      asked.problem.concurrent.stream.jitter_s > 0
          ? ", at most " + format_seconds(asked.problem.concurrent.stream.jitter_s) +
                " early or late"
          : ""));
}

void ask_one(const Options& options, PlanAsked& asked) {
  const bool trains = asked.problem.scenario == Scenario::training;
  std::vector<std::int64_t> batches = batches_of(options);
  if (trains) {
    asked.problem.training = training_run(options, asked.source);
    const auto& assumed = asked.problem.training.sources.assumed;
    asked.notes.insert(asked.notes.end(), assumed.begin(), assumed.end());
    batches = minibatches(std::move(batches), asked);
  }
  const auto dtypes = dtypes_of(options);
  NetworkVariants networks(asked.word, options_for(options, batches, dtypes),
                           training_details(options, trains));
  asked.problem.variants =
      variants_for(networks, asked.word, asked.runtime, asked, batches, dtypes);
}

}  // namespace

PlanAsked plan_asked(const Options& options) {
  PlanAsked asked;
  const Scenario task = asked.problem.scenario = task_of(options);
  const auto words = positional(options);
  if (task == Scenario::inference && words.empty())
    throw usage_error({}, "'plan' needs a model",
                      "write for example ridgeline plan resnet50 --on jetson-orin-nano-8gb");
  asked.word = task == Scenario::inference  ? words.front()
               : task == Scenario::training ? options.text("train")
                                            : options.text("infer");
  take_machine(options, task, asked);
  const auto batches = batches_of(options);
  asked.objective =
      objective_of(options, batches.empty() ? std::vector<std::int64_t>{1} : batches, task);
  asked.problem.model = asked.source.model;
  asked.problem.machine = asked.source.name;
  asked.problem.network = std::filesystem::path(asked.word).filename().string();
  asked.problem.conditions.runtime = asked.runtime;
  asked.problem.candidates = modes_for(options, asked);
  if (task == Scenario::concurrent)
    ask_concurrent(options, asked);
  else
    ask_one(options, asked);
  if (options.has("why"))
    asked.why = asked_why(options.text("why"), asked, asked.problem.candidates);
  asked.problem.notes = asked.notes;
  return asked;
}

}  // namespace ridgeline::cli
