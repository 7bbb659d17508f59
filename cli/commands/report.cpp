// `ridgeline report NETWORK... --on DEVICE,...`: plan, layers, rooflines and timeline of networks
// on devices as one HTML page. Parses, plans and explains each pair, writes; the page is in
// report/.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/text_file.h"
#include "cli/answer.h"
#include "cli/commands/version.h"
#include "cli/requests/explanation.h"
#include "cli/requests/network.h"
#include "cli/requests/plan_problem.h"
#include "cli/requests/values.h"
#include "planner/choosable.h"
#include "report/page.h"
#include "roofline/explain/choices.h"
#include "roofline/model/draws.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

constexpr int most_networks = 32;

void declare_report(OptionsDescription& options) {
  options.add_text("output,o", "FILE", "the page; - is standard output", "report.html");
  add_plan_options(options);
  add_times_option(options);
  options.add_text("validation", "FILE",
                   "add a section on accuracy: the output of 'ridgeline validate --json'");
}

// The types that the page offers: the choice's, all that were asked for, and those of the usual
// ones that machine and network have.
std::vector<DType> page_dtypes(const PlanRequest& request, const Plan& plan,
                               const MachineModel& model) {
  std::vector<DType> dtypes{plan.chosen.dtype};
  const auto add = [&](DType dtype) {
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end() &&
        runnable_dtype(model, dtype) == dtype)
      dtypes.push_back(dtype);
  };
  for (const DType dtype : request.run.dtypes) add(dtype);
  if (find_workload(request.run.network.word) && !request.run.network.weights)
    for (const DType dtype : {DType::fp32, DType::fp16, DType::int8}) add(dtype);
  return dtypes;
}

PageMode page_mode(const CandidateModes& candidates, const CandidateMode& mode) {
  PageMode result;
  result.name = mode_name(mode.point);
  result.request = request_text(mode.point);
  result.command = enter_command(candidates, mode);
  result.reach = mode.reach;
  result.stock = mode.stock;
  return result;
}

// Stock modes that the model can run in, the choice, and its alternatives.
std::vector<OperatingPoint> page_points(const PlanProblem& problem, const Plan& plan) {
  std::vector<OperatingPoint> points;
  const auto add = [&](const OperatingPoint& point) {
    if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(point);
  };
  for (const CandidateMode& mode : problem.candidates.modes)
    if (mode.stock) add(mode.point);
  add(plan.chosen.point);
  for (const auto* other : {&plan.without_reboot, &plan.with_reboot})
    if (*other) add((*other)->mode.point);
  return points;
}

const CandidateMode& candidate_at(const CandidateModes& candidates, const OperatingPoint& point) {
  return *std::find_if(candidates.modes.begin(), candidates.modes.end(),
                       [&](const CandidateMode& mode) { return mode.point == point; });
}

// Types and modes that the network or the model lacks are left out.
void add_modes(ExplainedNetwork& network, std::span<const CoefficientDraw> draws, PageRun& run) {
  const CandidateModes& candidates = run.problem.candidates;
  const auto points = page_points(run.problem, run.result.plan);
  std::erase_if(run.dtypes, [&](DType dtype) {
    if (dtype == run.dtypes.front()) return false;
    try {
      network.in_mode(run.result.plan.chosen.point, dtype, {});
      return false;
    } catch (const Error&) {
      return true;
    }
  });
  for (const OperatingPoint& point : points) {
    PageMode mode = page_mode(candidates, candidate_at(candidates, point));
    try {
      for (const DType dtype : run.dtypes)
        mode.runs.push_back(network.in_mode(point, dtype, draws));
      mode.timeline = network.timeline_in(point, run.dtypes.front());
    } catch (const Error&) {
      continue;  // named by the plan's warnings
    }
    run.modes.push_back(std::move(mode));
  }
}

