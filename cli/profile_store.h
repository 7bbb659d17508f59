// The per-user store of measured profiles: $XDG_DATA_HOME/ridgeline/profiles.
// Files only: what a profile says is not looked at here.
#pragma once

#include <optional>
#include <string>

#include "base/profile.h"

namespace ridgeline::cli {

// ~/.local/share/ridgeline/profiles where XDG_DATA_HOME is not set.
std::string profile_store_directory();

// Where a profile belongs: those of a GPU, of a part of the kernels, and of storage and decoding
// alone go to folders of their own, where they hide no whole one of the processor.
enum class Shelf { whole, gpu, partial, input };

// Writes the profile under a name made of its date and returns the path.
std::string store_profile(const Profile& profile, Shelf shelf = Shelf::whole);

// Creates the store where it is missing; throws Error where nothing could be stored.
void check_profile_store();

// The whole profile with the latest date in its name, of processor or GPU, else the latest partial
// one; nothing where the store is empty or absent.
std::optional<std::string> newest_profile_path();

// The latest that a profile of this shelf is like: a GPU's, one of storage and decoding, or else
// the whole one of the processor, or a partial one.
std::optional<std::string> newest_profile_path(Shelf shelf);

// As an Error that says what to do where there is none: the newest, and the newest of the
// processor.
std::string require_newest_profile();
std::string require_newest_cpu_profile();

}  // namespace ridgeline::cli
