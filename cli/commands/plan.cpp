// `ridgeline plan MODEL`: the power mode to use, what it costs and saves, and how sure that is.
// Parses, plans, writes; sweeping and choosing are in planner/.
#include "plots/figures/plan.h"

#include <ostream>
#include <string>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/requests/plan_problem.h"
#include "devices/nvpmodel/generation.h"
#include "devices/nvpmodel/write.h"
#include "report/plan.h"

namespace ridgeline::cli {
namespace {

void declare_plan(OptionsDescription& options) {
  add_plan_options(options);
  add_picture_options(options, "plot energy against latency of all modes as {}");
  options.add_text("nvpmodel", "FILE",
                   "write the chosen mode as a POWER_MODEL block for nvpmodel.conf");
}

// The mode as the device has it, masks and clusters included.
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

ExitCode run_plan(const Options& options, Console& console) {
  std::vector<const char*> files = picture_options();
  files.push_back("nvpmodel");
  check_answer_files(options, files);
  const PlanRequest request = plan_request(options);
  const PlanSetup setup = plan_setup(request);
  const PlanResult result = make_plan(setup.problem, request.objective, setup.options);
  const Plan& plan = result.plan;

  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << plan_text(plan, flag(options, "explain"), console.width);
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(plan)); };
  answer.csv = [&](std::ostream& out) { out << plan_csv(setup.problem, result); };
  answer.files = picture_files([&] { return plan_figure(setup.problem, result); });
  answer.files.push_back(
      {"nvpmodel", [&](std::ostream& out) { out << nvpmodel_block(plan.chosen, *setup.device); }});
  answer.beside_csv = as_notes(plan.warnings);
  write_answer(answer, options, console);
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
          "Predicts an ONNX file, a TensorRT engine or a network by name in every power mode of a "
          "machine, for every "
          "listed batch and data type, and chooses the mode with the least energy (or time, power, "
          "energy-delay product) that meets the limits with 90 % probability. Prints what the "
          "choice saves over the default and the fastest mode, which limit is active, the "
          "alternatives, and which modes to measure to be sure. If no mode meets the limits, it "
          "names the nearest miss and the limit to relax, and exits with 3. --mode is the mode "
          "that the machine is in now. With --train it plans whole epochs, from storage through "
          "decoding to training; with --infer as well, training steps run between requests, as "
          "many as latency and power allow. Nothing is run or set.",
      .examples = {{"plan resnet50 --on jetson-orin-nano-8gb --latency 20ms",
                    "least energy within 20 ms, before you own the board"},
                   {"plan yolov8n.onnx --on board.json --fps 30",
                    "camera frames on a calibrated board; idle time counts"},
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
