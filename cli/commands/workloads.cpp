// `ridgeline workloads`: the networks that are known by name, with where they come from; or one of
// them with its options. What one asks for in detail is `ridgeline analyze NAME`.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "base/csv.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cli/answer.h"
#include "workloads/registry.h"
#include "workloads/summary.h"

namespace ridgeline::cli {
namespace {

void declare_workloads(OptionsDescription&) {}

std::string tensor_text(const TensorSummary& tensor) {
  return fmt::format("{} {} {}", tensor.name, to_string(tensor.shape), to_string(tensor.type));
}

std::string exact(double amount) { return fmt::format("{:.0f}", amount); }

std::string workloads_csv(const std::vector<WorkloadSummary>& summaries) {
  std::string csv =
      csv_row({"workload", "family", "parameters", "macs", "layers", "source", "address"});
  for (const WorkloadSummary& one : summaries)
    csv += csv_row({std::string(one.workload.name), std::string(one.workload.family),
                    exact(one.parameters), exact(one.macs), std::to_string(one.layers.size()),
                    std::string(one.workload.source), std::string(one.workload.address)});
  return csv;
}

std::string workloads_text(const std::vector<WorkloadSummary>& summaries, int width) {
  TextTable table{{{"workload"},
                   {"parameters", Align::right},
                   {"MAC", Align::right},
                   {"input"},
                   {"source", Align::left, true}},
                  {}};
  for (const WorkloadSummary& one : summaries)
    table.rows.push_back({std::string(one.workload.name), format_si(one.parameters, "", 4),
                          format_si(one.macs, "", 4), to_string(one.inputs.front().shape),
                          std::string(one.workload.source)});
  return render_text(table, width);
}

std::string layers_csv(const WorkloadSummary& summary) {
  std::string csv = csv_row({"layer", "op", "macs", "parameters"});
  for (const LayerSummary& layer : summary.layers)
    csv += csv_row({layer.name, layer.op, exact(layer.macs), exact(layer.parameters)});
  return csv;
}

void print_one(const WorkloadSummary& summary, int width, std::ostream& out) {
  const Workload& workload = summary.workload;
  const auto fact = [&](std::string_view name, const std::string& value) {
    out << fmt::format("  {:<11}", name) << wrap(value, width, 13, 13) << "\n";
  };
  out << workload.name << "\n";
  fact("source", std::string(workload.source));
  fact("address", std::string(workload.address));
  fact("parameters", exact(summary.parameters));
  fact("MAC", exact(summary.macs));
  fact("layers", std::to_string(summary.layers.size()));
  for (const TensorSummary& tensor : summary.inputs) fact("input", tensor_text(tensor));
  // A language model has as many more as its cache has tensors.
  const std::size_t shown = std::min<std::size_t>(summary.outputs.size(), 4);
  for (std::size_t i = 0; i < shown; ++i) fact("output", tensor_text(summary.outputs[i]));
  if (shown < summary.outputs.size())
    fact("output", fmt::format("… and {} more", summary.outputs.size() - shown));
  out << "\n";

  TextTable table{{{"option"}, {"default"}, {"meaning", Align::left, true}}, {}};
  for (const auto& [option, name] : TokenTable<WorkloadOption>::rows)
    if (workload.options.has(option))
      table.rows.push_back({fmt::format("--{} {}", name, value_name(option)),
                            default_text(workload, option), std::string(description(option))});
  out << render_text(table, width);
}

ExitCode run_workloads(const Options& options, Console& console) {
  const auto words = positional(options);
  const bool all = words.empty();
  std::vector<WorkloadSummary> summaries;
  if (all)
    for (const Workload& workload : all_workloads()) summaries.push_back(summarize(workload));
  else
    summaries.push_back(summarize(workload_named(words.front())));

  Answer answer;
  answer.text = [&](std::ostream& out) {
    if (all)
      out << workloads_text(summaries, console.width);
    else
      print_one(summaries.front(), console.width, out);
  };
  answer.json = [&](std::ostream& out) {
    const LayerDetail detail = all ? LayerDetail::left_out : LayerDetail::shown;
    out << dump_json({{"schema", "ridgeline.workloads/1"},
                      {"workloads", array_of(summaries, [&](const WorkloadSummary& one) {
                         return to_json(one, detail);
                       })}});
  };
  answer.csv = [&](std::ostream& out) {
    out << (all ? workloads_csv(summaries) : layers_csv(summaries.front()));
  };
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace

Command workloads_command() {
  return {.name = "workloads",
          .summary = "networks known by name, with their sources",
          .positional = "[NAME]",
          .max_positional = 1,
          .description =
              "Lists the networks that can be analyzed by name, with their parameters and "
              "multiply-accumulates (MAC) at the defaults: batch 1, the image as published, 128 "
              "tokens. With a name: that network's source, inputs, outputs and options; --json and "
              "--csv then hold its layers.",
          .examples = {{"workloads", "all networks"},
                       {"workloads llama-3.2-1b", "its options"},
                       {"workloads resnet50 --csv", "MAC and parameters of its layers"}},
          .add_options = declare_workloads,
          .run = run_workloads};
}

}  // namespace ridgeline::cli
