// `ridgeline plan MODEL`: the power mode to use, what it costs and saves, and how sure that is.
// Options in, calls, output; sweeping and choosing live in planner/.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/asked_mode.h"
#include "cli/command.h"
#include "cli/explain_choices.h"
#include "cli/machine_source.h"
#include "cli/network.h"
#include "cli/network_variants.h"
#include "cli/plan_csv.h"
#include "cli/plan_options.h"
#include "cli/plan_text.h"
#include "cli/token_option.h"
#include "devices/nvpmodel/generation.h"
#include "devices/nvpmodel/write.h"
#include "planner/make_plan.h"
#include "plots/plan_figure.h"
#include "plots/svg.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

namespace po = boost::program_options;

void add_options(OptionsDescription& options) {
  add_machine_options(options);
  add_network_options(options);
  add_plan_options(options);
  auto add = options.add_options();
  add("explain", po::bool_switch(), "what one step of each knob would change");
  add("why", po::value<std::string>()->value_name("MODE"), "why this mode was not chosen");
  add("svg", po::value<std::string>()->value_name("FILE"),
      "write energy against latency of all modes as SVG");
  add("nvpmodel", po::value<std::string>()->value_name("FILE"),
      "write the chosen mode as a POWER_MODEL block of nvpmodel's file");
}

// The networks that the problem points to live as long as this.
struct Asked {
  std::string word;
  MachineSource source;
  Runtime runtime = Runtime::torch_eager;
  Objective objective;
  std::vector<std::string> notes;
  PlanProblem problem;
  std::optional<std::size_t> why;
};

// One network per batch and type, those left out that the machine cannot hold.
std::vector<PlanVariant> variants_for(NetworkVariants& networks, Asked& asked,
                                      const std::vector<std::int64_t>& batches,
                                      const std::vector<DType>& dtypes) {
  const MachineModel& model = asked.source.model;
  const bool own_types = !find_workload(asked.word);
  const auto memory = find_parameter(model, "memory_bytes");
  std::vector<PlanVariant> variants;
  const auto note_once = [&](const std::string& note) {
    if (std::find(asked.notes.begin(), asked.notes.end(), note) == asked.notes.end())
      asked.notes.push_back(note);
  };
  const NetworkVariant& given = networks.as_given(asked.runtime);
  for (const DType wanted : dtypes.empty() ? std::vector{given.dtype} : dtypes) {
    const DType dtype = own_types ? wanted : runnable_dtype(model, wanted);
    if (dtype != wanted)
      note_once(fmt::format("{} has no units for {}: predicted as {}", asked.source.name,
                            to_string(wanted), to_string(dtype)));
    for (const std::int64_t batch : batches.empty() ? std::vector{given.batch} : batches) {
      const NetworkVariant& network = networks.with(batch, dtype, asked.runtime);
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
      if (!known) variants.push_back({&network.load, batch, dtype});
    }
  }
  if (variants.empty())
    throw Error(asked.word, "does not fit into the memory of " + asked.source.name,
                "give a smaller --batch or a narrower --dtype", ExitCode::infeasible);
  return variants;
}

PlanModes modes_for(const Options& options, const Asked& asked) {
  const ModeWishes wishes = mode_wishes(options);
  if (!asked.source.known) {
    for (const char* name : {"filter", "reach", "nvpmodel"})
      if (options.count(name))
        throw usage_error(fmt::format("--{}", name),
                          asked.source.name + " has one mode, as it was measured");
    if (wishes.stock_only)
      throw usage_error("--stock-only", asked.source.name + " has one mode, as it was measured");
    return single_mode(asked.source.point);
  }
  const auto& [device, configuration] = *asked.source.known;
  const DeviceMode from =
      options.count("mode")
          ? mode_of(device, configuration, options["mode"].as<std::string>(), "--mode")
          : default_mode(device, configuration);
  return plan_modes(device, configuration, from, wishes);
}

// The mode of --why among those of the problem; one beside the grid is added to be compared with.
std::size_t asked_why(const std::string& text, const Asked& asked, PlanModes& modes) {
  if (!asked.source.known)
    throw usage_error("--why", asked.source.name + " has one mode, as it was measured");
  const auto& [device, configuration] = *asked.source.known;
  const DeviceMode mode = mode_of(device, configuration, text, "--why");
  const auto same = [&](const PlanMode& other) {
    OperatingPoint a = other.point, b = mode.point;
    a.label = b.label = "";
    return a == b;
  };
  const auto found = std::find_if(modes.modes.begin(), modes.modes.end(), same);
  const auto index = static_cast<std::size_t>(found - modes.modes.begin());
  if (found == modes.modes.end()) modes.modes.push_back({mode.point, mode.reach, false, false});
  return index;
}

