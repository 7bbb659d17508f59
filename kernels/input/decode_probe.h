// How long one core takes to decode a training sample: JPEG to RGB, nothing before and after it.
// Samples are pictures that the program makes and encodes itself.
#pragma once

#include <vector>

#include "base/profile.h"
#include "devices/machine/topology.h"
#include "kernels/record.h"
#include "kernels/sampler.h"

namespace ridgeline::input {

struct DecodeOptions {
  std::vector<int> threads;  // a row each
  double budget_s = 0;
};

// Adds a row per number of threads, and what the sampler saw; one `unsupported` row with the reason
// where the build has no JPEG library.
void measure_decode(const DecodeOptions& options, const Topology& topology,
                    const SamplerWorld& world, ProfileMode& mode, RowCounts& counts);

}  // namespace ridgeline::input
