// Finds the corpus through the environment.
// The tests state what they expect of its files.
#include "tests/support/corpus.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ridgeline::testing {

namespace fs = std::filesystem;

std::string corpus_folder() {
  const char* data = std::getenv("RIDGELINE_DATA");
  if (data == nullptr) return {};
  const fs::path folder = fs::path(data) / "onnx";
  return fs::is_directory(folder) ? folder.string() : std::string{};
}

std::vector<std::string> corpus_files() {
  std::vector<std::string> files;
  const fs::path folder = corpus_folder();
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".onnx")
      files.push_back(entry.path().lexically_relative(folder).string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace ridgeline::testing
