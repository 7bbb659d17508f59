// Compares text with a golden file byte for byte; RIDGELINE_UPDATE_GOLDENS=1 writes it instead.
// Golden files are in tests/plots/golden.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/text_file.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = source_file("tests/plots/golden/") + name;
  if (const char* update = std::getenv("RIDGELINE_UPDATE_GOLDENS"); update && *update == '1') {
    write_file_atomically(path, text);
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path))
      << path << ": write it with RIDGELINE_UPDATE_GOLDENS=1";
  // EXPECT_EQ would print both pictures in full.
  const std::string golden = read_text_file(path);
  if (golden == text) return;
  std::size_t line = 1, at = 0;
  while (at < golden.size() && at < text.size() && golden[at] == text[at])
    line += golden[at++] == '\n' ? 1 : 0;
  ADD_FAILURE() << path << ": differs from line " << line
                << " on; if that is wanted, run the tests with RIDGELINE_UPDATE_GOLDENS=1";
}

}  // namespace ridgeline::testing
