// Finds tables through the environment. Tests skip themselves if a table is missing.
#include "tests/support/measured_tables.h"

#include <cstdlib>
#include <filesystem>

namespace ridgeline::testing {

std::string measured_table(const std::string& name) {
  const char* data = std::getenv("RIDGELINE_DATA");
  if (data == nullptr) return {};
  const auto path = std::filesystem::path(data) / "measurements" / "tables" / name;
  return std::filesystem::exists(path) ? path.string() : std::string();
}

}  // namespace ridgeline::testing
