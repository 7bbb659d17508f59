// Rule "unfused-qdq": quantize and dequantize steps that run as kernels of their own. TensorRT
// fuses them into the layers beside them if it finds them there.
#include <fmt/format.h>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {

std::vector<Finding> find_unfused_quantization(const LintSubject& subject) {
  FindingList findings("unfused-qdq", subject.time_source.value_or(Source::predicted));
  for (const std::size_t index : subject.judged) {
    const EngineLayer& layer = subject.layer(index);
    if (!is_quantization(layer)) continue;
    const bool quantizes = bits(input_type(layer)) > bits(output_type(layer));
    const std::string change =
        fmt::format("{} → {}", to_string(input_type(layer)), to_string(output_type(layer)));
    if (subject.wiring.reads_input(index))
      findings.add_whole(subject, index, "inputs of the network that a kernel quantises",
                         "feed quantised inputs (--inputIOFormats=int8:chw and the scale of the "
                         "first Q node), or leave it: one such layer is the price of int8",
                         change);
    else if (quantizes)
      findings.add_whole(subject, index, "quantize steps as kernels of their own",
                         "put the Q node directly behind the layer that should write int8, with "
                         "nothing between them and the same scale for all readers",
                         change);
    else
      findings.add_whole(subject, index, "dequantize steps as kernels of their own",
                         "put the DQ node directly before the layer that should read int8, and "
                         "quantise all of its inputs, the residual one too",
                         change);
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
