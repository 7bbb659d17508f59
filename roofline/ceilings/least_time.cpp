// Activations may stay in caches and recurrent weights in registers, so neither counts here.
#include "roofline/ceilings/least_time.h"

#include <algorithm>
#include <optional>

namespace ridgeline {
namespace {

// Tensor cores run fp32 products as tf32 where the software allows it.
bool may_run(DType wanted, DType peak) {
  return peak == wanted || (wanted == DType::fp32 && peak == DType::tf32);
}

// Networks run on the GPU where there is one.
Processor processor_of(const Ceilings& ceilings) {
  const bool has_gpu =
      std::any_of(ceilings.peaks.begin(), ceilings.peaks.end(),
                  [](const Peak& peak) { return peak.processor == Processor::gpu; });
  return has_gpu ? Processor::gpu : Processor::cpu;
}

std::optional<double> fastest_peak(const Ceilings& ceilings, Processor processor, DType dtype) {
  std::optional<double> fastest;
  for (const Peak& peak : ceilings.peaks)
    if (peak.processor == processor && !peak.sparse && may_run(dtype, peak.dtype))
      fastest = std::max(fastest.value_or(0), peak.flops_per_s);
  return fastest;
}

}  // namespace

double least_time_s(const Ceilings& ceilings, const NetworkLoad& load, double cache_bytes) {
  const Processor processor = processor_of(ceilings);
  double compute_s = 0, weight_bytes = 0;
  for (const KernelLoad& kernel : load.kernels) {
    if (const auto peak = fastest_peak(ceilings, processor, kernel.dtype))
      compute_s += (kernel.matrix_ops + kernel.vector_ops) / *peak;
    if (kernel.kind != KernelKind::recurrent) weight_bytes += kernel.weight_bytes;
  }
  double bytes_per_s = 0;
  for (const Bandwidth& bandwidth : ceilings.bandwidths)
    if (bandwidth.processor == processor && bandwidth.level == Level::dram)
      bytes_per_s = std::max(bytes_per_s, bandwidth.bytes_per_s);
  const double read_bytes = std::max(0.0, weight_bytes - cache_bytes);
  return std::max(compute_s, bytes_per_s > 0 ? read_bytes / bytes_per_s : 0);
}

double cache_bytes(const MachineModel& model) {
  double bytes = 0;
  for (const Parameter& parameter : model.parameters)
    for (const char* level : {"_l2_bytes", "_l3_bytes"})
      if (parameter.name.ends_with(level)) bytes += parameter.mean;
  return bytes;
}

}  // namespace ridgeline
