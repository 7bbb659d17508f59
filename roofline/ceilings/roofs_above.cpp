// Which peak may run which arithmetic: the type itself, TF32 for products in fp32, a wider type
// where the machine has no units for it; a matrix unit runs products only.
#include "roofline/ceilings/roofs_above.h"

#include <algorithm>

#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

bool runs(const Peak& peak, Unit unit, DType dtype) {
  if (peak.unit == Unit::matrix && unit != Unit::matrix) return false;
  return peak.dtype == dtype || (dtype == DType::fp32 && peak.dtype == DType::tf32);
}

}  // namespace

std::optional<DType> wider(DType dtype) {
  switch (dtype) {
    case DType::int4:
      return DType::int8;
    case DType::int8:
    case DType::fp8:
      return DType::fp16;
    case DType::fp16:
    case DType::bf16:
    case DType::tf32:
    case DType::int16:
    case DType::int32:
      return DType::fp32;
    case DType::fp32:
    case DType::fp64:
      return std::nullopt;
  }
  return std::nullopt;
}

RoofsAbove::RoofsAbove(const Ceilings& ceilings) {
  const bool gpu = std::any_of(ceilings.peaks.begin(), ceilings.peaks.end(),
                               [](const Peak& peak) { return peak.processor == Processor::gpu; });
  const Processor processor = gpu ? Processor::gpu : Processor::cpu;
  for (const Peak& peak : ceilings.peaks)
    if (peak.processor == processor && !peak.sparse && peak.flops_per_s > 0) peaks_.push_back(peak);
  std::stable_sort(peaks_.begin(), peaks_.end(),
                   [](const Peak& a, const Peak& b) { return a.flops_per_s > b.flops_per_s; });
  for (const Bandwidth& each : ceilings.bandwidths)
    if (each.processor == processor && each.level == Level::dram && each.bytes_per_s > 0)
      bytes_per_s_ = std::min(bytes_per_s_.value_or(each.bytes_per_s), each.bytes_per_s);
}

std::vector<Peak> RoofsAbove::peaks_for(const FlopCount& part) const {
  for (std::optional<DType> dtype = part.dtype; dtype; dtype = wider(*dtype)) {
    std::vector<Peak> found;
    for (const Peak& peak : peaks_)
      if (runs(peak, part.unit, *dtype)) found.push_back(peak);
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<RoofTime> RoofsAbove::times_of(const Work& work, double memory_bytes) const {
  std::vector<RoofTime> times;
  for (const FlopCount& part : work.flop) {
    if (!(part.flop > 0)) continue;
    for (const Peak& peak : peaks_for(part)) {
      const RoofTime roof{
          upper_case(to_string(peak.dtype)) + " " + std::string(to_string(peak.unit)),
          part.flop / peak.flops_per_s};
      const auto same = std::find_if(times.begin(), times.end(),
                                     [&](const RoofTime& each) { return each.name == roof.name; });
      // A peak may be there twice, with another accumulator: the faster, that is the first, counts.
      if (same == times.end()) times.push_back(roof);
    }
  }
  if (bytes_per_s_) times.push_back({"DRAM", memory_bytes / *bytes_per_s_});
  return times;
}

std::optional<double> RoofsAbove::least_time_s(const Work& work, double memory_bytes) const {
  if (!bytes_per_s_) return std::nullopt;
  double least = memory_bytes / *bytes_per_s_;
  for (const FlopCount& part : work.flop) {
    if (!(part.flop > 0)) continue;
    const std::vector<Peak> peaks = peaks_for(part);
    if (peaks.empty()) return std::nullopt;
    least = std::max(least, part.flop / peaks.front().flops_per_s);
  }
  return least;
}

}  // namespace ridgeline
