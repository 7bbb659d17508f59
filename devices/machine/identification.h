// Which device of the catalog this machine is, and this machine as a device if it is none of them.
// Reads the device tree, the L4T release, DMI and /proc below a root; serial numbers are never
// read. Facts about the CPU are in this_machine.h.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/machine.h"
#include "devices/catalog/catalog.h"
#include "devices/machine/system_files.h"

namespace ridgeline {

struct Identity {
  std::string board;  // what the device tree or DMI calls the machine; may be empty
  std::vector<std::string> compatible;  // words of the device tree: "p3767-0005", "tegra234"
  std::string chip;                     // "T234"; empty if it is not a Tegra
  std::string l4t;                      // release of Jetson Linux: "36.4.3"; empty elsewhere
  std::string jetpack;                  // "6.2", as far as it follows from l4t
  bool super_firmware = false;          // the boot firmware with the higher clocks
  std::string catalog_id;               // empty if the catalog has no such device

  friend bool operator==(const Identity&, const Identity&) = default;
};

Identity identify(const SystemRoot& root = {});

// Whether Jetson Linux runs here.
bool is_jetson(const SystemRoot& root);

// The catalog's entry, or one made of what the system reports: a Jetson that the catalog lacks has
// its own clock tables and nvpmodel modes and the rates of its chip, a CPU its cores and caches.
catalog::Device this_device(const Identity& identity, const SystemRoot& root = {});

// The same if the machine's facts are at hand: finding them is the slow part.
catalog::Device this_device(const Identity& identity, const Machine& machine,
                            const SystemRoot& root);

// A device by name or alias; a generic CPU is this machine if the architecture is the same.
// An unknown name is a usage error; `where` names the option.
catalog::Device named_device(const std::string& name, const std::string& where,
                             const SystemRoot& root = {});

// The configuration that runs here: by firmware and release, else the device's first.
const catalog::Configuration& present_configuration(const Identity& identity,
                                                    const catalog::Device& device);

// JetPack of a release of Jetson Linux: "36.4.3" belongs to "6.2"; empty for an unknown release.
std::string jetpack_of(const std::string& l4t);

// This machine as the catalog knows it: which device, which configuration, which JetPack.
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
