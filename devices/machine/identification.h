// Which device of the catalog this machine is, and this machine as a device where it is none.
// Reads the device tree, the L4T release, DMI and /proc below a root; serial numbers are never
// read. Facts about the CPU itself are this_machine.h's.
#pragma once

#include <string>
#include <vector>

#include "base/machine.h"
#include "devices/catalog/catalog.h"
#include "devices/machine/system_files.h"

namespace ridgeline {

struct Identity {
  std::string board;  // what the device tree or DMI calls the machine; may be empty
  std::vector<std::string> compatible;  // words of the device tree: "p3767-0005", "tegra234"
  std::string chip;                     // "T234"; empty where it is no Tegra
  std::string l4t;                      // release of Jetson Linux: "36.4.3"; empty elsewhere
  std::string jetpack;                  // "6.2", as far as it follows from l4t
  bool super_firmware = false;          // the boot firmware with the higher clocks
  std::string catalog_id;               // empty where the catalog has no such device

  friend bool operator==(const Identity&, const Identity&) = default;
};

Identity identify(const SystemRoot& root = {});

// The catalog's entry, or one made of what the system tells: a Jetson that the catalog lacks has
// its own clock tables and nvpmodel modes and the rates of its chip, a CPU its cores and caches.
catalog::Device this_device(const Identity& identity, const SystemRoot& root = {});

// The same where the machine's facts are at hand: finding them is the slow part.
catalog::Device this_device(const Identity& identity, const Machine& machine,
                            const SystemRoot& root);

// A device by name or alias; a generic CPU is this machine where the architecture is the same.
// An unknown name is a usage error; `where` names the option.
catalog::Device named_device(const std::string& name, const std::string& where,
                             const SystemRoot& root = {});

// The configuration that runs here: by firmware and release, else the device's first.
const catalog::Configuration& present_configuration(const Identity& identity,
                                                    const catalog::Device& device);

// JetPack of a release of Jetson Linux: "36.4.3" is of "6.2"; empty for a release unknown here.
std::string jetpack_of(const std::string& l4t);

}  // namespace ridgeline
