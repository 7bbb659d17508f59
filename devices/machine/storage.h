// The storage below a folder: the type of its file system and the medium that holds it.
// Reads mountinfo and sysfs below a root that tests replace; what the system hides stays empty.
#pragma once

#include <string>

#include "devices/machine/system_files.h"

namespace ridgeline {

struct FileSystem {
  std::string type;    // "ext4"; empty where unknown
  std::string medium;  // hdd, ssd, nvme, emmc, sd, ram or network; empty where unknown
  std::string note;    // what the name of the medium does not say; may be empty
};

// `path` is absolute and free of symbolic links.
FileSystem file_system_of(const std::string& path, const SystemRoot& root = {});

}  // namespace ridgeline
