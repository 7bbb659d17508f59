// `ridgeline explain MODEL`: how long, how many joules, bound by what, and what would change it.
// Parses, predicts the network and its variants, writes; the model is in roofline/.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/requests/comparison.h"
#include "cli/requests/machine.h"
#include "cli/requests/memory.h"
#include "cli/requests/network.h"
#include "cli/requests/plan_problem.h"
#include "cli/requests/values.h"
#include "plots/figures/layers.h"
#include "report/comparison.h"
#include "report/explanation.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/explain/choices.h"
#include "roofline/explain/explanation.h"
#include "roofline/explain/measured.h"
#include "roofline/model/memory.h"
#include "roofline/model/network_load.h"
#include "roofline/model/predict.h"
#include "roofline/model/unfamiliar_time.h"
#include "workloads/network_variants.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

void declare_explain(OptionsDescription& options) {
  add_machine_options(options);
  add_modes_option(options);
  add_network_options(options);
  add_times_option(options);
  add_training_options(options);
  options.add_text(
      "runtime", "NAME",
      "runtime: ideal, tensorrt, torch-eager, torch-eager-hooks, torch-compiled, "
      "cuda-graph or onnxruntime (default: tensorrt on a GPU, torch-eager on a CPU and "
      "for training)");
  add_stored_types(options);
  options.add_text("group-by", "module", "sum the layers by module of the network");
  add_free_memory_option(options);
  options.add_flag("unlocked", "clocks are left to the governor; default: locked");
  add_board_offset_option(options);
  add_host_cpu_option(options);
  options.add_flag("allow-unknown",
                   "accept unknown operators: count their tensors as moved, no FLOP");
  options.add_flag("all", "show every layer, not only the slowest");
  options.add_text("fps", "N", "samples arrive evenly at this rate; idle time between them counts");
  options.add_text("rate", "N/s", "samples arrive at random at this mean rate and queue");
  options.add_text("dataset", "NAME|NxBYTES", "with --train: epochs over it, as in 'plan'");
  options.add_text("storage", "MEDIUM|FILE", "with --train: where the dataset lies");
  options.add_text("workers", "N", "with --train: loader processes");
  options.add_text("epochs", "N", "with --train: number of epochs");
  add_picture_options(options, "write the layers on the roofline as {}; - is standard output");
}

struct ExplainRequest {
  NetworkRequest network;
  std::optional<TrainingOptions> training;
  MachineRequest machine;
  std::optional<Runtime> runtime;  // absent: what such a network is usually run with
  bool locked = true;
  std::optional<Given<double>> free_memory;
  bool by_module = false;
};

ExplainRequest explain_request(const Options& options) {
  ExplainRequest request;
  request.network =
      network_request(options, required_word(options, "'explain' needs a model",
                                             "explain resnet50 --on jetson-agx-orin-64gb"));
  read_stored_types(options, request.network);
  if (request.network.weights && !request.network.dtype) request.network.dtype = DType::fp16;
  request.training = training_options(options);
  request.machine = machine_request(options);
  if (options.has("runtime"))
    request.runtime = token_option(options, "runtime", Runtime::ideal);
  else
    request.runtime = listed_runtime(request.network.word);
  request.locked = !flag(options, "unlocked");
  request.free_memory = free_memory(options);
  if (const auto word = options.word("group-by")) {
    if (*word != "module")
      throw usage_error(as_typed("group-by", *word), quote(*word) + " is not module");
    request.by_module = true;
  }
  return request;
}

// The network's variants on one machine: what each of them is predicted to cost.
class ExplainedNetwork {
 public:
  ExplainedNetwork(const ExplainRequest& request, const MachineSource& machine)
      : request_(request),
        machine_(machine),
        runtime_(
            request.runtime.value_or(usual_runtime(machine.model, request.training.has_value()))),
        variants_(request.network, request.training) {
    conditions_.point = machine.point;
    conditions_.runtime = runtime_;
    conditions_.locked = request.locked;
    usable_ = request.free_memory
                  ? given_memory(request.free_memory->value, request.free_memory->text)
                  : usable_memory(machine.model);
  }

  Runtime runtime() const { return runtime_; }

  // In the type that the machine has units for, with a note where that is another one.
  const NetworkVariant& runnable(std::vector<std::string>& notes) {
    const NetworkVariant& given = variants_.as_given(runtime_);
    const DType dtype = runnable_dtype(machine_.model, given.dtype);
    if (dtype == given.dtype) return given;
    notes.push_back(fmt::format("{} has no units for {}; predicted as {}", machine_.name,
                                to_string(given.dtype), to_string(dtype)));
    return find_workload(request_.network.word) ? variants_.with(given.batch, dtype, runtime_)
                                                : given;
  }

  Prediction predicted(const NetworkVariant& variant) {
    return predict(model_in(runtime_), load_of(variant, runtime_), conditions_);
  }

  // Absent where the machine's memory is unknown.
  std::optional<MemoryFit> memory(const NetworkVariant& variant, Runtime runtime) const {
    if (!usable_) return std::nullopt;
    return memory_fit(machine_.model, variant.memory, std::array{runtime}, *usable_);
  }

