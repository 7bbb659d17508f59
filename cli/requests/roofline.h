// Whose roofline is asked for: a measured profile or a device of the catalog, in one or more modes,
// of time alone or with energy. Choosing only; the rooflines themselves are made in roofline/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "roofline/ceilings/energy_roofline.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline::cli {

struct RooflineRequest {
  std::string word;  // a file, a device, or empty for the newest profile of this machine
  std::optional<std::string> mode;
  bool all_modes = false;
  std::vector<std::string> modes;  // labels of --modes
  std::string jetpack;             // a release
  bool energy = false;
  bool overlay = false;  // all modes in one plot
  RooflineOptions options;

  bool several() const { return all_modes || !modes.empty(); }
};

void add_roofline_options(OptionsDescription& options);
RooflineRequest roofline_request(const Options& options);

// One roofline, or with --modes one per mode; remarks go to the console.
std::vector<Roofline> rooflines_for(RooflineRequest request, const Console& console);

// The same with energy: of a profile from its rows with power, of a device from what is believed.
std::vector<EnergyRoofline> energy_rooflines_for(RooflineRequest request, const Console& console);

}  // namespace ridgeline::cli