PageRun page_run(const Options& options) {
  const PlanRequest request = plan_request(options);
  PlanSetup setup = plan_setup(request);
  PageRun run;
  run.result = make_plan(setup.problem, request.objective, setup.options);
  const Plan& plan = run.result.plan;
  const auto draws = coefficient_draws(setup.problem.model, setup.problem.conditions.runtime,
                                       setup.options.draws, setup.options.seed);
  run.problem = std::move(setup.problem);
  SweepDraws sweep_draws(run.problem, run.result.sweep, draws);
  run.choosable = choosable_rows(run.problem, run.result.sweep, sweep_draws, request.objective);

  ExplainRequest explained;
  explained.network = request.run.network;
  if (explained.network.batch || find_workload(explained.network.word) ||
      !request.run.batches.empty())
    explained.network.batch = plan.chosen.batch;
  if (!request.run.dtypes.empty() || find_workload(explained.network.word))
    explained.network.dtype = plan.chosen.dtype;
  explained.machine = request.machine;
  explained.machine.mode = request_text(plan.chosen.point);
  explained.runtime = plan.run.runtime;
  explained.locked = run.problem.conditions.locked;
  explained.free_memory = request.input.free_memory_bytes;
  MachineSource machine = machine_source(request.machine);
  machine.point = plan.chosen.point;
  ExplainedNetwork network(explained, machine);
  run.explanation = network.explanation();
  run.dtypes = page_dtypes(request, plan, machine.model);
  add_modes(network, draws, run);
  run.calibrated = machine.model.observations;
  return run;
}

// Every network on every device; a pair that cannot run is listed with its reason.
void add_runs(const Options& options, Page& page) {
  const std::vector<std::string> networks = positional(options);
  const std::string on = options.text_or_empty("on");
  const std::vector<std::string> devices =
      on.empty() ? std::vector<std::string>{""} : list_of(on, as_typed("on", on));
  const bool is_one = networks.size() * devices.size() == 1;
  std::optional<Error> first;
  for (const std::string& network : networks)
    for (const std::string& device : devices) {
      Options one = options;
      one.set("positional", std::vector<std::string>{network});
      if (!device.empty()) one.set("on", device);
      try {
        page.runs.push_back(page_run(one));
      } catch (const Error& error) {
        if (is_one || error.code() == ExitCode::usage) throw;
        if (!first) first = error;
        page.failures.push_back({network, device, error.cause()});
      }
    }
  if (page.runs.empty()) throw *first;
}

std::string validation_of(const Options& options) {
  const auto path = options.word("validation");
  if (!path) return {};
  const Json document = read_json_file(*path);
  check_schema(file_cursor(document, *path), "ridgeline.validation/1");
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ExitCode run_report(const Options& options, Console& console) {
  refuse(options, "train", "a report is about inference", "see 'ridgeline plan --train'");
  refuse(options, "infer", "a report is about inference", "name the network alone");
  required_word(options, "'report' needs a network",
                "report resnet50 --on jetson-agx-orin-64gb -o report.html");
  check_answer_files(options, {"output"});
  Page page;
  page.program = tool_name();
  page.validation = validation_of(options);
  add_runs(options, page);
  Answer answer;
  answer.text = [&](std::ostream& out) {
    for (const PageRun& run : page.runs) out << page_summary(run).front() << "\n";
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(page)); };
  answer.files = {{"output", [&](std::ostream& out) { out << page_html(page); }}};
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace

Command report_command() {
  return {
      .name = "report",
      .summary = "write plan, layers, rooflines and timeline as one interactive HTML page",
      .positional = "MODEL...",
      .max_positional = most_networks,
      .description =
          "Plans each network on each device of --on as 'plan' does and explains the layers as "
          "'explain' does, in every stock mode and data type, and writes one HTML file that needs "
          "no network: what to do, the time and energy rooflines with the layers, tables, the "
          "modes with limits that can be moved, and the predicted timeline. --json writes the data "
          "of the page instead of the first line of its summary.",
      .examples = {{"report resnet50 --on jetson-agx-orin-64gb --dtype fp16 -o report.html",
                    "one network on one board"},
                   {"report resnet50 mobilenet_v3_large --on orin-nano-8gb,agx-orin-64gb",
                    "networks and devices compared"},
                   {"report engine.graph.json --times engine.profile.json --on "
                    "jetson-agx-orin-64gb -o engine.html",
                    "measured times beside the predicted ones"}},
      .add_options = declare_report,
      .run = run_report,
      .has_csv = false};
}

}  // namespace ridgeline::cli
