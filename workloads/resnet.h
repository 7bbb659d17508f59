// The residual trunk that classifiers and detectors share.
// Heads are in the files of their networks.
#pragma once

#include "workloads/builder.h"

namespace ridgeline {

struct ResidualForm {
  bool bottleneck = false;
  std::int64_t groups = 1, width_per_group = 64;  // of a bottleneck's 3x3 convolution
  bool frozen_norm = false;                       // batch normalisation is not trained
};

// Convolution, normalisation, activation and pooling before the first stage.
Operand residual_stem(NetworkBuilder& net, Operand x, const ResidualForm& form);

// Blocks "name.0", "name.1", …; only the first has the stride.
Operand residual_stage(NetworkBuilder& net, std::string_view name, Operand x, std::int64_t channels,
                       int blocks, std::int64_t stride, const ResidualForm& form);

}  // namespace ridgeline
