// `ridgeline plan MODEL`: the power mode to use, what it costs and saves, and how sure that is.
// Parses, plans, writes; sweeping and choosing are in planner/.
#include "plots/figures/plan.h"

#include <fmt/format.h>

#include <ostream>
#include <string>

#include "base/json.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/requests/comparison.h"
#include "cli/requests/plan_problem.h"
#include "cli/requests/values.h"
#include "devices/nvpmodel/generation.h"
#include "devices/nvpmodel/write.h"
#include "plots/figures/device_fronts.h"
#include "report/plan.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

void declare_plan(OptionsDescription& options) {
  add_plan_options(options);
  add_modes_option(options);
  add_picture_options(options, "plot energy against latency of all modes as {}");
  options.add_text("color-by", "KNOB",
                   "colour the modes of the plot by their gpu or memory clock; default: gpu");
  options.add_text("probes-csv", "FILE",
                   "write the runs to measure as a table with the commands that measure them; "
                   "filled in, 'ridgeline calibrate' reads it");
  options.add_text("nvpmodel", "FILE",
                   "write the best mode that is not a stock mode as a POWER_MODEL block for "
                   "nvpmodel.conf, and say how to install it");
}

// The best one that nvpmodel does not have yet; the stock mode where no other is better.
const PlannedMode& mode_to_install(const Plan& plan) {
  if (!plan.chosen.stock) return plan.chosen;
  for (const auto* other : {&plan.without_reboot, &plan.with_reboot})
    if (*other && !(*other)->mode.stock) return (*other)->mode;
  return plan.chosen;
}

// With the masks and clusters of the device.
DeviceMode device_mode_of(const PlannedMode& chosen, const KnownDevice& known) {
  const OperatingPoint& point = chosen.point;
  ModeRequest request;
  request.label = point.label;
  if (request.label.empty()) {
    request.gpu_hz = point.gpu_hz;
    request.memory_hz = point.memory_hz;
    if (!point.cpu_hz.empty()) request.cpu_hz = point.cpu_hz.front();
    request.cpu_cores = point.cpu_cores;
    request.gpu_units = point.gpu_units;
  }
  return resolve(known.device, known.configuration, request, "--nvpmodel");
}

std::string nvpmodel_block(const PlannedMode& chosen, const KnownDevice& known) {
  const nvpmodel::Configuration file = nvpmodel::generation_file(known.device, known.configuration);
  nvpmodel::BlockOptions wanted;
  wanted.locked = true;
  return to_text(nvpmodel::compose(
      file, known.device, nvpmodel::block_values(file, device_mode_of(chosen, known), wanted),
      known.device.id));
}

// How the block gets onto the board and how the mode is entered.
void talk_about_installing(const PlannedMode& mode, const KnownDevice& known,
                           const std::string& path, const Console& console) {
  const nvpmodel::Configuration file = nvpmodel::generation_file(known.device, known.configuration);
  console.talk(fmt::format(
      "to use it, put {} before the PM_CONFIG line of /etc/nvpmodel.conf, or on the board:\n"
      "  ridgeline modes --mode {} --lock --conf /etc/nvpmodel.conf \\\n"
      "    --name RIDGELINE --diff > ridgeline.patch\n"
      "  sudo patch /etc/nvpmodel.conf ridgeline.patch\n"
      "then: sudo nvpmodel -m {} (its ID in the block){}",
      path, name_of(mode), nvpmodel::next_id(file),
      mode.reach == Reach::reboot ? "; it asks for a reboot" : ""));
}

// Narrower types that are worth a try for a request in this one.
std::vector<DType> narrower_types(const PlanRequest& request, DType dtype) {
  if (request.scenario == Scenario::training) return {};
  if (dtype == DType::fp32) return {DType::fp16, DType::int8};
  if (dtype == DType::fp16 || dtype == DType::bf16) return {DType::int8};
  return {};
}

