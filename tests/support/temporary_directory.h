// A directory for tests that write files; it exists as long as its object.
#pragma once

#include <string>

namespace ridgeline::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + '/' + name; }

  // Writes a file and creates its folders.
  void write(const std::string& name, const std::string& text) const;

  // A bash script in place of a real program.
  void write_program(const std::string& name, const std::string& body) const;

 private:
  std::string path_;
};

}  // namespace ridgeline::testing
