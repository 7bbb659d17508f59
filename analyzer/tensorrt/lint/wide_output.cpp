// Rule "wide-output": quantised products that write fp16 or fp32. What they write, and what the
// next layer reads, could be half or a quarter of the bytes.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {

std::vector<Finding> find_wide_outputs(const LintSubject& subject) {
  FindingList findings("wide-output", Source::predicted);
  for (const std::size_t index : subject.judged) {
    const EngineLayer& layer = subject.layer(index);
    const ElementType read = input_type(layer), written = output_type(layer);
    if (!is_product(layer) || bits(read) != 8 || bits(written) <= 8) continue;
    if (subject.wiring.writes_output(index)) continue;  // the network's result
    const double saved = 1 - static_cast<double>(bits(read)) / bits(written);
    const double bytes = saved * tensor_bytes(layer.outputs.front()).value_or(0);
    std::optional<double> lost_s = subject.time_share_s(index, bytes);
    double lost_bytes = bytes;
    for (const std::size_t reader : subject.wiring.readers(index)) {
      lost_bytes += bytes;
      if (const auto time_s = subject.time_share_s(reader, bytes))
        lost_s = lost_s.value_or(0) + *time_s;
    }
    findings.add(
        fmt::format("{} products that write {}", to_string(read), to_string(written)),
        "quantise the output as well: a Q node behind the layer (and behind the addition "
        "of a residual) lets TensorRT write int8",
        {index, lost_s, lost_bytes, fmt::format("{} → {}", to_string(read), to_string(written))});
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