  // The fit of a variant that the machine can hold; for any other an Error.
  std::optional<MemoryFit> checked_memory(const NetworkVariant& variant) const {
    const auto fit = memory(variant, runtime_);
    if (!fit || fit->verdict() != MemoryVerdict::exceeds) return fit;
    RefusedRun run{.network = request_.network,
                   .training = request_.training,
                   .runtime = runtime_,
                   .batch = variant.batch,
                   .dtype = variant.dtype,
                   .fit = *fit};
    run.fit_of = [this](const RunMemory& bytes, const MemoryAmount& usable) {
      return memory_fit(machine_.model, bytes, std::array{runtime_}, usable);
    };
    throw memory_error(run, machine_);
  }

  // Absent for a batch or type that the network does not have, that does not fit
  // into memory, or for a mode without clocks.
  std::optional<Cost> cost(const Setting& setting) {
    try {
      const NetworkVariant& variant = variants_.with(setting.batch, setting.dtype, setting.runtime);
      const auto fit = memory(variant, setting.runtime);
      if (fit && !fit->is_expected()) return std::nullopt;
      Conditions conditions = conditions_;
      conditions.point = setting.point;
      conditions.runtime = setting.runtime;
      const Prediction prediction =
          predict(model_in(setting.runtime), load_of(variant, setting.runtime), conditions,
                  {.draws = 0, .rows = RowDetail::none});
      return Cost{prediction.time_s.value,
                  prediction.energy_j ? std::optional(prediction.energy_j->value) : std::nullopt};
    } catch (const Error&) {
      return std::nullopt;
    }
  }

 private:
  const MachineModel& model_in(Runtime runtime) {
    const auto known = models_.find(runtime);
    if (known != models_.end()) return known->second;
    const Task task = request_.training ? Task::training : Task::inference;
    return models_.emplace(runtime, model_for(machine_.model, request_.network, task, runtime))
        .first->second;
  }

  const NetworkLoad& load_of(const NetworkVariant& variant, Runtime runtime) {
    const auto known = loads_.find(&variant);
    if (known != loads_.end()) return known->second;
    return loads_.emplace(&variant, network_load(variant.demands, runtime)).first->second;
  }

  const ExplainRequest& request_;
  const MachineSource& machine_;
  Runtime runtime_;
  Conditions conditions_;
  NetworkVariants variants_;
  std::map<const NetworkVariant*, NetworkLoad> loads_;
  std::optional<MemoryAmount> usable_;
  std::map<Runtime, MachineModel> models_;  // with the network's own scales
};

// Measured times of an engine's layers, in the order of its Demands.
MeasuredTimes measured_times(const ChosenKernels& kernels) {
  const KernelTimes& times = *kernels.times;
  MeasuredTimes measured;
  for (const std::size_t layer : kernels.demand_layers) {
    measured.layers_s.push_back(times.mean_s[layer]);
    measured.fewer_products.push_back(kernels.fewer_products[layer]);
  }
  measured.run = {times.total_s, times.run_s, times.runs, times.device, times.files};
  return measured;
}

// Under a cap or a governor the GPU runs slower than the mode says.
void note_clock(const ExplainRequest& request, const MachineSource& machine,
                const Prediction& prediction, std::vector<std::string>& notes) {
  const auto& wanted = machine.point.gpu_hz;
  const auto& effective = prediction.point.gpu_hz;
  if (!wanted || !effective || *effective >= *wanted) return;
  notes.push_back(fmt::format(
      "the GPU is predicted to run at {} instead of {}: {}", format_hz(*effective),
      format_hz(*wanted),
      request.locked ? "limited by the power cap" : "lowered by the governor, which sees it idle"));
}

Explanation explained(const ExplainRequest& request, const MachineSource& machine) {
  ExplainedNetwork network(request, machine);
  ExplainedRun run;
  run.notes = machine.notes;
  const NetworkVariant& variant = network.runnable(run.notes);
  run.network = std::filesystem::path(request.network.word).filename().string();
  run.task = request.training ? "training" : "inference";
  run.machine = machine.name;
  run.batch = variant.batch;
  run.dtype = variant.dtype;
  run.locked = request.locked;
  run.board_offset_w = request.machine.board_offset_w.value_or(0);
  for (const std::string& warning : variant.warnings) run.notes.push_back(warning);
  const auto memory = network.checked_memory(variant);
  if (memory && memory->verdict() == MemoryVerdict::tight)
    run.notes.push_back("memory may not be enough: the run " + comparison_text(*memory));
  if (!memory)
    run.notes.push_back("memory is not checked: how much " + machine.name + " has is unknown");
  const Prediction prediction = network.predicted(variant);
  if (!prediction.energy_j) run.notes.push_back("time only: no power data for " + machine.name);
  note_clock(request, machine, prediction, run.notes);
  if (std::string note = tf32_note(machine.model, variant.dtype, network.runtime()); !note.empty())
    run.notes.push_back(std::move(note));
  for (std::string& text : texts(prediction.unfamiliar)) run.notes.push_back(std::move(text));
  Explanation explanation =
      explain(prediction, variant.demands,
              model_ceilings(machine.model, prediction.point, network.runtime()), std::move(run));
  explanation.memory = memory;
  if (variant.chosen != nullptr && variant.chosen->times)
    add_measured(explanation, variant.demands, measured_times(*variant.chosen), machine,
                 request.network.batch.has_value());
  if (variant.chosen != nullptr && variant.chosen->mapping)
    explanation.run.notes.push_back(to_text(*variant.chosen->mapping));
  if (request.by_module) explanation.groups = grouped_layers(explanation, demand_modules(variant));
  const Setting now{machine.point, variant.batch, variant.dtype, network.runtime()};
  Choices choices = choices_for(machine, now);
  if (request.training)
    std::erase_if(choices.runtimes, [](Runtime runtime) {
      return runtime == Runtime::tensorrt || runtime == Runtime::onnxruntime;
    });
  explanation.advice =
      advise(now, choices, [&](const Setting& setting) { return network.cost(setting); });
  return explanation;
}

