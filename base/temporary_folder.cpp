// In TMPDIR, or /tmp; readable by this user only.
#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace ridgeline {
namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(std::string_view name) {
  std::error_code fault;
  const fs::path parent = fs::temp_directory_path(fault);
  if (fault) throw Error("TMPDIR", fault.message(), "set TMPDIR to a folder that can be written");
  path_ = (parent / ("ridgeline-" + std::string(name) + "-XXXXXX")).string();
  if (!mkdtemp(path_.data()))
    throw Error(parent.string(), std::strerror(errno),
                "set TMPDIR to a folder that can be written");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ridgeline
