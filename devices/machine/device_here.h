// This machine as the catalog knows it: which device, which configuration, which JetPack.
// Facts of the machine itself are Machine's, its present mode is an OperatingPoint.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "devices/machine/identification.h"

namespace ridgeline {

struct DeviceHere {
  Identity identity;
  std::string id;             // of the catalog, or the name of what was made from this machine
  std::string configuration;  // that runs here

  friend bool operator==(const DeviceHere&, const DeviceHere&) = default;
};

DeviceHere device_here(const Identity& identity, const catalog::Device& device);

std::string device_text(const DeviceHere& here);   // "jetson-agx-orin-64gb, configuration super"
std::string release_text(const DeviceHere& here);  // "Jetson Linux 36.4.3, JetPack 6.2", or empty

Json to_json(const DeviceHere& here);

}  // namespace ridgeline
