// A change of this machine's power mode as a value, and its forms: what would be written, what was
// written and read back, what was restored, or why it needs a reboot.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/operating_point.h"
#include "devices/control/session.h"

namespace ridgeline {

struct ModeChange {
  static constexpr std::string_view schema = "ridgeline.mode_change/1";
  enum class Kind { preview, applied, restored, reboot };

  Kind kind = Kind::preview;
  std::string device;                     // its name
  std::string asked;                      // the request; empty for a restore
  OperatingPoint present;                 // read back after the change
  std::vector<control::Change> changes;   // of a preview and of a restore
  std::vector<control::Written> written;  // where it was applied
  std::vector<std::string> notes;
  // Where the mode has other SMs on:
  std::optional<int> nvpmodel_id;
  std::optional<int> units;  // SMs of that mode
  std::string offer;         // the same clocks on the present SMs; empty where a cap forbids them
};

std::string mode_change_text(const ModeChange& change, int width);
std::string mode_change_json(const ModeChange& change);
std::string mode_change_csv(const ModeChange& change);

}  // namespace ridgeline
