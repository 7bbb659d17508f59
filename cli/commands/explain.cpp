// `ridgeline explain MODEL`: how long, how many joules, bound by what, and what would change it.
// Options in, calls, output; predicting and explaining live in roofline/.
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "base/json.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/requests/explain_choices.h"
#include "cli/requests/machine.h"
#include "cli/requests/network.h"
#include "cli/requests/network_variants.h"
#include "cli/requests/token_option.h"
#include "cli/requests/training.h"
#include "cli/written_answer.h"
#include "plots/figures/layers.h"
#include "plots/renderers/svg.h"
#include "report/explanation.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/explain/explanation.h"
#include "roofline/model/predict.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

void declare_explain(OptionsDescription& options) {
  add_machine_options(options);
  add_network_options(options);
  add_training_options(options);
  options.add_text(
      "runtime", "NAME",
      "who executes: ideal, tensorrt, torch-eager, torch-eager-hooks, torch-compiled, cuda-graph "
      "or onnxruntime (default: torch-eager)");
  options.add_flag("unlocked", "a governor moves the clocks; default: they are locked");
  options.add_text("board-offset", "WATT",
                   "power of the carrier board that is to be added, for example 5.5W");
  options.add_flag(
      "allow-unknown",
      "operators that nobody has described are no error: no FLOP, their tensors are moved");
  options.add_flag("all", "every layer, not only those that take longest");
  options.add_text("svg", "FILE", "write the layers on the roofline as SVG; - is standard output");
}

struct Asked {
  std::string word;
  MachineSource source;
  Conditions conditions;
  double board_offset_w = 0;
  bool fixed_dtype = false;  // the network's types are its own
};

Asked asked_for(const Options& options) {
  const auto words = positional(options);
  if (words.empty())
    throw usage_error({}, "'explain' needs a model",
                      "write for example ridgeline explain resnet50 --on jetson-agx-orin-64gb");
  Asked asked;
  asked.word = words.front();
  asked.source = machine_source(machine_request(options));
  asked.conditions.point = asked.source.point;
  asked.conditions.runtime = token_option(options, "runtime", Runtime::torch_eager);
  asked.conditions.locked = !flag(options, "unlocked");
  if (options.has("board-offset")) {
    asked.board_offset_w = parse_watts(options.text("board-offset"), "--board-offset");
    set_parameter(asked.source.model, {"board_offset_w", asked.board_offset_w, Source::assumed});
  }
  asked.fixed_dtype = !find_workload(asked.word);
  return asked;
}

// The network in the type that the machine has units for, with a note where that is another one.
const NetworkVariant& runnable(NetworkVariants& variants, const Asked& asked,
                               std::vector<std::string>& notes) {
  const NetworkVariant& given = variants.as_given(asked.conditions.runtime);
  const DType dtype = runnable_dtype(asked.source.model, given.dtype);
  if (dtype == given.dtype) return given;
  notes.push_back(fmt::format("{} has no units for {}: predicted as {}", asked.source.name,
                              to_string(given.dtype), to_string(dtype)));
  return asked.fixed_dtype ? given : variants.with(given.batch, dtype, asked.conditions.runtime);
}

std::vector<Advice> advice_for(const Asked& asked, NetworkVariants& variants, const Setting& now) {
  const auto memory = find_parameter(asked.source.model, "memory_bytes");
  const auto cost_of = [&](const Setting& setting) -> std::optional<Cost> {
    try {
      const NetworkVariant& variant = variants.with(setting.batch, setting.dtype, setting.runtime);
      if (memory &&
          least_memory_bytes(variant.demands) > asked.source.model.parameters[*memory].mean)
        return std::nullopt;
      Conditions conditions = asked.conditions;
      conditions.point = setting.point;
      conditions.runtime = setting.runtime;
      const Prediction prediction = predict(asked.source.model, variant.load, conditions,
                                            {.draws = 0, .rows = RowDetail::none});
      return Cost{prediction.time_s.value,
                  prediction.energy_j ? std::optional(prediction.energy_j->value) : std::nullopt};
    } catch (const Error&) {
      return std::nullopt;  // a batch or type that the network does not have, a mode without clocks
    }
  };
  return advise(now, choices_for(asked.source, now, asked.fixed_dtype), cost_of);
}