// The request of a plan for the same run, for tables.
PlanRequest compared_request(Options options) {
  const auto training = training_options(options);
  for (const char* name : {"train", "optimizer", "mixed-precision", "checkpoint", "freeze-until"})
    options.erase(name);
  PlanRequest request = plan_request(options);
  request.run.training = training;
  if (training && !request.runtime) request.runtime = Runtime::torch_eager;
  return request;
}

bool is_served(const Options& options) {
  for (const char* name : {"fps", "rate", "dataset", "storage", "workers", "epochs"})
    if (options.has(name)) return true;
  return false;
}

// The run at a rate, or its epochs, in the mode that is explained, as a plan would describe it.
struct ServedRun {
  Objective objective;
  ComparedRow row;
};

std::optional<ServedRun> served_run(Options options, const MachineSource& machine) {
  if (!is_served(options)) return std::nullopt;
  const bool trains = flag(options, "train");
  PlanRequest request;
  if (trains) {
    options.set("train", positional(options).front());
    options.erase("positional");
    request = plan_request(options);
  } else {
    request = compared_request(options);
  }
  if (machine.known) request.why = mode_name(machine.point);
  const PlanSetup setup = plan_setup(request);
  return ServedRun{request.objective,
                   row_in_mode(setup.problem, request.objective, setup.options,
                               mode_name(machine.point), setup.options.why.value_or(0))};
}

ExitCode run_explain(const Options& options, Console& console) {
  if (const auto varied = varied_option(options, {"modes", "on", "dtype", "runtime", "batch"}))
    return write_comparison(compare(options, *varied, compared_request, false), options, console);
  check_answer_files(options, picture_options());
  const ExplainRequest request = explain_request(options);
  const MachineSource machine = machine_source(request.machine);
  const Explanation explanation = explained(request, machine);
  const auto served = served_run(options, machine);
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << explanation_text(explanation, flag(options, "all"), console.width);
    if (served) out << "\n" << served_text(served->row, served->objective, console.width);
  };
  answer.json = [&](std::ostream& out) {
    Json json = to_json(explanation);
    json["served"] = served ? to_json(served->row) : Json();
    out << dump_json(json);
  };
  answer.csv = [&](std::ostream& out) { out << to_csv(explanation); };
  answer.files = picture_files([&] { return layers_figure(explanation, explanation.ceilings); });
  answer.beside_csv = as_notes(explanation.run.notes);
  write_answer(answer, options, console);
  // Printed first, refused then: the rows show which times cannot be.
  if (const std::string text = contradiction_text(explanation); !text.empty())
    throw Error(explanation.measured->files.front(), text,
                "suspect " + explanation.measured->suspect);
  return ExitCode::ok;
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary = "predict time and energy of a network, what limits it and what would help",
      .positional = "MODEL",
      .max_positional = 1,
      .description =
          "Takes an ONNX file, a TensorRT engine's layer information or a network by name and "
          "predicts, without running it: time, energy "
          "and power with 90 % intervals, per layer the bound (compute, memory, launch, host, "
          "power cap, quantisation), its share of time and energy, and the fraction of its roof "
          "that it attains. Then the changes that would help, each with its predicted gain: "
          "another mode or clock, batch, data type or runtime. The machine is a catalog device, "
          "your own board ('ridgeline calibrate') or a profile of this computer.",
      .examples = {{"explain resnet50 --on jetson-agx-orin-64gb --mode 30W --dtype fp16 --batch 8 "
                    "--runtime tensorrt",
                    "predict it before you own the board"},
                   {"explain net.onnx --on my-board.json --json",
                    "a calibrated board, every number"},
                   {"explain vit_b_16 --train --on jetson-orin-nano-8gb --mode gpu=612MHz,cores=4",
                    "a training step, in a custom mode"},
                   {"explain engine.graph.json --times engine.profile.json --on "
                    "jetson-agx-orin-64gb --mode 30W",
                    "a TensorRT engine: measured times beside their roofs"},
                   {"explain resnet50 --svg layers.svg", "the layers on this machine's roofline"}},
      .add_options = declare_explain,
      .run = run_explain};
}

}  // namespace ridgeline::cli
