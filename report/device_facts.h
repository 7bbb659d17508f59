// A device of the catalog with all that follows from it: peaks, modes as vectors, gaps, and how
// well its rates reproduce the published figures. Looked up once, printed as text or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ceilings.h"
#include "base/estimate.h"
#include "base/json_fwd.h"
#include "devices/catalog/catalog.h"
#include "devices/catalog/missing.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {

struct ConfigurationFacts {
  std::string id;
  Ceilings ceilings;               // every knob at its ceiling, accelerators included
  std::optional<Estimate> usable;  // DRAM bandwidth that the GPU's clock lets through
  std::vector<DeviceMode> modes;   // stock modes
};

// A published figure beside the one that follows from the entry.
struct PublishedCheck {
  catalog::Published published;
  std::optional<double> computed_per_s;  // absent where rate or clock is
};

struct DeviceFacts {
  catalog::Device device;
  std::vector<ConfigurationFacts> configurations;
  std::vector<PublishedCheck> published;
  std::vector<catalog::Gap> missing;
};

DeviceFacts device_facts(catalog::Device device);

// ridgeline.device/1: the catalog's document, with ceilings, checks and gaps.
Json to_json(const DeviceFacts& facts);

}  // namespace ridgeline
