// What a word means where a device or a file may stand, and which mode --mode asks for.
// Shared by every command that has the two; what is made of them is the command's.
#pragma once

#include <string>

#include "base/profile.h"
#include "devices/catalog/catalog.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {

// Whether a word means a device of the catalog: no file of that name, and it does not look like a
// path.
bool names_device(const std::string& word);

// The mode of that label, or what resolve() makes of the text; usage errors name the option.
const ProfileMode& mode_of(const Profile& profile, const std::string& label, const char* option);
DeviceMode mode_of(const catalog::Device& device, const catalog::Configuration& configuration,
                   const std::string& text, const char* option);

}  // namespace ridgeline
