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
  add_picture_options(options, "write energy against latency of all modes as {}");
  options.add_text("nvpmodel", "FILE",
                   "write the chosen mode as a POWER_MODEL block of nvpmodel's file");
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
      .summary = "choose the power mode for a network under limits of time, power and energy",
      .positional = "[MODEL]",
      .max_positional = 1,
      .description =
          "Predicts an ONNX file or a network by name in every power mode of a machine, with every "
          "batch and type of the lists, and chooses the one with the least energy (or time, power, "
          "energy-delay product) that keeps the limits with a probability of 90 %. It says what "
          "that saves against the default and the fastest mode, which limit binds, what is nearly "
          "as good, and which modes to measure to be sure. Where nothing keeps the limits, it "
          "names the nearest miss and the limit to relax; the exit code is 3. --mode is the mode "
          "that the machine is in. With --train, time and energy of whole epochs are planned, with "
          "the dataset's way from storage through decoding; with --infer too, training steps run "
          "between requests, and as many of them as latency and power allow. Nothing is run or "
          "set.",
      .examples = {{"plan resnet50 --on jetson-orin-nano-8gb --latency 20ms",
                    "the least energy within 20 ms, before the board is at hand"},
                   {"plan yolov8n.onnx --on board.json --fps 30",
                    "frames of a camera, on a calibrated board: idle time counts"},
                   {"plan bert_base --on jetson-orin-nx-16gb --max-slowdown 5% --batch 1,2,4,8",
                    "batches as a further choice"},
                   {"plan resnet50 --on jetson-agx-orin-64gb --power 20W --why MAXN --svg plan.svg",
                    "and why not MAXN; all modes as a picture"},
                   {"plan --train resnet18 --on jetson-agx-orin-64gb --dataset 50000x150kB "
                    "--storage ssd --workers 4 --epochs 10 --power 30W",
                    "epochs of training, with the input pipeline"},
                   {"plan --train resnet18 --infer mobilenet_v2 --rate 60/s --latency 50ms "
                    "--power 30W --on jetson-agx-orin-64gb",
                    "training between requests"}},
      .add_options = declare_plan,
      .run = run_plan};
}

}  // namespace ridgeline::cli
