// The paths come from CMake (tests/CMakeLists.txt).
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

std::string below(const std::string& folder, const std::string& name) {
  return name.empty() ? folder : folder + '/' + name;
}

}  // namespace

std::string source_file(const std::string& name) { return below(RIDGELINE_SOURCE_DIR, name); }
std::string build_file(const std::string& name) { return below(RIDGELINE_BUILD_DIR, name); }
std::string built_program() { return RIDGELINE_BINARY; }
std::string cmake_program() { return RIDGELINE_CMAKE; }

}  // namespace ridgeline::testing
