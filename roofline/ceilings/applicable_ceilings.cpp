// Takes the peaks that each_unit_for() lists. A time is operations over a peak, or bytes over a
// bandwidth.
#include "roofline/ceilings/applicable_ceilings.h"

#include <algorithm>
#include <utility>

#include "base/parameters.h"
#include "roofline/ceilings/names.h"
#include "roofline/model/units_for.h"

namespace ridgeline {

ApplicableCeilings::ApplicableCeilings(const Ceilings& ceilings) {
  const bool gpu = std::any_of(ceilings.peaks.begin(), ceilings.peaks.end(),
                               [](const Peak& peak) { return peak.processor == Processor::gpu; });
  const Processor processor = gpu ? Processor::gpu : Processor::cpu;
  for (const Peak& peak : ceilings.peaks)
    if (peak.processor == processor && !peak.sparse && peak.flops_per_s > 0) peaks_.push_back(peak);
  std::stable_sort(peaks_.begin(), peaks_.end(),
                   [](const Peak& a, const Peak& b) { return a.flops_per_s > b.flops_per_s; });
  for (const Bandwidth& each : ceilings.bandwidths) {
    if (each.processor != processor || each.level != Level::dram || !(each.bytes_per_s > 0))
      continue;
    usable_bytes_per_s_ =
        std::min(usable_bytes_per_s_.value_or(each.bytes_per_s), each.bytes_per_s);
    peak_bytes_per_s_ = std::max(peak_bytes_per_s_.value_or(0), each.bytes_per_s);
  }
}

std::vector<Peak> ApplicableCeilings::peaks_for(const FlopCount& part) const {
  std::vector<std::pair<Unit, DType>> units;
  each_unit_for({part.dtype, part.unit == Unit::matrix, true}, [&](Unit unit, DType dtype) {
    const bool has = std::any_of(peaks_.begin(), peaks_.end(), [&](const Peak& peak) {
      return peak.unit == unit && peak.dtype == dtype;
    });
    if (has) units.emplace_back(unit, dtype);
    return has;
  });
  std::vector<Peak> found;
  for (const Peak& peak : peaks_)
    if (std::find(units.begin(), units.end(), std::pair(peak.unit, peak.dtype)) != units.end())
      found.push_back(peak);
  return found;
}

std::vector<CeilingTime> ApplicableCeilings::times(const Work& work, double memory_bytes) const {
  std::vector<CeilingTime> times;
  for (const FlopCount& part : work.flop) {
    if (!(part.flop > 0)) continue;
    for (const Peak& peak : peaks_for(part)) {
      const CeilingTime ceiling{
          upper_case(to_string(peak.dtype)) + " " + std::string(to_string(peak.unit)),
          part.flop / peak.flops_per_s};
      const auto same = std::find_if(times.begin(), times.end(), [&](const CeilingTime& each) {
        return each.name == ceiling.name;
      });
      // A peak may occur twice with different accumulators; the first is the faster one and counts.
      if (same == times.end()) times.push_back(ceiling);
    }
  }
  if (usable_bytes_per_s_) times.push_back({"DRAM", memory_bytes / *usable_bytes_per_s_});
  return times;
}

std::optional<double> ApplicableCeilings::arithmetic_s(std::span<const FlopCount> parts) const {
  double least = 0;
  for (const FlopCount& part : parts) {
    if (!(part.flop > 0)) continue;
    const std::vector<Peak> peaks = peaks_for(part);
    if (peaks.empty()) return std::nullopt;
    least = std::max(least, part.flop / peaks.front().flops_per_s);
  }
  return least;
}

std::optional<double> ApplicableCeilings::roof_time_s(const Work& work, double memory_bytes) const {
  const auto compute_s = arithmetic_s(work.flop);
  if (!compute_s || !usable_bytes_per_s_) return std::nullopt;
  return std::max(*compute_s, memory_bytes / *usable_bytes_per_s_);
}

std::optional<CeilingTime> ApplicableCeilings::least_time(const Work& work,
                                                          double memory_bytes) const {
  std::optional<CeilingTime> found;
  const auto add = [&](std::string name, double time_s) {
    if (!found || time_s > found->time_s) found = CeilingTime{std::move(name), time_s};
  };
  for (const FlopCount& part : work.flop) {
    const std::vector<Peak> peaks = peaks_for(part);
    if (peaks.empty() || !(part.flop > 0)) continue;
    const Peak& peak = peaks.front();
    add(upper_case(to_string(peak.dtype)) + " " + std::string(to_string(peak.unit)),
        part.flop / peak.flops_per_s);
  }
  if (peak_bytes_per_s_) add("DRAM", memory_bytes / *peak_bytes_per_s_);
  return found;
}

double ApplicableCeilings::least_time_s(const NetworkLoad& load, double cache_bytes) const {
  double compute_s = 0, weight_bytes = 0;
  for (const KernelLoad& kernel : load.kernels) {
    // All arithmetic counts as products: how other arithmetic is split between units is unknown.
    const FlopCount all{Unit::matrix, kernel.dtype, kernel.matrix_ops + kernel.vector_ops};
    compute_s += arithmetic_s(std::span(&all, 1)).value_or(0);
    if (kernel.kind != KernelKind::recurrent) weight_bytes += kernel.weight_bytes;
  }
  const double read_bytes = std::max(0.0, weight_bytes - cache_bytes);
  return std::max(compute_s, peak_bytes_per_s_ ? read_bytes / *peak_bytes_per_s_ : 0);
}

double cache_bytes(const MachineModel& model) {
  double bytes = 0;
  for (const Parameter& parameter : model.parameters)
    for (const std::string_view family :
         {families::gpu_cache, families::cluster_cache, families::cpu_cache})
      if (const auto words = family_words(family, parameter.name))
        if (words->back() == "l2" || words->back() == "l3") bytes += parameter.mean;
  return bytes;
}

}  // namespace ridgeline
