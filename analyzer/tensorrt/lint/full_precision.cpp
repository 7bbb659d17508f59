// Rule "full-precision": engines whose products are all in fp32 or TF32. Half the width is half the
// bytes and twice the rate of tensor cores; whether accuracy allows it, the user must try.
#include <algorithm>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {

std::vector<Finding> find_full_precision(const LintSubject& subject) {
  FindingList findings("full-precision", Source::predicted);
  for (const std::size_t index : subject.judged) {
    if (!is_product(subject.layer(index))) continue;
    if (product_type(subject.layer(index)) != ElementType::fp32) return {};
    const double saved = subject.costs[index].bytes / 2;
    findings.add("all products are in fp32 or TF32",
                 "build with --fp16 (before TensorRT 11), or export the network in fp16 or bf16; "
                 "compare the accuracy",
                 {index, subject.time_share_s(index, saved), saved, {}});
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
