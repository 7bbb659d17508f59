// A folder for files that another program writes or reads; it is removed with its object.
// Files that stay are written with atomic_file.h.
#pragma once

#include <string>
#include <string_view>

namespace ridgeline {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view name);  // "counters": ridgeline-counters-XXXXXX
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + '/' + std::string(name); }

 private:
  std::string path_;
};

}  // namespace ridgeline
