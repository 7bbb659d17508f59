// The per-user store of measured profiles: $XDG_DATA_HOME/ridgeline/profiles.
// Of what a profile says, only its date and the verdict on its run matter here.
#pragma once

#include <optional>
#include <string>

#include "base/profile.h"

namespace ridgeline {

// ~/.local/share/ridgeline/profiles where XDG_DATA_HOME is not set.
std::string profile_store_directory();

// Where a profile belongs: those of a GPU, of a part of the kernels, and of storage and decoding
// alone go to folders of their own, where they hide no whole one of the processor.
enum class Shelf { whole, gpu, partial, input };

// Writes the profile under a name made of its date and returns the path. A profile of a disturbed
// machine goes to a folder of its own, where none of the functions below but the last one looks.
std::string store_profile(const Profile& profile, Shelf shelf = Shelf::whole);

// Creates the store where it is missing; throws Error where nothing could be stored.
void check_profile_store();

// Whether the environment says where the store is.
bool has_profile_store();

// The whole profile with the latest date in its name, of processor or GPU, else the latest partial
// one; nothing where the store is empty or absent.
std::optional<std::string> newest_profile_path();

// The latest that a profile of this shelf is like: a GPU's, one of storage and decoding, or else
// the whole one of the processor, or a partial one.
std::optional<std::string> newest_profile_path(Shelf shelf);

// As an Error that says what to do where there is none: the newest, and the newest of the
// processor. Where only a disturbed one is there, the error names it.
std::string require_newest_profile();
std::string require_newest_cpu_profile();

// The latest profile of a disturbed machine, of processor or GPU, else the latest partial one.
std::optional<std::string> newest_disturbed_path();

}  // namespace ridgeline
