// The ceilings that apply to a piece of work: which peaks of a machine can run its arithmetic, how
// long each alone would take, and the time at the roof and the least time for the work. A lower
// bound; what software achieves is a Prediction.
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
  // Uses the ceilings of the processor that runs networks: the GPU if there is one.
  explicit ApplicableCeilings(const Ceilings& ceilings);

  // One time per peak that can run a part of the work, and one for memory. `memory_bytes` of the
  // work reach memory; the rest stay in caches.
  std::vector<CeilingTime> times(const Work& work, double memory_bytes) const;

  // At the roof for the work's intensity: each part on its fastest peak, all in parallel, while
  // memory streams at its usable bandwidth. Absent if a ceiling is unknown for memory or for any
  // part.
  std::optional<double> roof_time_s(const Work& work, double memory_bytes) const;

  // The least time, which no software beats, and the ceiling that sets it: each part on its fastest
  // peak, memory at the bandwidth of the datasheet. Parts without a peak are left out; absent if
  // nothing is known.
  std::optional<CeilingTime> least_time(const Work& work, double memory_bytes) const;

  // The least time of a whole network, kernel after kernel. Only weights must come from memory
  // (activations may stay in caches, recurrent weights in registers), and `cache_bytes` of them may
  // still be cached from the previous run. Zero if no ceiling is known.
  double least_time_s(const NetworkLoad& load, double cache_bytes) const;

  // The lowest memory bandwidth that the ceilings state.
  std::optional<double> usable_bytes_per_s() const { return usable_bytes_per_s_; }

 private:
  std::vector<Peak> peaks_for(const FlopCount& part) const;  // fastest first
  // Absent if a part has no peak.
  std::optional<double> arithmetic_s(std::span<const FlopCount> parts) const;

  std::vector<Peak> peaks_;
  std::optional<double> usable_bytes_per_s_;
  std::optional<double> peak_bytes_per_s_;
};

// Total size of a machine's caches: L2 and L3 of all its processors.
double cache_bytes(const MachineModel& model);

}  // namespace ridgeline
