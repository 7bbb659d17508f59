// File names begin with the date of the measurement, so the newest sorts last.
// A second profile of the same second gets a number instead of replacing the first.
#include "base/profile_store.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"

namespace ridgeline {
namespace {

namespace fs = std::filesystem;

constexpr const char* extension = ".json";
constexpr const char* disturbed_folder = "disturbed";

const char* folder_of(Shelf shelf) {
  switch (shelf) {
    case Shelf::whole:
      return "";
    case Shelf::gpu:
      return "gpu";
    case Shelf::partial:
      return "partial";
    case Shelf::input:
      return "input";
  }
  return "";
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// "2026-01-02T03:04:05Z" → "2026-01-02T030405Z": no characters that file systems dislike.
std::string file_stem(const Profile& profile) {
  std::string stem;
  const std::string date = profile.modes.empty() ? "" : profile.modes.front().conditions.started;
  for (const char c : date)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-') stem += c;
  return stem.empty() ? "undated" : stem;
}

std::optional<std::string> newest_on(std::initializer_list<Shelf> shelves,
                                     const std::string& below = {}) {
  if (!has_profile_store()) return std::nullopt;
  std::vector<std::pair<std::string, std::string>> files;  // sort key, path
  for (const Shelf shelf : shelves) {
    std::error_code fault;
    const fs::path directory = fs::path(profile_store_directory()) / below / folder_of(shelf);
    for (fs::directory_iterator entry(directory, fault), end; !fault && entry != end;
         entry.increment(fault)) {
      const fs::path& path = entry->path();
      std::error_code ignored;
      if (path.extension() == extension && entry->is_regular_file(ignored))
        // "…Z-10" is newer than "…Z-2": a longer name of the same date sorts later.
        files.emplace_back(path.stem().string(), path.string());
    }
  }
  if (files.empty()) return std::nullopt;
  const auto newest =
      std::max_element(files.begin(), files.end(), [](const auto& a, const auto& b) {
        const auto date = [](const std::string& stem) { return stem.substr(0, stem.find('Z')); };
        if (date(a.first) != date(b.first)) return date(a.first) < date(b.first);
        return std::pair(a.first.size(), a.first) < std::pair(b.first.size(), b.first);
      });
  return newest->second;
}

Error no_profile() {
  if (!has_profile_store())
    return {"HOME", "is not set, so no profile of this machine can be found",
            "give a file or a device, or set XDG_DATA_HOME", ExitCode::incomplete};
  if (const auto disturbed = newest_disturbed_path())
    return {{},
            "the only profile of this machine is of a disturbed run, " + *disturbed,
            "run 'ridgeline measure' when the machine is quiet, or name that file",
            ExitCode::incomplete};
  return {{}, "no profile of this machine yet", "run 'ridgeline measure'", ExitCode::incomplete};
}

}  // namespace

bool has_profile_store() {
  return variable("XDG_DATA_HOME").starts_with('/') || !variable("HOME").empty();
}

std::string profile_store_directory() {
  // The specification says that a relative path there is to be ignored.
  std::string base = variable("XDG_DATA_HOME");
  if (base.empty() || base.front() != '/') {
    const std::string home = variable("HOME");
    if (home.empty())
      throw Error("HOME", "is not set, so profiles cannot be stored", "set XDG_DATA_HOME");
    base = home + "/.local/share";
  }
  return base + "/ridgeline/profiles";
}

void check_profile_store() {
  const std::string directory = profile_store_directory();
  std::error_code fault;
  fs::create_directories(directory, fault);
  if (fault) throw Error(directory, fault.message(), "check XDG_DATA_HOME");
  check_file_can_be_written(directory + "/profile" + extension);
}

std::string store_profile(const Profile& profile, Shelf shelf) {
  const bool disturbed = std::ranges::any_of(
      profile.modes, [](const ProfileMode& mode) { return !disturbance(mode.conditions).empty(); });
  const fs::path directory =
      fs::path(profile_store_directory()) / (disturbed ? disturbed_folder : "") / folder_of(shelf);
  std::error_code fault;
  fs::create_directories(directory, fault);
  if (fault) throw Error(directory.string(), fault.message(), "check XDG_DATA_HOME");
  const std::string stem = file_stem(profile);
  fs::path path = directory / (stem + extension);
  for (int number = 2; fs::exists(path, fault); ++number)
    path = directory / (stem + "-" + std::to_string(number) + extension);
  save_profile(profile, path.string());
  return path.string();
}

std::optional<std::string> newest_profile_path() {
  if (auto whole = newest_on({Shelf::whole, Shelf::gpu})) return whole;
  return newest_on({Shelf::partial});
}

std::optional<std::string> newest_profile_path(Shelf shelf) {
  if (shelf == Shelf::gpu || shelf == Shelf::input) return newest_on({shelf});
  if (auto whole = newest_on({Shelf::whole})) return whole;
  return newest_on({Shelf::partial});
}

std::optional<std::string> newest_disturbed_path() {
  if (auto whole = newest_on({Shelf::whole, Shelf::gpu}, disturbed_folder)) return whole;
  return newest_on({Shelf::partial}, disturbed_folder);
}

std::string require_newest_profile() {
  if (auto path = newest_profile_path()) return *path;
  throw no_profile();
}

std::string require_newest_cpu_profile() {
  if (auto path = newest_profile_path(Shelf::whole)) return *path;
  throw no_profile();
}

}  // namespace ridgeline
