// Whether networks can be executed by the tested program.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "tests/support/paths.h"

namespace ridgeline::testing {

// The module of LibTorch lies beside the release program. LibTorch itself is not sanitized, so the
// sanitized program does not load it.
inline bool has_torch() {
  return std::filesystem::exists(build_file("libridgeline_torch.so")) &&
         std::getenv("RIDGELINE_TESTED") == nullptr;
}

}  // namespace ridgeline::testing
