// The per-user store of profiles: $XDG_DATA_HOME/ridgeline/profiles, one file per measurement.
// Files are only ever added; the newest one is this machine's present profile.
#pragma once

#include <optional>
#include <string>

#include "base/profile.h"

namespace ridgeline::cli {

// $XDG_DATA_HOME/ridgeline/profiles, else ~/.local/share/ridgeline/profiles.
std::string profile_store_folder();

// Writes the profile under the time it was started and returns the path.
std::string store_profile(const Profile& profile);

// The newest profile by name; nullopt where there is none.
std::optional<std::string> newest_profile_path();

}  // namespace ridgeline::cli
