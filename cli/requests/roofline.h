// Whose roofline is asked for: a measured profile or a device of the catalog, in one or more modes,
// of time alone or with energy. Choosing only; the rooflines themselves are made in roofline/.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "roofline/ceilings/energy_roofline.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline::cli {

// One roofline, or with --modes one per mode. `word` is a file, the name of a device, or empty for
// the newest profile of this machine.
std::vector<Roofline> asked_rooflines(const std::string& word, const Options& options,
                                      RooflineOptions chosen, const Console& console);

// The same with energy: of a profile from its rows with power, of a device from what is believed.
std::vector<EnergyRoofline> asked_energy_rooflines(const std::string& word, const Options& options,
                                                   RooflineOptions chosen, const Console& console);

}  // namespace ridgeline::cli