Asked asked_for(const Options& options) {
  const auto words = positional(options);
  if (words.empty())
    throw usage_error({}, "'plan' needs a model",
                      "write for example ridgeline plan resnet50 --on jetson-orin-nano-8gb");
  Asked asked;
  asked.word = words.front();
  asked.source = machine_source(options);
  asked.notes = asked.source.notes;
  // What a network is deployed with.
  const Runtime usual = has_gpu(asked.source.model) ? Runtime::tensorrt : Runtime::torch_eager;
  asked.runtime = token_option(options, "runtime", usual);
  if (options.count("board-offset")) {
    const double watts = parse_watts(options["board-offset"].as<std::string>(), "--board-offset");
    set_parameter(asked.source.model, {"board_offset_w", watts, Source::assumed});
  }
  return asked;
}

std::string nvpmodel_block(const Asked& asked, const Plan& plan) {
  const auto& [device, configuration] = *asked.source.known;
  const nvpmodel::Configuration file = nvpmodel::generation_file(device, configuration);
  const DeviceMode mode = mode_of(device, configuration, name_of(plan.chosen), "--nvpmodel");
  nvpmodel::BlockOptions wanted;
  wanted.locked = true;
  return to_text(
      nvpmodel::compose(file, device, nvpmodel::block_values(file, mode, wanted), device.id));
}

ExitCode run(const Options& options, Console& console) {
  for (const char* name : {"svg", "nvpmodel"})
    if (options.count(name)) check_file_can_be_written(options[name].as<std::string>());
  Asked asked = asked_for(options);
  const auto batches = batches_of(options);
  const auto dtypes = dtypes_of(options);
  asked.objective = objective_of(options, batches.empty() ? std::vector<std::int64_t>{1} : batches);
  Options single = options;
  if (!batches.empty()) single = with_value(single, "batch", std::to_string(batches.front()));
  if (!dtypes.empty()) single = with_value(single, "dtype", std::string(to_string(dtypes.front())));
  NetworkVariants networks(asked.word, single, std::nullopt);
  asked.problem.model = &asked.source.model;
  asked.problem.conditions.runtime = asked.runtime;
  asked.problem.modes = modes_for(options, asked);
  asked.problem.variants = variants_for(networks, asked, batches, dtypes);
  PlanOptions wanted;
  if (options.count("why"))
    wanted.why = asked_why(options["why"].as<std::string>(), asked, asked.problem.modes);

  PlannedRun planned;
  planned.network = std::filesystem::path(asked.word).filename().string();
  planned.device = asked.source.model.device;
  planned.machine = asked.source.name;
  planned.runtime = asked.runtime;
  planned.objective = asked.objective;
  PlanResult result = make_plan(asked.problem, std::move(planned), wanted);
  auto& warnings = result.plan.warnings;
  warnings.insert(warnings.end(), asked.notes.begin(), asked.notes.end());
  warnings.insert(warnings.end(), asked.problem.modes.notes.begin(),
                  asked.problem.modes.notes.end());

  if (options.count("svg"))
    write_file_atomically(options["svg"].as<std::string>(),
                          svg(plan_figure(asked.problem, result)));
  if (options.count("nvpmodel"))
    write_file_atomically(options["nvpmodel"].as<std::string>(),
                          nvpmodel_block(asked, result.plan));
  if (flag(options, "json"))
    console.out << dump_json(to_json(result.plan));
  else if (flag(options, "csv"))
    console.out << plan_csv(asked.problem, result);
  else
    console.out << plan_text(result.plan, flag(options, "explain"), console.width);
  if (flag(options, "csv"))
    for (const std::string& warning : warnings) console.talk("note: " + warning);
  for (const char* name : {"svg", "nvpmodel"})
    if (options.count(name)) console.talk("wrote " + options[name].as<std::string>());
  return ExitCode::ok;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .summary = "choose the power mode for a network under limits of time, power and energy",
      .positional = "MODEL",
      .max_positional = 1,
      .description =
          "Predicts an ONNX file or a network by name in every power mode of a machine, with every "
          "batch and type of the lists, and chooses the one with the least energy (or time, power, "
          "energy-delay product) that keeps the limits with a probability of 90 %. It says what "
          "that saves against the default and the fastest mode, which limit binds, what is nearly "
          "as good, and which modes to measure to be sure. Where nothing keeps the limits, it "
          "names the nearest miss and the limit to relax; the exit code is 3. --mode is the mode "
          "that the machine is in. Nothing is run or set.",
      .examples = {{"plan resnet50 --on jetson-orin-nano-8gb --latency 20ms",
                    "the least energy within 20 ms, before the board is at hand"},
                   {"plan yolov8n.onnx --on board.json --fps 30",
                    "frames of a camera, on a calibrated board: idle time counts"},
                   {"plan bert_base --on jetson-orin-nx-16gb --max-slowdown 5% --batch 1,2,4,8",
                    "batches as a further choice"},
                   {"plan resnet50 --on jetson-agx-orin-64gb --power 20W --why MAXN --svg plan.svg",
                    "and why not MAXN; all modes as a picture"}},
      .add_options = add_options,
      .run = run};
}

}  // namespace ridgeline::cli
