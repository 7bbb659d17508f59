// Maps the issue class of a kernel to a column of the microarchitecture table.
#include "kernels/cpu/theory.h"

namespace ridgeline::cpu {
namespace {

double issue_rate(Issue issue, const IssueRates& rates) {
  switch (issue) {
    case Issue::none:
      return 0;
    case Issue::fma_scalar:
      return rates.fma_scalar;
    case Issue::fma_128:
      return rates.fma_128;
    case Issue::fma_256:
      return rates.fma_256;
    case Issue::fma_512:
      return rates.fma_512;
    case Issue::muladd_scalar:
    case Issue::muladd_128:
      return rates.muladd;
    case Issue::fma_fp16_128:
      return rates.fma_fp16_128;
    case Issue::fma_fp16_512:
      return rates.fma_fp16_512;
    case Issue::dot_int8_128:
      return rates.dot_int8_128;
    case Issue::dot_int8_256:
      return rates.dot_int8_256;
    case Issue::dot_int8_512:
      return rates.dot_int8_512;
    case Issue::dot_bf16_512:
      return rates.dot_bf16_512;
    case Issue::tile:
      return rates.tile;
    case Issue::load_128:
      return rates.load_128;
    case Issue::load_256:
      return rates.load_256;
    case Issue::load_512:
      return rates.load_512;
  }
  return 0;
}

}  // namespace

std::optional<double> theory_per_cycle(const Kernel& kernel, const Microarchitecture* core) {
  if (!core) return std::nullopt;
  const double rate = issue_rate(kernel.issue, core->rates);
  if (rate <= 0) return std::nullopt;
  return rate * (kernel.role == Role::memory ? kernel.access_bytes : kernel.flop_each);
}

}  // namespace ridgeline::cpu
