// What image networks begin with.
// All else is each family's own.
#pragma once

#include "workloads/builder.h"

namespace ridgeline {

// [batch, channels, image, image], named as torch.fx and exporters call it.
inline Operand image_input(NetworkBuilder& net, std::int64_t channels = 3) {
  const Settings& settings = net.settings();
  return net.input("input", {settings.batch, channels, settings.image, settings.image});
}

}  // namespace ridgeline
