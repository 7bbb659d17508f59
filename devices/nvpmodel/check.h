// A user's configuration file held against a device: what cannot work, what was changed.
// Looks at the file only; only the board knows whether a declared path exists.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tokens.h"
#include "devices/modes/mode_space.h"
#include "devices/nvpmodel/configuration.h"

namespace ridgeline::nvpmodel {

enum class ModeOrigin { stock, changed, added };

struct CheckedMode {
  DeviceMode mode;  // as the device would run it
  std::string name;
  int line = 0;
  ModeOrigin origin = ModeOrigin::stock;
  std::vector<std::string> differences;  // from the stock mode of that label: "gpu 612 → 714 MHz"
};

struct CheckReport {
  std::string configuration;         // id of the catalog's configuration that it is held against
  std::vector<CheckedMode> modes;    // in file order
  std::vector<std::string> missing;  // labels of stock modes that the file lacks
  std::vector<Finding> findings;     // of the reader, and of the check; by line
};

CheckReport check(const Reading& reading, const catalog::Device& device,
                  const catalog::Configuration& configuration);

// The configuration of the device that has the most modes in common with the file.
const catalog::Configuration& closest_configuration(const Configuration& file,
                                                    const catalog::Device& device);

}  // namespace ridgeline::nvpmodel

namespace ridgeline {

template <>
struct TokenTable<nvpmodel::Severity> {
  static constexpr std::string_view noun = "severity";
  static constexpr std::array<std::pair<nvpmodel::Severity, std::string_view>, 2> rows{
      {{nvpmodel::Severity::warning, "warning"}, {nvpmodel::Severity::error, "error"}}};
};

template <>
struct TokenTable<nvpmodel::ModeOrigin> {
  static constexpr std::string_view noun = "origin of a mode";
  static constexpr std::array<std::pair<nvpmodel::ModeOrigin, std::string_view>, 3> rows{
      {{nvpmodel::ModeOrigin::stock, "stock"},
       {nvpmodel::ModeOrigin::changed, "changed"},
       {nvpmodel::ModeOrigin::added, "added"}}};
};

}  // namespace ridgeline
