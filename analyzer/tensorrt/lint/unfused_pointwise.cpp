// Rule "unfused-pointwise": an element-wise layer that alone reads what a product or another
// element-wise layer wrote. Fused, that tensor would never leave the chip: one write and one read.
#include <fmt/format.h>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {

std::vector<Finding> find_unfused_pointwise(const LintSubject& subject) {
  FindingList findings("unfused-pointwise", Source::predicted);
  for (const std::size_t index : subject.judged) {
    const EngineLayer& layer = subject.layer(index);
    if (!is_pointwise(layer)) continue;
    for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
      const auto producer = subject.wiring.producer(index, input);
      if (!producer || subject.wiring.readers(*producer).size() != 1 ||
          subject.wiring.writes_output(*producer))
        continue;
      const EngineLayer& before = subject.layer(*producer);
      if (!is_pointwise(before) && !is_product(before)) continue;
      const double bytes = 2 * tensor_bytes(layer.inputs[input]).value_or(0);
      const bool is_chain = is_pointwise(before);
      findings.add(is_chain ? "element-wise layers behind an element-wise layer"
                            : "element-wise layers behind a product",
                   is_chain ? "write the chain as plain element-wise operators on tensors of one "
                              "type and shape, without reshapes or casts between them, so that "
                              "TensorRT fuses it"
                            : "put the operation directly behind the product, in the same type: "
                              "TensorRT fuses bias, activation and one residual addition",
                   {index, subject.time_share_s(index, bytes), bytes, "after " + before.name});
      break;
    }
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
