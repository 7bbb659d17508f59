// A directory that exists as long as its object.
// For tests that write files.
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

  // Writes a file, with the folders that lead to it.
  void write(const std::string& name, const std::string& text) const;

  // A program for bash, in the place of a real one.
  void write_program(const std::string& name, const std::string& body) const;

 private:
  std::string path_;
};

}  // namespace ridgeline::testing
