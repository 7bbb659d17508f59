// The ceilings that apply to a piece of work: which peaks of a machine could run its arithmetic,
// how long each of them alone would take, and the least time that the work can take. A bound from
// below; what software makes of it is a Prediction.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ceilings.h"
#include "base/machine_model.h"
#include "base/tokens.h"
#include "base/work.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

struct CeilingTime {
  std::string name;  // "FP16 matrix", "DRAM"
  double time_s = 0;

  friend bool operator==(const CeilingTime&, const CeilingTime&) = default;
};

class ApplicableCeilings {
 public:
  // Those of the processor that runs networks: the GPU where there is one.
  explicit ApplicableCeilings(const Ceilings& ceilings);

  // One per peak that could run a part of the work, and the memory's. `memory_bytes` of the work
  // reach memory, the others stay in caches.
  std::vector<CeilingTime> times(const Work& work, double memory_bytes) const;

  // Every part on its fastest peak, all at once, while memory streams at its usable bandwidth: the
  // roof at the work's intensity. Absent where no ceiling is known for a part.
  std::optional<double> least_time_s(const Work& work, double memory_bytes) const;

  // Of a whole network, kernel after kernel, by the datasheet's bandwidth: no software is faster.
  // Only weights need memory (activations may stay in caches, recurrent weights in registers), and
  // `cache_bytes` of them may have stayed on the chip since the run before. Zero where no ceiling
  // is known.
  double least_time_s(const NetworkLoad& load, double cache_bytes) const;

  // What the memory usably gives: the least that is stated for it.
  std::optional<double> usable_bytes_per_s() const { return usable_bytes_per_s_; }

 private:
  std::vector<Peak> peaks_for(const FlopCount& part) const;  // fastest first
  // Absent where a part has no peak.
  std::optional<double> arithmetic_s(std::span<const FlopCount> parts) const;

  std::vector<Peak> peaks_;
  std::optional<double> usable_bytes_per_s_;
  std::optional<double> peak_bytes_per_s_;
};

// What the caches of a machine can hold, all together: the L2 and L3 of all its processors.
double cache_bytes(const MachineModel& model);

}  // namespace ridgeline