// The same request in another type; nothing where the machine or the network does not have it, or
// no mode meets the limits.
std::optional<Plan> plan_in(PlanRequest request, DType dtype) {
  try {
    request.run.dtypes = {dtype};
    request.why.clear();
    const PlanSetup setup = plan_setup(request);
    Plan plan = make_plan(setup.problem, request.objective, setup.options).plan;
    return plan.chosen.dtype == dtype ? std::optional(std::move(plan)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// What a narrower type would save, where the plan is in fp32.
void add_narrower_type(const PlanRequest& request, Plan& plan) {
  if (plan.chosen.dtype != DType::fp32 || request.run.dtypes.size() > 1) return;
  for (const DType dtype : narrower_types(request, plan.chosen.dtype)) {
    const auto other = plan_in(request, dtype);
    if (!other) continue;
    const PlannedService &here = plan.chosen.service, &there = other->chosen.service;
    Saving saving{.mode = name_of(plan.chosen), .energy = {}, .energy_low = {}, .energy_high = {}};
    saving.time = 1 - there.time_s / here.time_s;
    if (here.energy_j && there.energy_j) saving.energy = 1 - *there.energy_j / *here.energy_j;
    plan.narrower_type = PlannedAlternative{other->chosen, saving};
    return;
  }
}

// Limits that fail in this type may hold in a narrower one.
Error with_narrower_type(const Error& error, const PlanRequest& request,
                         const PlanProblem& problem) {
  const DType now = problem.variants.back().dtype;
  for (const DType dtype : narrower_types(request, now)) {
    const auto plan = plan_in(request, dtype);
    if (!plan) continue;
    const PlannedService& service = plan->chosen.service;
    std::string would = fmt::format("--dtype {} would do it: {} with {}", to_string(dtype),
                                    name_of(plan->chosen), format_seconds(service.latency_s));
    if (service.mean_power_w)
      would += fmt::format(" and {}", format_si(*service.mean_power_w, "W"));
    return {error.where(), error.cause(), would + "; or " + error.fix(), error.code()};
  }
  return error;
}

PlanResult planned(const PlanRequest& request, const PlanSetup& setup) {
  try {
    PlanResult result = make_plan(setup.problem, request.objective, setup.options);
    add_narrower_type(request, result.plan);
    return result;
  } catch (const Error& error) {
    if (error.code() != ExitCode::infeasible) throw;
    throw with_narrower_type(error, request, setup.problem);
  }
}

// The devices of --on, each with all its modes; those that cannot run it are in the table.
std::vector<DevicePlan> device_plans(const Options& options, const VariedOption& varied) {
  std::vector<DevicePlan> plans;
  for (const std::string& device : varied.values) {
    Options one = options;
    one.set(varied.option, device);
    try {
      const PlanRequest request = plan_request(one);
      PlanSetup setup = plan_setup(request);
      PlanResult result = make_plan(setup.problem, request.objective, setup.options);
      plans.push_back({std::move(setup.problem), std::move(result)});
    } catch (const Error& error) {
      if (error.code() == ExitCode::usage) throw;
    }
  }
  return plans;
}

// A table; of several devices their fronts can be drawn beside it.
ExitCode write_plans(const Options& options, const VariedOption& varied, Console& console) {
  const ComparedRuns runs = compare(options, varied, plan_request, true);
  if (varied.what != Varied::device) return write_comparison(runs, options, console);
  check_answer_files(options, picture_options());
  return write_comparison(runs, options, console, picture_files([&] {
                            return device_fronts_figure(device_plans(options, varied));
                          }));
}

ExitCode run_plan(const Options& options, Console& console) {
  if (const auto varied = varied_option(options, {"modes", "on", "runtime", "storage", "workers"}))
    return write_plans(options, *varied, console);
  std::vector<const char*> files = picture_options();
  files.push_back("nvpmodel");
  files.push_back("probes-csv");
  check_answer_files(options, files);
  const PlanRequest request = plan_request(options);
  const auto knob = token_option(options, "color-by", ColourKnob::gpu);
  const PlanSetup setup = plan_setup(request);
  PlanResult result = planned(request, setup);
  const Plan& plan = result.plan;
  if (options.has("mode") && setup.device)
    result.plan.warnings.push_back(
        "--mode is the mode that the machine is in, from which reach is counted; to hold a mode, "
        "use 'ridgeline explain'");

  Answer answer;
  answer.name = "plan";
  answer.text = [&](std::ostream& out) {
    out << plan_text(plan, flag(options, "explain"), console.width);
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(plan)); };
  answer.csv = [&](std::ostream& out) { out << plan_csv(setup.problem, result); };
  answer.files = picture_files([&] { return plan_figure(setup.problem, result, knob); });
  answer.files.push_back({"nvpmodel", [&](std::ostream& out) {
                            out << nvpmodel_block(mode_to_install(plan), *setup.device);
                          }});
  answer.files.push_back({"probes-csv", [&](std::ostream& out) {
                            const NetworkRequest& network = request.run.network;
                            const auto workload = find_workload(network.word);
                            out << probe_sheet(
                                plan, network.word,
                                workload ? full_options(*workload, network.options) : "");
                          }});
  answer.beside_csv = as_notes(plan.warnings);
  write_answer(answer, options, console);
  if (const auto path = options.word("nvpmodel"); path && *path != "-")
    talk_about_installing(mode_to_install(plan), *setup.device, *path, console);
  return ExitCode::ok;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .summary = "choose the power mode for a network within time, power and energy limits",
      .positional = "[MODEL]",
      .max_positional = 1,
      .description =
          "Predicts an ONNX or PyTorch file, a TensorRT engine or a network by name in every power "
          "mode of a machine, for every listed batch and data type, and chooses the stock mode "
          "with the "
          "least energy (or time, "
          "power, energy-delay product) that meets the limits with 90 % probability. Prints the "
          "command that enters it, what other clocks would save, what the choice saves over the "
          "default and the fastest mode, which limit is active, the alternatives, and which modes "
          "to measure to be sure. If no mode meets the limits, it "
          "names the nearest miss and the limit to relax, and exits with 3. --mode is the mode "
          "that the machine is in now. With --train it plans whole epochs, from storage through "
          "decoding to training; with --infer as well, training steps run between requests, as "
          "many as latency and power allow. Nothing is run or set.",
      .examples = {{"plan resnet50 --on jetson-orin-nano-8gb --latency 20ms",
                    "least energy within 20 ms, before you own the board"},
                   {"plan yolov8n.onnx --on board.json --fps 30",
                    "camera frames on a calibrated board; idle time counts"},
                   {"plan resnet50 --on orin-nano-8gb,orin-nx-16gb,agx-orin-64gb --dtype fp16",
                    "a table of devices, each in its best stock mode"},
                   {"plan yolov8n --on jetson-orin-nano-8gb --modes all --fps 30 --dtype fp16",
                    "a table of all stock modes"},
                   {"plan bert_base --on jetson-orin-nx-16gb --max-slowdown 5% --batch 1,2,4,8",
                    "choose the batch size too"},
                   {"plan resnet50 --on jetson-agx-orin-64gb --power 20W --why MAXN --svg plan.svg",
                    "why not MAXN, and a plot of all modes"},
                   {"plan --train resnet18 --on jetson-agx-orin-64gb --dataset 50000x150kB "
                    "--storage ssd --workers 4 --epochs 10 --power 30W",
                    "training epochs, including the input pipeline"},
                   {"plan --train resnet18 --infer mobilenet_v2 --rate 60/s --latency 50ms "
                    "--power 30W --on jetson-agx-orin-64gb",
                    "training between requests"}},
      .add_options = declare_plan,
      .run = run_plan};
}

}  // namespace ridgeline::cli
