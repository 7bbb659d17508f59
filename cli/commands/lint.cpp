// `ridgeline lint ENGINE`: what costs a TensorRT engine time needlessly, with the remedy.
// Parses, reads, judges, writes; the rules are in analyzer/tensorrt/lint/.
#include "analyzer/tensorrt/lint/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>

#include "analyzer/tensorrt/import.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/requests/machine.h"
#include "cli/requests/network.h"
#include "cli/requests/values.h"
#include "report/lint.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/model/machine.h"
#include "roofline/model/network_load.h"
#include "roofline/model/predict.h"

namespace ridgeline::cli {
namespace {

using tensorrt::LayerCost;
using tensorrt::LintReport;

void declare_lint(OptionsDescription& options) {
  add_machine_options(options, "none");
  add_times_option(options);
  add_engine_options(options);
  options.add_text("batch", "N", "batch of an engine with free sizes");
  options.add_text("assume-dim", "N", "every other free size of an engine");
  options.add_list("shape", "NAME=1x3x640x640",
                   "shape of an input that an engine file is run with; may be repeated");
  options.add_list("fail-on", "RULE",
                   "exit code 3 if this rule finds something, or 'any' of them; may be repeated");
  options.add_flag("all", "show every layer of a finding, not only the first");
  options.add_flag("md", "print Markdown on standard output");
}

struct LintRequest {
  std::string path;
  ReadOptions reading;
  std::optional<MachineRequest> machine;  // only if --on names one: engines are linted on laptops
  std::vector<std::string> fail_on;       // names of rules, or "any"
};

std::vector<std::string> rules_to_fail_on(const Options& options) {
  if (!options.has("fail-on")) return {};
  std::vector<std::string> known = {"any"};
  for (const tensorrt::LintRule& rule : tensorrt::lint_rules()) known.emplace_back(rule.name);
  std::vector<std::string> rules;
  for (const std::string& value : options.list("fail-on"))
    for (const std::string& word : list_of(value, "--fail-on")) {
      if (std::ranges::find(known, word) == known.end()) {
        const std::string near = suggestion(word, known);
        throw usage_error(
            as_typed("fail-on", word), "no such rule",
            near.empty() ? "rules are " + fmt::format("{}", fmt::join(known, ", ")) : near);
      }
      rules.push_back(word);
    }
  return rules;
}

LintRequest lint_request(const Options& options) {
  LintRequest request;
  request.path = required_word(options, "'lint' needs an engine", "lint engine.graph.json");
  const NetworkRequest network = network_request(options, request.path);
  request.reading = network.reading;
  request.reading.batch = network.batch;
  request.fail_on = rules_to_fail_on(options);
  if (options.has("on"))
    request.machine = machine_request(options);
  else
    for (const char* name : {"mode", "jetpack", "threads"}) refuse(options, name, "needs --on");
  return request;
}

// The machine's part of the costs: the least time of each layer, and a predicted one if none was
// measured.
void add_machine(const ChosenKernels& kernels, const MachineSource& machine, bool are_measured,
                 std::vector<LayerCost>& costs) {
  const NetworkLoad load = network_load(kernels.demands, kernels.runtime);
  Conditions conditions;
  conditions.point = machine.point;
  conditions.runtime = kernels.runtime;
  const Prediction prediction =
      predict(machine.model, load, conditions, {.draws = 0, .rows = RowDetail::values});
  const ApplicableCeilings ceilings(
      model_ceilings(machine.model, prediction.point, kernels.runtime));
  for (std::size_t i = 0; i < kernels.demands.size(); ++i) {
    LayerCost& cost = costs[kernels.demand_layers[i]];
    const Work& work = kernels.demands[i].work;
    cost.least_s = ceilings.roof_time_s(work, total_bytes(work));
    if (!are_measured) cost.time_s = prediction.demands[i].time_s.value;
  }
}

LintReport linted(const LintRequest& request) {
  const tensorrt::LoadedEngine loaded = tensorrt::load_engine(request.path, request.reading);
  const ChosenKernels& kernels = loaded.import.kernels;
  std::vector<LayerCost> costs = tensorrt::layer_costs(kernels);
  std::optional<Source> times;
  if (kernels.times) times = Source::measured;
  std::string machine_name;
  std::vector<std::string> notes = loaded.import.warnings;
  if (request.machine) {
    const MachineSource machine = machine_source(*request.machine);
    add_machine(kernels, machine, times.has_value(), costs);
    machine_name = machine.name;
    notes.insert(notes.end(), machine.notes.begin(), machine.notes.end());
    if (!times) times = Source::predicted;
  }
  LintReport report = tensorrt::lint({loaded.engine, std::move(costs), times});
  report.machine = machine_name;
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  if (kernels.times && report.device.empty()) report.device = kernels.times->device;
  return report;
}

ExitCode verdict(const LintReport& report, const std::vector<std::string>& fail_on) {
  const bool fails = std::ranges::any_of(report.findings, [&](const tensorrt::Finding& finding) {
    return std::ranges::any_of(
        fail_on, [&](const std::string& rule) { return rule == "any" || rule == finding.rule; });
  });
  return fails ? ExitCode::infeasible : ExitCode::ok;
}

ExitCode run_lint(const Options& options, Console& console) {
  const LintRequest request = lint_request(options);
  const LintReport report = linted(request);
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << lint_text(report, flag(options, "all"), console.width);
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(report)); };
  answer.csv = [&](std::ostream& out) { out << lint_csv(report); };
  answer.markdown = [&](std::ostream& out) { out << lint_markdown(report); };
  answer.beside_csv = as_notes(report.notes);
  write_answer(answer, options, console);
  return verdict(report, request.fail_on);
}

}  // namespace

Command lint_command() {
  return {.name = "lint",
          .summary = "find what costs a TensorRT engine time needlessly",
          .positional = "ENGINE",
          .max_positional = 1,
          .description =
              "Takes the layer information of a TensorRT engine (trtexec --exportLayerInfo, built "
              "with --profilingVerbosity=detailed), a log that holds it, or an engine file where "
              "trtexec is installed, and reports what costs time needlessly: reformats, quantize "
              "steps that no layer absorbed, layers in a wide type, idle tensor cores, unfused "
              "element-wise layers, copies, tiny kernels, kernels far from their roof. Each "
              "finding has its layers, what it loses per run and a remedy. Losses are measured "
              "with --times, predicted with --on, otherwise given in bytes. docs/tensorrt.md lists "
              "the rules.",
          .examples = {{"lint engine.graph.json --times engine.profile.json",
                        "with the times that trtexec --exportProfile wrote"},
                       {"lint engine.graph.json --times engine.profile.json --on "
                        "jetson-agx-orin-64gb --mode 30W",
                        "also compare every kernel with its roof"},
                       {"lint engine.graph.json --fail-on unfused-qdq --fail-on copies --quiet",
                        "a check for CI: exit code 3 if such layers appear"},
                       {"lint model.engine --json", "on the board, with trtexec"}},
          .add_options = declare_lint,
          .run = run_lint};
}

}  // namespace ridgeline::cli
