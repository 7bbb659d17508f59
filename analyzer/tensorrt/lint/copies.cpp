// Rule "copies": layers that move elements and compute nothing, because the network asks for it:
// transposes, slices, concatenations, paddings. All of their time is lost if the export can do
// without.
#include <fmt/format.h>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"
#include "base/text.h"

namespace ridgeline::tensorrt {

std::vector<Finding> find_copies(const LintSubject& subject) {
  FindingList findings("copies", subject.time_source.value_or(Source::predicted));
  for (const std::size_t index : subject.judged) {
    const EngineLayer& layer = subject.layer(index);
    if (!is_copy(layer)) continue;
    const bool converts = input_type(layer) != output_type(layer);
    const std::string kind = !layer.origin.empty()      ? lower(layer.origin)
                             : !layer.parameter.empty() ? lower(layer.parameter)
                                                        : lower(layer.type);
    if (converts)
      findings.add_whole(subject, index, "copies that also convert the type",
                         "let the layers on both sides work in one type; quantise around the copy, "
                         "not on one side of it",
                         fmt::format("{}, {} → {}", kind, to_string(input_type(layer)),
                                     to_string(output_type(layer))));
    else
      findings.add_whole(subject, index, "copies",
                         "remove transposes, slices and concatenations that cancel or that the "
                         "neighbours can do, before export or with an ONNX simplifier",
                         kind);
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
