// Rule "reformat": layers that TensorRT added to change type or layout between layers. They compute
// nothing, so all of their time is lost.
#include <fmt/format.h>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {
namespace {

std::string layout_words(const Format& format) {
  switch (format.layout) {
    case Layout::linear:
      return "NCHW";
    case Layout::channel_vector:
      return fmt::format("NC{0}HW{0}", format.channel_multiple);
    case Layout::channel_last:
      return format.channel_multiple > 1 ? fmt::format("NHWC{}", format.channel_multiple) : "NHWC";
    case Layout::unknown:
      break;
  }
  return "?";
}

std::string change_text(const EngineLayer& layer) {
  if (layer.inputs.empty() || layer.outputs.empty()) return {};
  const Format &from = layer.inputs.front().format, &to = layer.outputs.front().format;
  return fmt::format("{} {} → {} {}", to_string(from.type), layout_words(from), to_string(to.type),
                     layout_words(to));
}

}  // namespace

std::vector<Finding> find_reformats(const LintSubject& subject) {
  FindingList findings("reformat", subject.time_source.value_or(Source::predicted));
  for (const std::size_t index : subject.judged) {
    const EngineLayer& layer = subject.layer(index);
    if (!is_conversion(layer)) continue;
    const std::string change = change_text(layer);
    if (subject.wiring.reads_input(index))
      findings.add_whole(subject, index, "reformatted inputs of the network",
                         "feed the input in the type and layout that the first layer reads: "
                         "trtexec --inputIOFormats when the engine is built",
                         change);
    else if (subject.wiring.writes_output(index))
      findings.add_whole(subject, index, "reformatted outputs of the network",
                         "take the output in the type and layout that the last layer writes: "
                         "trtexec --outputIOFormats when the engine is built",
                         change);
    else if (input_type(layer) != output_type(layer))
      findings.add_whole(subject, index,
                         fmt::format("conversions from {} to {} between layers",
                                     to_string(input_type(layer)), to_string(output_type(layer))),
                         "let the layers on both sides work in one type: quantise both, or neither",
                         change);
    else
      findings.add_whole(subject, index, "changes of layout between layers",
                         "the kernels on both sides want different layouts: give them one type "
                         "and channels that are multiples of 8 (fp16) or 32 (int8), or build with "
                         "a higher --builderOptimizationLevel",
                         change);
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
