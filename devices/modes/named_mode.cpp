// A file wins over a device of the same name. A word that is neither is taken for a mistyped device
// unless it looks like a path.
#include "devices/modes/named_mode.h"

#include <filesystem>

#include "base/error.h"
#include "base/mode_request.h"
#include "base/text.h"

namespace ridgeline {

bool names_device(const std::string& word) {
  if (word.empty() || std::filesystem::exists(word)) return false;
  const bool is_path = word.find('/') != std::string::npos || word.ends_with(".json");
  return !is_path || catalog::find(word) != nullptr;
}

const ProfileMode& mode_of(const Profile& profile, const std::string& label, const char* option) {
  std::string known;
  for (const ProfileMode& mode : profile.modes) {
    if (mode.mode.label == label) return mode;
    known += (known.empty() ? "" : ", ") + mode.mode.label;
  }
  throw usage_error(option, "the profile has no mode " + quote(label), "it has " + known);
}

DeviceMode mode_of(const catalog::Device& device, const catalog::Configuration& configuration,
                   const std::string& text, const char* option) {
  return resolve(device, configuration, parse_mode_request(text, option), option);
}

}  // namespace ridgeline
