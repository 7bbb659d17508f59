// Rule "precision-fallback": convolutions and matrix products in a wider type than the narrowest
// that the engine uses for products. Time is taken to follow the width of the operands, as bytes
// and the rates of tensor cores both do from fp32 (TF32) over fp16 to int8.
#include <fmt/format.h>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {
namespace {

// Four-bit weights are multiplied in a wider type: no fall-back of others.
bool is_product_type(ElementType type) { return bits(type) >= 8 && bits(type) <= 32; }

ElementType narrowest_product(const LintSubject& subject) {
  ElementType narrowest = ElementType::unknown;
  for (const std::size_t index : subject.judged) {
    if (!is_product(subject.layer(index))) continue;
    const ElementType type = product_type(subject.layer(index));
    if (is_product_type(type) &&
        (narrowest == ElementType::unknown || bits(type) < bits(narrowest)))
      narrowest = type;
  }
  return narrowest;
}

}  // namespace

std::vector<Finding> find_precision_fallback(const LintSubject& subject) {
  FindingList findings("precision-fallback", Source::predicted);
  const ElementType narrow = narrowest_product(subject);
  if (narrow == ElementType::unknown) return {};
  const std::string narrow_name(to_string(narrow));
  const std::string remedy =
      bits(narrow) == 8
          ? fmt::format(
                "add Q/DQ nodes before both operands of these layers in the ONNX, so that "
                "they run in {}; leave them if accuracy forbids it",
                narrow_name)
          : fmt::format("export these layers in {} (before TensorRT 11 also: build with --{})",
                        narrow_name, narrow_name);
  for (const std::size_t index : subject.judged) {
    const EngineLayer& layer = subject.layer(index);
    const ElementType type = product_type(layer);
    if (!is_product(layer) || !is_product_type(type) || bits(type) <= bits(narrow)) continue;
    const double saved = 1 - static_cast<double>(bits(narrow)) / bits(type);
    const LayerCost& cost = subject.costs[index];
    findings.add(fmt::format("{} products in an engine that also has {} products", to_string(type),
                             narrow_name),
                 remedy,
                 {index, subject.time_share_s(index, saved * cost.bytes), saved * cost.bytes,
                  fmt::format("{} instead of {}", to_string(type), narrow_name)});
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
