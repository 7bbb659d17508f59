// The table of rules, in the order of docs/tensorrt.md, and the order of what they find.
#include "analyzer/tensorrt/lint/lint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/tensorrt/kernels.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {
namespace {

constexpr auto rule_rows = std::to_array<LintRule>({
    {"reformat", "layers that only change type or layout", LintNeeds::nothing, find_reformats},
    {"unfused-qdq", "quantize and dequantize steps that no layer absorbed", LintNeeds::nothing,
     find_unfused_quantization},
    {"precision-fallback", "products in a wider type than most of the engine", LintNeeds::nothing,
     find_precision_fallback},
    {"full-precision", "engines whose products are all in fp32", LintNeeds::nothing,
     find_full_precision},
    {"wide-output", "quantised products that write fp16 or fp32", LintNeeds::nothing,
     find_wide_outputs},
    {"channel-alignment", "channels that do not fill the tiles of tensor cores", LintNeeds::nothing,
     find_unaligned_channels},
    {"no-tensor-cores", "products whose kernel leaves tensor cores idle", LintNeeds::nothing,
     find_idle_tensor_cores},
    {"unfused-pointwise", "element-wise layers beside the layer that could do their work",
     LintNeeds::nothing, find_unfused_pointwise},
    {"copies", "shuffles, slices, concatenations and other copies", LintNeeds::nothing,
     find_copies},
    {"tiny-kernels", "kernels that take longer to start than to work", LintNeeds::times,
     find_tiny_kernels},
    {"far-from-roof", "kernels far above the least time that the machine allows",
     LintNeeds::times_and_machine, find_far_from_roof},
    {"profile-shape", "shapes far from those that the engine was optimised for", LintNeeds::nothing,
     find_profile_shapes},
});

std::string reason_to_skip(const LintRule& rule, const LintSubject& subject) {
  if (rule.needs == LintNeeds::nothing) return {};
  if (rule.needs == LintNeeds::times)
    return subject.time_source ? "" : "needs times: --times FILE, or --on DEVICE to predict them";
  const bool has_roof = std::ranges::any_of(
      subject.costs, [](const LayerCost& cost) { return cost.least_s.has_value(); });
  if (subject.time_source == Source::measured && has_roof) return {};
  return "needs measured times and a machine: --times FILE --on DEVICE";
}

}  // namespace

LintSubject::LintSubject(const Engine& judged_engine, std::vector<LayerCost> layer_costs,
                         std::optional<Source> times)
    : engine(judged_engine),
      wiring(judged_engine),
      costs(std::move(layer_costs)),
      time_source(times) {
  costs.resize(engine.layers.size());
  for (std::size_t index = 0; index < engine.layers.size(); ++index) {
    const EngineLayer& layer = engine.layers[index];
    if (!is_idle(layer)) judged.push_back(index);
  }
}

std::optional<double> LintSubject::time_share_s(std::size_t index, double bytes) const {
  const LayerCost& cost = costs[index];
  if (!cost.time_s || cost.bytes <= 0) return std::nullopt;
  return *cost.time_s * std::min(1.0, bytes / cost.bytes);
}

std::span<const LintRule> lint_rules() { return rule_rows; }

LintReport lint(const LintSubject& subject) {
  LintReport report;
  report.path = subject.engine.path;
  report.version = version_text(subject.engine);
  report.device = subject.engine.device;
  report.layers = subject.judged.size();
  report.time_source = subject.time_source;
  if (subject.time_source) {
    report.time_s = 0;
    for (const std::size_t index : subject.judged)
      *report.time_s += subject.time_s(index).value_or(0);
  }
  for (const EngineLayer& layer : subject.engine.layers) report.layer_names.push_back(layer.name);
  for (const LintRule& rule : rule_rows) {
    if (std::string why = reason_to_skip(rule, subject); !why.empty()) {
      report.skipped.push_back({rule.name, std::move(why)});
      continue;
    }
    for (Finding& finding : rule.check(subject)) report.findings.push_back(std::move(finding));
  }
  std::ranges::stable_sort(report.findings, std::greater<>{}, [](const Finding& finding) {
    return std::pair(finding.lost_s.value_or(0), finding.lost_bytes.value_or(0));
  });
  if (subject.engine.profiles > 1)
    report.notes.emplace_back("the layers of one optimisation profile are judged");
  return report;
}

}  // namespace ridgeline::tensorrt
