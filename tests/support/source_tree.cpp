// Reads the checkout once, without hidden and build folders.
#include "tests/support/source_tree.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

constexpr std::array folders = {"base",     "devices", "kernels",    "analyzer",  "workloads",
                                "roofline", "planner", "validation", "execution", "plots",
                                "report",   "cli",     "tests",      "cmake"};

bool is_source(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".h" || extension == ".cpp" || extension == ".cmake" || extension == ".cu";
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

SourceTree read_source_tree() {
  const std::filesystem::path root = source_file("");
  SourceTree tree;
  for (const char* folder : folders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && is_source(entry.path()))
        tree[entry.path().lexically_relative(root).string()] = read(entry.path());
  }
  return tree;
}

}  // namespace ridgeline::testing
