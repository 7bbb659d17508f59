// Small reads of the system's files below a root: first line, numbers, names, permissions.
// A file that is missing or unreadable gives an empty result, never an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ridgeline {

// "/", or the folder in the variable RIDGELINE_ROOT: a host's file systems as a container sees
// them, a made-up tree in tests. Ends in '/'.
const std::string& usual_root();

// Where the system's files are.
struct SystemRoot {
  std::string path = usual_root();

  std::string at(const std::string& relative) const { return path + relative; }
};

// Paths are relative to the root: "sys/class/hwmon".
std::optional<std::string> first_line(const SystemRoot& root, const std::string& path);
std::optional<double> number(const SystemRoot& root, const std::string& path);
std::vector<std::string> names_in(const SystemRoot& root, const std::string& folder);  // sorted
bool exists(const SystemRoot& root, const std::string& path);
bool may_read(const SystemRoot& root, const std::string& path);
bool may_write(const SystemRoot& root, const std::string& path);

}  // namespace ridgeline
