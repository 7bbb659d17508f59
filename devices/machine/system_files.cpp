// Reads /proc and /sys without caring why something is not there.
// Permissions are those of the effective user, so that sudo and capabilities count.
#include "devices/machine/system_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace ridgeline {
namespace {

bool may(const SystemRoot& root, const std::string& path, int access) {
  return faccessat(AT_FDCWD, root.at(path).c_str(), access, AT_EACCESS) == 0;
}

}  // namespace

const std::string& usual_root() {
  static const std::string path = [] {
    const char* const variable = std::getenv("RIDGELINE_ROOT");
    std::string folder = variable && *variable ? variable : "/";
    if (folder.back() != '/') folder += '/';
    return folder;
  }();
  return path;
}

std::optional<std::string> first_line(const SystemRoot& root, const std::string& path) {
  std::ifstream file(root.at(path));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<double> number(const SystemRoot& root, const std::string& path) {
  const auto line = first_line(root, path);
  if (!line) return std::nullopt;
  double value = 0;
  const auto [end, fault] = std::from_chars(line->data(), line->data() + line->size(), value);
  if (fault != std::errc{}) return std::nullopt;
  return value;
}

std::vector<std::string> names_in(const SystemRoot& root, const std::string& folder) {
  std::vector<std::string> names;
  std::error_code fault;
  for (std::filesystem::directory_iterator entry(root.at(folder), fault), end;
       !fault && entry != end; entry.increment(fault))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool exists(const SystemRoot& root, const std::string& path) { return may(root, path, F_OK); }
bool may_read(const SystemRoot& root, const std::string& path) { return may(root, path, R_OK); }
bool may_write(const SystemRoot& root, const std::string& path) { return may(root, path, W_OK); }

}  // namespace ridgeline
