// What a catalog entry does not say: the numbers that no source states, field by field.
// A gap is not an error; what the hardware does not have is not a gap.
#pragma once

#include <string>
#include <vector>

#include "devices/catalog/catalog.h"

namespace ridgeline::catalog {

struct Gap {
  std::string where;  // "gpu", "super: mode 120W"
  std::string what;   // "voltage over clock"

  friend bool operator==(const Gap&, const Gap&) = default;
};

std::vector<Gap> missing(const Device& device);

}  // namespace ridgeline::catalog
