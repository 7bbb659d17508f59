// Storage and decoding as a profile has measured them. See storage.h and pipeline.h for the
// defaults without a profile.
#pragma once

#include <optional>
#include <string>

#include "base/profile.h"
#include "planner/training/storage.h"

namespace ridgeline {

// From the rows that read files: a long file gives the rate, single samples the access time,
// several readers the serial share. With one reader only, more are assumed not to help. Nullopt
// without such rows; `name` is the profile's name for the origin.
std::optional<StorageMedium> measured_medium(const Profile& profile, const std::string& name);

// Clocks of one core per encoded byte.
struct Decoding {
  double clocks_per_byte = 0;
  std::string origin;
};

// From the rows that decode samples; nullopt without any.
std::optional<Decoding> measured_decoding(const Profile& profile, const std::string& name);

}  // namespace ridgeline
