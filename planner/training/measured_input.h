// Facts of an input pipeline that were measured: storage and decoding of a profile.
// What is assumed without them is planner/training/storage.h's and planner/training/pipeline.h's.
#pragma once

#include <optional>
#include <string>

#include "base/profile.h"
#include "planner/training/storage.h"

namespace ridgeline {

// Of the rows that read files: a long file gives the rate, single samples the access, several
// readers what they do not share. Nullopt without such rows; `name` is the profile's, for people.
// Where one reader only was measured, more of them are taken not to help.
std::optional<StorageMedium> measured_medium(const Profile& profile, const std::string& name);

// Clocks of one core per encoded byte.
struct Decoding {
  double clocks_per_byte = 0;
  std::string origin;
};

// Of the rows that decode samples; nullopt without any.
std::optional<Decoding> measured_decoding(const Profile& profile, const std::string& name);

}  // namespace ridgeline
