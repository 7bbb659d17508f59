// The summary of this machine as a value: facts, present mode, abilities, profile, next command.
// Text and JSON are functions of it; cli/commands/summary.cpp looks at the machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/machine.h"
#include "base/operating_point.h"
#include "devices/machine/abilities.h"
#include "devices/machine/identification.h"

namespace ridgeline {

// The newest profile in the per-user store; one of a disturbed run only if there is no other.
struct StoredProfile {
  std::string path;
  std::string started;  // ISO 8601; empty where the file cannot be read
  bool complete = true;
  std::string fault;  // why it cannot be read; empty when all is well
  std::string gpu{};  // that was measured; empty where it was the CPU
  bool disturbed = false;

  friend bool operator==(const StoredProfile&, const StoredProfile&) = default;
};

struct MachineSummary {
  static constexpr std::string_view schema = "ridgeline.summary/1";
  Machine machine;
  DeviceHere device;
  OperatingPoint mode;
  std::string governor;  // empty where the system has none
  std::vector<Ability> abilities;
  std::optional<StoredProfile> profile;
};

struct NextCommand {
  std::string line;  // "ridgeline measure --quick"
  std::string why;
};

NextCommand next_command(const MachineSummary& summary);

std::string summary_text(const MachineSummary& summary, int width, bool color);
Json to_json(const MachineSummary& summary);

}  // namespace ridgeline
