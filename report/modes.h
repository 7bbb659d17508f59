// The power modes of a device as a value, and its forms: text, CSV and JSON.
// What the modes are is found out in devices/; here they are only laid out.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "devices/modes/mode_grid.h"

namespace ridgeline {

struct ModesListing {
  static constexpr std::string_view schema = "ridgeline.modes/1";
  const catalog::Device& device;
  const catalog::Configuration& configuration;
  DeviceMode from;                                 // reach is counted from here
  std::vector<DeviceMode> stock;                   // those that a filter left
  ModeGrid grid;                                   // likewise
  bool lists_all = false;                          // every mode of the grid is to be shown
  std::optional<DeviceMode> asked = std::nullopt;  // the one of --mode
  std::string block = {};                          // nvpmodel's text for it
};

std::string modes_text(const ModesListing& listing, int width);
std::string modes_csv(const ModesListing& listing);
void write_modes_json(const ModesListing& listing, std::ostream& out);

Json mode_json(const DeviceMode& mode);  // one mode, as the lists have it

// "1300.5", "612": MHz as tables show it; empty where unknown.
std::string megahertz(std::optional<double> hz);

// "612000000": whole numbers without an exponent.
std::string hertz(double hz);

// The CPU clock: one number where all clusters agree, else one for each: "1200/2000".
std::string cpu_megahertz(const OperatingPoint& point);
std::string cpu_hertz(const OperatingPoint& point);

}  // namespace ridgeline
