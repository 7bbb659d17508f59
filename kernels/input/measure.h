// Measures what feeds a training pipeline: storage and decoding, each only on request.
// Both are slow and storage writes files, so no measurement of kernels includes them by itself.
#pragma once

#include <optional>

#include "base/profile.h"
#include "devices/machine/topology.h"
#include "kernels/input/decode_probe.h"
#include "kernels/input/storage_probe.h"
#include "kernels/sampler.h"

namespace ridgeline::input {

struct MeasureOptions {
  std::optional<StorageOptions> storage;
  std::optional<DecodeOptions> decode;
};

// Adds rows and conditions to a mode that may hold rows of kernels; adds nothing where that run was
// interrupted. After an interruption the rows measured so far are there and conditions.complete is
// false.
void measure(const MeasureOptions& options, const Topology& topology, const SamplerWorld& world,
             ProfileMode& mode);

}  // namespace ridgeline::input
