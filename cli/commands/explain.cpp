// `ridgeline explain MODEL`: how long, how many joules, bound by what, and what would change it.
// Parses, predicts the network and its variants, writes; the model is in roofline/.
#include <fmt/format.h>

#include <array>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/requests/comparison.h"
#include "cli/requests/explanation.h"
#include "cli/requests/machine.h"
#include "cli/requests/memory.h"
#include "cli/requests/network.h"
#include "cli/requests/plan_problem.h"
#include "cli/requests/values.h"
#include "plots/figures/layer_bars.h"
#include "plots/figures/layers.h"
#include "report/comparison.h"
#include "report/explanation.h"
#include "roofline/explain/explanation.h"
#include "roofline/explain/explanation_diff.h"
#include "roofline/explain/measured.h"
#include "workloads/registry.h"

namespace ridgeline::cli {

enum class ExplainFigure { layers, time, energy };

}  // namespace ridgeline::cli

template <>
struct ridgeline::TokenTable<ridgeline::cli::ExplainFigure> {
  static constexpr std::string_view noun = "figure";
  static constexpr std::array<std::pair<cli::ExplainFigure, std::string_view>, 3> rows{
      {{cli::ExplainFigure::layers, "layers"},
       {cli::ExplainFigure::time, "time"},
       {cli::ExplainFigure::energy, "energy"}}};
};

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
  options.add_text("time", "TIME",
                   "measured time of one run (12ms): prints the model FLOP utilisation (MFU)");
  options.add_text("group-by", "module", "sum the layers by module of the network");
  add_free_memory_option(options);
  options.add_flag("unlocked", "clocks are left to the governor; default: locked");
  add_board_offset_option(options);
  add_host_cpu_option(options);
  options.add_flag("allow-unknown",
                   "accept unknown operators: count their tensors as moved, no FLOP");
  options.add_flag("all", "show every layer, not only the slowest");
  options.add_text("diff", "MODEL", "compare with another network: time and energy by layer");
  options.add_list("diff-times", "FILE", "measured times of the other engine; may be repeated");
  options.add_text("fps", "N", "samples arrive evenly at this rate; idle time between them counts");
  options.add_text("rate", "N/s", "samples arrive at random at this mean rate and queue");
  options.add_text("dataset", "NAME|NxBYTES", "with --train: epochs over it, as in 'plan'");
  options.add_text("storage", "MEDIUM|FILE", "with --train: where the dataset lies");
  options.add_text("workers", "N", "with --train: loader processes");
  options.add_text("epochs", "N", "with --train: number of epochs");
  add_picture_options(options, "write a figure as {}; - is standard output");
  options.add_text("figure", "FIGURE",
                   "which one: layers on the roofline, time of each layer, or energy of one run; "
                   "default: layers");
  options.add_text(
      "trace", "FILE",
      "write the predicted timeline of kernels and host, and measured kernels if there "
      "are times, as a trace for Perfetto or chrome://tracing");
}

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
  if (const auto text = options.word("time"))
    request.time_s = seconds_of(*text, as_typed("time", *text));
  if (const auto word = options.word("group-by")) {
    if (*word != "module")
      throw usage_error(as_typed("group-by", *word), quote(*word) + " is not module");
    request.by_module = true;
  }
  return request;
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

// The other network of --diff, with the options of the first.
ExplainRequest other_request(const ExplainRequest& request, const Options& options) {
  ExplainRequest other = request;
  other.network.word = options.text("diff");
  other.network.reading.times =
      options.has("diff-times") ? options.list("diff-times") : std::vector<std::string>();
  return other;
}

// After the answer: its rows show which times cannot be.
void refuse_contradiction(const Explanation& explanation) {
  if (const std::string text = contradiction_text(explanation); !text.empty())
    throw Error(explanation.measured->files.front(), text,
                "suspect " + explanation.measured->suspect);
}

ExitCode write_difference(const ExplainRequest& request, const MachineSource& machine,
                          const Options& options, Console& console) {
  std::vector<const char*> others = picture_options();
  for (const char* name : {"format", "trace", "figure", "group-by", "time", "fps", "rate",
                           "dataset", "storage", "workers", "epochs"})
    others.push_back(name);
  for (const char* other : others)
    if (options.has(other))
      throw usage_error(std::string("--") + other, "has no meaning with --diff");
  const ExplainRequest other = other_request(request, options);
  const ExplanationDiff difference = diff(ExplainedNetwork(request, machine).explanation(),
                                          ExplainedNetwork(other, machine).explanation());
  if (difference.before.runtime != difference.after.runtime)
    throw usage_error(
        "--diff",
        fmt::format("{} runs by {}, {} by {}", difference.before.run.network,
                    to_string(difference.before.runtime), difference.after.run.network,
                    to_string(difference.after.runtime)),
        "give both the same --runtime");
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << explanation_diff_text(difference, flag(options, "all"), console.width);
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(difference)); };
  answer.csv = [&](std::ostream& out) { out << to_csv(difference); };
  write_answer(answer, options, console);
  for (const Explanation* each : {&difference.before, &difference.after})
    refuse_contradiction(*each);
  return ExitCode::ok;
}

Figure figure_of(const Explanation& explanation, ExplainFigure figure) {
  switch (figure) {
    case ExplainFigure::layers:
      return layers_figure(explanation, explanation.ceilings);
    case ExplainFigure::time:
      return layer_times_figure(explanation);
    case ExplainFigure::energy:
      return energy_build_up_figure(explanation);
  }
  return {};
}

ExitCode run_explain(const Options& options, Console& console) {
  if (!options.has("diff") && options.has("diff-times"))
    throw usage_error("--diff-times", "needs --diff");
  if (const auto varied = varied_option(options, {"modes", "on", "dtype", "runtime", "batch"})) {
    if (options.has("diff"))
      throw usage_error("--" + varied->option, "a list has no meaning with --diff",
                        "give one value");
    return write_comparison(compare(options, *varied, compared_request, false), options, console);
  }
  std::vector<const char*> files = picture_options();
  files.push_back("trace");
  check_answer_files(options, files);
  const auto figure = token_option(options, "figure", ExplainFigure::layers);
  ExplainRequest request = explain_request(options);
  const MachineSource machine = machine_source(request.machine);
  if (options.has("diff")) return write_difference(request, machine, options, console);
  const auto served = served_run(options, machine);
  // The step that is explained is a step of the epochs below it.
  if (served && served->row.training && !options.has("batch"))
    request.network.batch = served->row.run->batch;
  ExplainedNetwork network(request, machine);
  const Explanation explanation = network.explanation();
  Answer answer;
  answer.name = "explanation";
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
  answer.files = picture_files([&] { return figure_of(explanation, figure); });
  answer.files.push_back(
      {"trace", [&](std::ostream& out) { out << trace_json(explanation, network.timeline()); }});
  answer.beside_csv = as_notes(explanation.run.notes);
  write_answer(answer, options, console);
  refuse_contradiction(explanation);
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
          "Takes an ONNX or PyTorch file, a TensorRT engine's layer information or a network by "
          "name and "
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
                   {"explain net.onnx --diff pruned.onnx --on jetson-orin-nano-8gb --dtype fp16",
                    "what another network saves: time and energy by layer"},
                   {"explain resnet50 --svg layers.svg", "the layers on this machine's roofline"}},
      .add_options = declare_explain,
      .run = run_explain};
}

}  // namespace ridgeline::cli
