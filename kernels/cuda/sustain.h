// Peaks held for seconds: a burst may end before heat or a power cap slow the chip down.
// The fastest dense row of each unit and type, and of DRAM reads and the best direction.
#pragma once

#include <cstddef>
#include <vector>

#include "base/profile.h"
#include "kernels/cuda/bench.h"
#include "kernels/cuda/surroundings.h"

namespace ridgeline::cuda {

// A row of the profile and the trial that it came from.
struct SustainedRow {
  std::size_t trial = 0;
  bool compute = true;
  std::size_t row = 0;  // of ProfileMode::compute or ::memory
};

// Those of `rows` that are peaks.
std::vector<SustainedRow> peaks_to_sustain(const ProfileMode& mode,
                                           const std::vector<SustainedRow>& rows);

// Holds each of them for `seconds` and writes into the rows what came of it.
void sustain(ProfileMode& mode, const std::vector<SustainedRow>& peaks, Bench& bench,
             double seconds, Surroundings& surroundings, const SamplerWorld& world);

}  // namespace ridgeline::cuda
