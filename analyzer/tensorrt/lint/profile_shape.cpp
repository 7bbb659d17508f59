// Rule "profile-shape": inputs whose shape is far from the one that TensorRT chose its kernels for,
// and profiles whose largest shape is far above it. Files list profiles since TensorRT 11; before,
// there is nothing to judge. No file shows what the wrong kernels cost.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {
namespace {

constexpr double far_shape = 2;   // as many elements, or half
constexpr double wide_range = 8;  // as many elements

std::optional<double> elements(const Shape& shape) {
  const auto count = checked_element_count(shape);
  const bool is_fixed = std::ranges::none_of(shape, [](std::int64_t dim) { return dim < 0; });
  if (!count || *count <= 0 || !is_fixed) return std::nullopt;
  return static_cast<double>(*count);
}

// The layer that reads this input, and its shape there: the one that the engine was run with.
std::optional<std::pair<std::size_t, Shape>> use_of(const LintSubject& subject,
                                                    const std::string& tensor) {
  for (const std::size_t index : subject.judged)
    for (const EngineTensor& input : subject.layer(index).inputs)
      if (input.name == tensor) return std::pair(index, input.shape);
  return std::nullopt;
}

std::string words(const Shape& shape) {
  std::string text;
  for (const std::int64_t dim : shape) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

}  // namespace

std::vector<Finding> find_profile_shapes(const LintSubject& subject) {
  FindingList findings("profile-shape", Source::predicted);
  for (const IoTensor& io : subject.engine.io) {
    if (!io.is_input.value_or(false) || io.is_shape || io.profiles.empty()) continue;
    const auto use = use_of(subject, io.tensor.name);
    if (!use) continue;
    const ShapeRange& range = io.profiles.front();
    const auto best = elements(range.opt), most = elements(range.max), now = elements(use->second);
    if (now && best && (*now >= far_shape * *best || *best >= far_shape * *now))
      findings.add("input shapes far from those that kernels were chosen for",
                   "build with --optShapes at the shape that is used most, or add a profile for it",
                   {use->first, std::nullopt, std::nullopt,
                    fmt::format("{}: {}, optimised for {}", io.tensor.name, words(use->second),
                                words(range.opt))});
    const int width = bits(io.tensor.format.type);
    if (best && most && width > 0 && *most >= wide_range * *best)
      findings.add("inputs whose largest shape is far above the optimised one",
                   "lower --maxShapes, or add a second profile: device memory is reserved for the "
                   "largest shape",
                   {use->first, std::nullopt, (*most - *best) * width / 8,
                    fmt::format("{}: up to {}, optimised for {}", io.tensor.name, words(range.max),
                                words(range.opt))});
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
