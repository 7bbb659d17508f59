// Sums over classes and dtypes, in words.
// Every number here is in the JSON form too.
#include "report/analysis_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/units.h"
#include "report/analysis.h"

namespace ridgeline {
namespace {

std::string plural(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string classes_text(const Analysis& analysis) {
  struct Share {
    std::size_t layers = 0;
    double operations = 0, bytes = 0;
  };
  std::map<ComputeClass, Share> shares;
  for (const AnalysisRow& row : analysis.rows) {
    Share& share = shares[row.compute_class];
    ++share.layers;
    share.operations += total_operations(row.work);
    share.bytes += total_bytes(row.work);
  }
  const double all_operations = total_operations(analysis.totals.work);
  const double all_bytes = total_bytes(analysis.totals.work);
  std::string text;
  for (const auto& [compute_class, share] : shares) {
    text += text.empty() ? "classes: " : "; ";
    text += fmt::format("{} {}", to_string(compute_class), plural(share.layers, "layer"));
    if (all_operations > 0 && share.operations > 0)
      text += fmt::format(", {} of {}", format_percent(share.operations / all_operations, 1),
                          total_integer_ops(analysis.totals.work) > 0 ? "operations" : "FLOP");
    if (all_bytes > 0 && share.bytes > 0)
      text += fmt::format(", {} of bytes", format_percent(share.bytes / all_bytes, 1));
  }
  return text;
}

// "fp32 on matrix units 99.5 %, fp32 on vector units 0.5 %"
std::string dtypes_text(const Analysis& analysis) {
  const double all = total_operations(analysis.totals.work);
  if (all <= 0) return "";
  std::string text;
  const auto& entries = analysis.totals.work.flop;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)  // matrix units first
    text += fmt::format("{}{} for {} units {}", text.empty() ? "arithmetic: " : ", ",
                        to_string(entry->dtype), to_string(entry->unit),
                        format_percent(entry->flop / all, 1));
  return text;
}

std::string parameters_text(const Analysis& analysis) {
  return fmt::format("parameters: {} in {}", amount_text(analysis.totals.params),
                     bytes_text(analysis.totals.parameter_bytes));
}

std::string traffic_text(const Analysis& analysis) {
  const Work& work = analysis.totals.work;
  return fmt::format("bytes: {} of weights read, {} of activations read, {} written",
                     bytes_text(work.weight_bytes_read), bytes_text(work.bytes_read),
                     bytes_text(work.bytes_written + work.weight_bytes_written));
}

std::string alternatives_text(const Analysis& analysis) {
  if (analysis.alternatives.empty()) return "";
  Work work;
  for (const AnalysisRow& row : analysis.alternatives) work += row.work;
  return fmt::format("not in the total: {} of branches that are not taken, {} FLOP, {}",
                     plural(analysis.alternatives.size(), "layer"),
                     amount_text(total_operations(work)), bytes_text(total_bytes(work)));
}

std::string launches_text(const Analysis& analysis) {
  if (!analysis.runtime) return "";
  double launches = 0, silent = 0;
  for (const Demand& demand : analysis.demands) {
    launches += demand.launches;
    silent += demand.host_calls.functions + demand.host_calls.modules;
  }
  std::string text =
      fmt::format("kernels: {} in {} launches", kernel_count(analysis), amount_text(launches));
  if (silent > 0)
    text += fmt::format("; calls of the host that launch nothing: {}", amount_text(silent));
  return text;
}

// ", decode, context 2048, attention fused, fp16": what the words of an option do not say
// themselves comes with its name. Classes and images are in the shapes.
std::string options_text(const Analysis& analysis) {
  std::string text;
  for (const auto& [name, value] : analysis.model.options) {
    if (name == "classes" || name == "image") continue;
    const bool speaks_for_itself = name == "phase" || name == "dtype";
    text += ", " + (speaks_for_itself ? value : name + " " + value);
  }
  return text;
}

std::string training_text(const Analysis& analysis) {
  if (!analysis.training) return "";
  const TrainingOptions& options = analysis.training->options;
  std::string text = fmt::format(", a training step with {}", to_string(options.optimizer));
  if (options.mixed_precision) text += " in mixed precision";
  if (options.checkpoint) text += ", checkpoints";
  if (!options.freeze_until.empty()) text += ", frozen until " + options.freeze_until;
  return text;
}

std::string fusion_text(const Analysis& analysis) {
  double bytes = 0, kernels = 0;
  std::string rules;
  for (const FusionSaving& saving : analysis.fusion) {
    bytes += saving.bytes;
    if (saving.bytes > 0)
      rules +=
          fmt::format("{}{} {}", rules.empty() ? "" : ", ", saving.rule, bytes_text(saving.bytes));
  }
  if (bytes <= 0) return "";
  for (const Demand& demand : analysis.demands) kernels += total_bytes(demand.work);
  return fmt::format("fusion: saves {} of {}: {}", bytes_text(bytes), bytes_text(kernels + bytes),
                     rules);
}

std::string passes_text(const Analysis& analysis) {
  if (!analysis.training) return "";
  const char* title = analysis.runtime ? "training step before fusion: " : "training step: ";
  std::string text;
  for (const auto& [pass, work] : analysis.training->passes) {
    if (total_operations(work) <= 0) continue;
    text += fmt::format("{}{} {} FLOP in {}", text.empty() ? title : ", ", to_string(pass),
                        amount_text(total_operations(work)), bytes_text(total_bytes(work)));
  }
  return text;
}

std::string memory_text(const Analysis& analysis) {
  if (!analysis.training) return "";
  const TrainingMemory& memory = analysis.training->memory;
  std::string text = fmt::format("memory at its peak: {}: weights {}", bytes_text(memory.peak()),
                                 bytes_text(memory.weights));
  const std::pair<const char*, double> parts[] = {{"master weights", memory.master_weights},
                                                  {"gradients", memory.gradients},
                                                  {"optimizer state", memory.optimizer_state},
                                                  {"activations", memory.activations},
                                                  {"gradients of activations", memory.transient}};
  for (const auto& [name, bytes] : parts)
    if (bytes > 0) text += fmt::format(", {} {}", name, bytes_text(bytes));
  return text +
         fmt::format("; {} of activations are saved for gradients", bytes_text(memory.saved));
}

std::string masked_text(const Analysis& analysis) {
  double masked = 0;
  for (const AnalysisRow& row : analysis.rows) masked += row.causally_masked_macs;
  if (masked <= 0) return "";
  return fmt::format(
      "causal attention: counted in full; a kernel that knows the mask skips {} MACs",
      amount_text(masked));
}

}  // namespace

std::size_t kernel_count(const Analysis& analysis) {
  return static_cast<std::size_t>(
      std::count_if(analysis.demands.begin(), analysis.demands.end(),
                    [](const Demand& demand) { return demand.launches > 0; }));
}

std::string shapes_text(const Analysis& analysis) {
  switch (least_sure_shapes(analysis)) {
    case ShapeSource::fixed:
      return analysis.model.format == "workload" ? "shapes as published" : "shapes of the file";
    case ShapeSource::given:
      return "shapes as given";
    case ShapeSource::assumed:
      return "free dimensions as assumed";
    case ShapeSource::declared:
      return "some shapes as the file declares them";
    case ShapeSource::bound:
      return "some shapes are upper bounds";
    case ShapeSource::unknown:
      return "some shapes are unknown";
  }
  return "";
}

std::string rules_text(const Analysis& analysis) {
  const std::string rules(to_string(analysis.rules));
  return analysis.rule_options.empty() ? rules : rules + "," + analysis.rule_options;
}

std::string heading_text(const Analysis& analysis) {
  std::string text = model_name(analysis) + ": ";
  if (analysis.runtime) {
    text += fmt::format("{} of {}", plural(kernel_count(analysis), "kernel"),
                        to_string(*analysis.runtime));
  } else {
    const auto counted = static_cast<std::size_t>(
        std::count_if(analysis.rows.begin(), analysis.rows.end(),
                      [](const AnalysisRow& row) { return row.standing == Standing::counted; }));
    text += plural(analysis.totals.layers, "layer");
    if (counted != analysis.totals.layers) text += fmt::format(" ({} at run time)", counted);
  }
  text += analysis.batch ? fmt::format(", batch {}", *analysis.batch) : ", no batch";
  text += options_text(analysis) + training_text(analysis);
  text += ", " + shapes_text(analysis);
  text += fmt::format("; counted from the {} by the rules {}",
                      analysis.model.format == "workload" ? "network's definition" : "file",
                      rules_text(analysis));
  if (!analysis.runtime) text += ", unfused";
  if (!analysis.weights_file.empty()) text += ", costs of " + analysis.weights_file;
  return text;
}

std::vector<std::string> warning_texts(const Analysis& analysis) {
  constexpr std::size_t most = 8;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(most, analysis.warnings.size()); ++i)
    lines.push_back("warning: " + analysis.warnings[i]);
  if (analysis.warnings.size() > most)
    lines.push_back(fmt::format("and {} (--json lists them)",
                                plural(analysis.warnings.size() - most, "more warning")));
  return lines;
}

std::vector<std::string> fact_texts(const Analysis& analysis, const std::string& hidden) {
  std::vector<std::string> facts{parameters_text(analysis),
                                 traffic_text(analysis),
                                 classes_text(analysis),
                                 dtypes_text(analysis),
                                 masked_text(analysis),
                                 launches_text(analysis),
                                 fusion_text(analysis),
                                 passes_text(analysis),
                                 memory_text(analysis),
                                 alternatives_text(analysis),
                                 hidden};
  if (!analysis.unknown.empty())
    facts.push_back("unknown operators, counted as moving data only: " +
                    unknown_text(analysis.unknown));
  const auto warnings = warning_texts(analysis);
  facts.insert(facts.end(), warnings.begin(), warnings.end());
  std::erase(facts, "");
  return facts;
}

}  // namespace ridgeline