// Under a cap or a governor the GPU runs slower than the mode says.
void note_clock(const Asked& asked, const Prediction& prediction, std::vector<std::string>& notes) {
  const auto& wanted = asked.conditions.point.gpu_hz;
  const auto& effective = prediction.point.gpu_hz;
  if (!wanted || !effective || *effective >= *wanted) return;
  notes.push_back(fmt::format(
      "the GPU is predicted to run at {} instead of {}: {}", format_hz(*effective),
      format_hz(*wanted),
      asked.conditions.locked ? "the power cap holds it down" : "the governor finds it idle"));
}

Explanation explained(const Asked& asked, const Options& options) {
  const auto training = training_options(options);
  NetworkVariants variants(asked.word, options, training);
  ExplainedRun run;
  run.notes = asked.source.notes;
  const NetworkVariant& variant = runnable(variants, asked, run.notes);
  run.network = std::filesystem::path(asked.word).filename().string();
  run.task = training ? "training" : "inference";
  run.machine = asked.source.name;
  run.batch = variant.batch;
  run.dtype = variant.dtype;
  run.locked = asked.conditions.locked;
  run.board_offset_w = asked.board_offset_w;
  for (const std::string& warning : variant.warnings) run.notes.push_back(warning);
  const Prediction prediction = predict(asked.source.model, variant.load, asked.conditions);
  if (!prediction.energy_j)
    run.notes.push_back("time only: nothing is known of the power of " + asked.source.name);
  note_clock(asked, prediction, run.notes);
  Explanation explanation =
      explain(prediction, variant.demands,
              model_ceilings(asked.source.model, prediction.point, asked.conditions.runtime),
              std::move(run));
  explanation.advice =
      advice_for(asked, variants,
                 {asked.source.point, variant.batch, variant.dtype, asked.conditions.runtime});
  return explanation;
}

ExitCode run_explain(const Options& options, Console& console) {
  check_answer_files(options, {"svg"});
  const Asked asked = asked_for(options);
  const Explanation explanation = explained(asked, options);
  WrittenAnswer answer;
  answer.files = {{"svg", [&] { return svg(layers_figure(explanation, explanation.ceilings)); }}};
  answer.text = [&] { return explanation_text(explanation, flag(options, "all"), console.width); };
  answer.json = [&] { return dump_json(to_json(explanation)); };
  answer.csv = [&] { return to_csv(explanation); };
  answer.notes = explanation.run.notes;
  return write_answer(answer, options, console);
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary = "predict time and energy of a network, what binds it and what would help",
      .positional = "MODEL",
      .max_positional = 1,
      .description =
          "Takes an ONNX file or a network by name and predicts on a machine in a mode, without "
          "running it: time, energy and power with 90 % intervals, per layer the bound "
          "(compute, memory, launch, host, power cap, quantisation), its share of time and "
          "energy and how much of the roof above it it attains. Then the changes that would "
          "help, each with the gain that it is predicted to have: another mode or clock, "
          "batch, type, runtime. The machine is a device of the catalog, a board of your own "
          "('ridgeline calibrate') or a profile of this computer.",
      .examples = {{"explain resnet50 --on jetson-agx-orin-64gb --mode 30W --dtype fp16 --batch 8 "
                    "--runtime tensorrt",
                    "before any of it is at hand"},
                   {"explain net.onnx --on my-board.json --json",
                    "a calibrated board, every number"},
                   {"explain vit_b_16 --train --on jetson-orin-nano-8gb --mode gpu=612MHz,cores=4",
                    "a training step, in a mode of one's own"},
                   {"explain resnet50 --svg layers.svg", "the layers on this machine's roofline"}},
      .add_options = declare_explain,
      .run = run_explain};
}

}  // namespace ridgeline::cli
