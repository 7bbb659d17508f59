// Rule "tiny-kernels": kernels of a few microseconds that the bytes they move do not explain. What
// is left is the time to start them. The bandwidth for comparison is the best that a layer of this
// engine reaches, unless a machine is given.
#include <algorithm>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/rules.h"

namespace ridgeline::tensorrt {
namespace {

// A launch costs 2 to 5 µs on boards and cards; an idle kernel behind it as much again.
constexpr double tiny_s = 10e-6;
// Beyond this share of its time a kernel works rather than starts.
constexpr double working_share = 0.25;

double best_bytes_per_s(const LintSubject& subject) {
  double best = 0;
  for (const std::size_t index : subject.judged)
    if (const auto time_s = subject.time_s(index); time_s && *time_s > tiny_s)
      best = std::max(best, subject.costs[index].bytes / *time_s);
  return best;
}

}  // namespace

std::vector<Finding> find_tiny_kernels(const LintSubject& subject) {
  FindingList findings("tiny-kernels", Source::predicted);
  const double bytes_per_s = best_bytes_per_s(subject);
  for (const std::size_t index : subject.judged) {
    const LayerCost& cost = subject.costs[index];
    if (!cost.time_s || *cost.time_s <= 0 || *cost.time_s > tiny_s) continue;
    if (!cost.least_s && bytes_per_s <= 0) continue;
    const double least_s = cost.least_s ? *cost.least_s : cost.bytes / bytes_per_s;
    if (least_s > working_share * *cost.time_s) continue;
    findings.add("kernels below 10 µs that are mostly launch",
                 "run the engine as a CUDA graph (trtexec --useCudaGraph shows the gain), raise "
                 "the batch, or merge these layers in the network",
                 {index, *cost.time_s - least_s, std::nullopt, {}});
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
