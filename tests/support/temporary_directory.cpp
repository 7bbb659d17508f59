// mkdtemp and remove_all.
// Removal never throws, or it would hide why a test failed.
#include "tests/support/temporary_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace ridgeline::testing {

TemporaryDirectory::TemporaryDirectory()
    : path_((std::filesystem::temp_directory_path() / "ridgeline-test-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryDirectory::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path target = file(name);
  std::filesystem::create_directories(target.parent_path());
  std::ofstream(target, std::ios::binary) << text;
}

void TemporaryDirectory::write_program(const std::string& name, const std::string& body) const {
  write(name, "#!/usr/bin/env bash\n" + body + "\n");
  std::filesystem::permissions(file(name), std::filesystem::perms::owner_all);
}

}  // namespace ridgeline::testing
