// The roofs that stand above a piece of work: which peaks of a machine could run its arithmetic,
// and how long each of them alone would take. A bound from below; what software makes of it is a
// prediction's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ceilings.h"
#include "base/tokens.h"
#include "base/work.h"

namespace ridgeline {

struct RoofTime {
  std::string name;  // "FP16 matrix", "DRAM"
  double time_s = 0;

  friend bool operator==(const RoofTime&, const RoofTime&) = default;
};

class RoofsAbove {
 public:
  // Those of the processor that runs networks: the GPU where there is one.
  explicit RoofsAbove(const Ceilings& ceilings);

  // One per peak that could run a part of the work, and the memory's. `memory_bytes` of the work
  // reach memory, the others stay in caches.
  std::vector<RoofTime> times_of(const Work& work, double memory_bytes) const;

  // Every part on its fastest peak, all at once, while memory streams: the roof at the work's
  // intensity. Absent where no roof is known for a part.
  std::optional<double> least_time_s(const Work& work, double memory_bytes) const;

  // What the memory usably gives: the least that is stated for it.
  std::optional<double> bytes_per_s() const { return bytes_per_s_; }

 private:
  std::vector<Peak> peaks_for(const FlopCount& part) const;  // fastest first

  std::vector<Peak> peaks_;
  std::optional<double> bytes_per_s_;
};

// The type in which a device without units for `dtype` computes: the next that holds its values.
std::optional<DType> wider(DType dtype);

}  // namespace ridgeline
