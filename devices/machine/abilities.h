// What can be set and read on this machine, and the fix for each thing that cannot.
// Looks at files and permissions only; nothing is set or measured here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/machine/system_files.h"

namespace ridgeline {

struct Ability {
  enum class Kind { set, read, run };

  Kind kind = Kind::read;
  std::string name;  // "CPU clock"
  bool available = false;
  std::string detail;  // how, or why not
  std::string fix;     // one line to do; empty where nothing helps

  friend bool operator==(const Ability&, const Ability&) = default;
};

std::string_view to_string(Ability::Kind kind);

// Clocks and power caps to set; power sensors and counters to read.
std::vector<Ability> system_abilities(const SystemRoot& root);

}  // namespace ridgeline
