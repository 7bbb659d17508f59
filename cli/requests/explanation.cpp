// Each batch and type is lowered once, and each runtime has one model.
#include "cli/requests/explanation.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "cli/requests/machine.h"
#include "cli/requests/memory.h"
#include "cli/requests/network.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/explain/choices.h"
#include "roofline/explain/measured.h"
#include "roofline/model/predict.h"
#include "roofline/model/unfamiliar_time.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

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

}  // namespace

ExplainedNetwork::ExplainedNetwork(const ExplainRequest& request, const MachineSource& machine)
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

// In the type that the machine has units for, with a note where that is another one.
const NetworkVariant& ExplainedNetwork::runnable(std::vector<std::string>& notes) {
  const NetworkVariant& given = variants_.as_given(runtime_);
  const DType dtype = runnable_dtype(machine_.model, given.dtype);
  if (dtype == given.dtype) return given;
  notes.push_back(fmt::format("{} has no units for {}; predicted as {}", machine_.name,
                              to_string(given.dtype), to_string(dtype)));
  return find_workload(request_.network.word) ? variants_.with(given.batch, dtype, runtime_)
                                              : given;
}

// Absent where the machine's memory is unknown.
std::optional<MemoryFit> ExplainedNetwork::memory(const NetworkVariant& variant,
                                                  Runtime runtime) const {
  if (!usable_) return std::nullopt;
  return memory_fit(machine_.model, variant.memory, std::array{runtime}, *usable_);
}

// The fit of a variant that the machine can hold; for any other an Error.
std::optional<MemoryFit> ExplainedNetwork::checked_memory(const NetworkVariant& variant) const {
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

// Absent for a batch or type that the network does not have, that does not fit into memory, or for
// a mode without clocks.
std::optional<Cost> ExplainedNetwork::cost(const Setting& setting) {
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

const MachineModel& ExplainedNetwork::model_in(Runtime runtime) {
  const auto known = models_.find(runtime);
  if (known != models_.end()) return known->second;
  const Task task = request_.training ? Task::training : Task::inference;
  return models_.emplace(runtime, model_for(machine_.model, request_.network, task, runtime))
      .first->second;
}

const NetworkLoad& ExplainedNetwork::load_of(const NetworkVariant& variant, Runtime runtime) {
  const auto known = loads_.find(&variant);
  if (known != loads_.end()) return known->second;
  return loads_.emplace(&variant, network_load(variant.demands, runtime)).first->second;
}

const NetworkVariant& ExplainedNetwork::variant_in(DType dtype) {
  const NetworkVariant& given = variants_.as_given(runtime_);
  return dtype == given.dtype ? given : variants_.with(given.batch, dtype, runtime_);
}

ExplainedRun ExplainedNetwork::run_of(const NetworkVariant& variant) const {
  ExplainedRun run;
  run.network = std::filesystem::path(request_.network.word).filename().string();
  run.task = request_.training ? "training" : "inference";
  run.machine = machine_.name;
  run.batch = variant.batch;
  run.dtype = variant.dtype;
  run.locked = request_.locked;
  run.board_offset_w = request_.machine.board_offset_w.value_or(0);
  return run;
}

void ExplainedNetwork::add_utilization(const NetworkVariant& variant,
                                       Explanation& explanation) const {
  const auto time_s = request_.time_s        ? request_.time_s
                      : explanation.measured ? explanation.measured->run_s
                                             : std::nullopt;
  if (time_s)
    explanation.utilization = utilization(variant.demands, *time_s, machine_.model, machine_.point);
  if (request_.time_s && !explanation.utilization)
    explanation.run.notes.push_back("MFU is unknown: " + machine_.name +
                                    " has no peak for this arithmetic");
}

Explanation ExplainedNetwork::explanation() {
  std::vector<std::string> notes = machine_.notes;
  const NetworkVariant& variant = runnable(notes);
  ExplainedRun run = run_of(variant);
  run.notes = std::move(notes);
  for (const std::string& warning : variant.warnings) run.notes.push_back(warning);
  const auto fit = checked_memory(variant);
  if (fit && fit->verdict() == MemoryVerdict::tight)
    run.notes.push_back("memory may not be enough: the run " + comparison_text(*fit));
  if (!fit)
    run.notes.push_back("memory is not checked: how much " + machine_.name + " has is unknown");
  const Prediction prediction =
      predict(model_in(runtime_), load_of(variant, runtime_), conditions_);
  if (!prediction.energy_j) run.notes.push_back("time only: no power data for " + machine_.name);
  note_clock(request_, machine_, prediction, run.notes);
  if (std::string note = tf32_note(machine_.model, variant.dtype, runtime_); !note.empty())
    run.notes.push_back(std::move(note));
  for (std::string& text : texts(prediction.unfamiliar)) run.notes.push_back(std::move(text));
  Explanation explanation =
      explain(prediction, variant.demands,
              model_ceilings(machine_.model, prediction.point, runtime_), std::move(run));
  explanation.memory = fit;
  if (variant.chosen != nullptr && variant.chosen->times)
    add_measured(explanation, variant.demands, measured_times(*variant.chosen), machine_,
                 request_.network.batch.has_value());
  add_utilization(variant, explanation);
  if (variant.chosen != nullptr && variant.chosen->mapping)
    explanation.run.notes.push_back(to_text(*variant.chosen->mapping));
  if (request_.by_module) explanation.groups = grouped_layers(explanation, demand_modules(variant));
  const Setting now{machine_.point, variant.batch, variant.dtype, runtime_};
  Choices choices = choices_for(machine_, now);
  if (request_.training)
    std::erase_if(choices.runtimes, [](Runtime runtime) {
      return runtime == Runtime::tensorrt || runtime == Runtime::onnxruntime;
    });
  explanation.advice = advise(now, choices, [&](const Setting& setting) { return cost(setting); });
  return explanation;
}

Timeline ExplainedNetwork::timeline() {
  std::vector<std::string> notes;
  return predicted_timeline(model_in(runtime_), load_of(runnable(notes), runtime_), conditions_);
}

Explanation ExplainedNetwork::in_mode(const OperatingPoint& point, DType dtype,
                                      std::span<const CoefficientDraw> draws) {
  const NetworkVariant& variant = variant_in(dtype);
  Conditions conditions = conditions_;
  conditions.point = point;
  const Prediction prediction =
      predict(model_in(runtime_), load_of(variant, runtime_), conditions, draws, RowDetail::values);
  Explanation explanation =
      explain(prediction, variant.demands,
              model_ceilings(machine_.model, prediction.point, runtime_), run_of(variant));
  if (variant.chosen != nullptr && variant.chosen->times)
    add_measured(explanation, variant.demands, measured_times(*variant.chosen), machine_,
                 request_.network.batch.has_value());
  return explanation;
}

Timeline ExplainedNetwork::timeline_in(const OperatingPoint& point, DType dtype) {
  Conditions conditions = conditions_;
  conditions.point = point;
  return predicted_timeline(model_in(runtime_), load_of(variant_in(dtype), runtime_), conditions);
}

}  // namespace ridgeline::cli
