// File names are the start time in UTC, so that the newest is the last by name.
#include "cli/profile_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace ridgeline::cli {

namespace fs = std::filesystem;

std::string profile_store_folder() {
  const char* const data = std::getenv("XDG_DATA_HOME");
  // The XDG base directory specification: relative paths there are invalid.
  if (data && fs::path(data).is_absolute()) return fs::path(data) / "ridgeline" / "profiles";
  const char* const home = std::getenv("HOME");
  if (!home || !*home)
    throw Error("profile store", "neither XDG_DATA_HOME nor HOME is set",
                "set one, or name the profile's file");
  return fs::path(home) / ".local" / "share" / "ridgeline" / "profiles";
}

std::string store_profile(const Profile& profile) {
  const fs::path folder = profile_store_folder();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(folder.string(), "cannot create the profile store: " + error.message());
  std::string name =
      profile.modes.empty() ? std::string("profile") : profile.modes.front().conditions.started;
  std::ranges::replace(name, ':', '-');
  fs::path path = folder / (name + ".json");
  // Two runs within a second: both are kept, in order.
  for (char suffix = 'a'; fs::exists(path, error) && suffix <= 'z'; ++suffix)
    path = folder / (name + suffix + ".json");
  save_profile(profile, path);
  return path;
}

std::optional<std::string> newest_profile_path() {
  const fs::path folder = profile_store_folder();
  std::optional<fs::path> newest;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".json" && (!newest || path.filename() > newest->filename()))
      newest = path;
  }
  if (!newest) return std::nullopt;
  return newest->string();
}

}  // namespace ridgeline::cli
