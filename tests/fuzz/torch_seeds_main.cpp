// Writes the graphs of torch.export archives into a folder as JSON, as seed inputs of the fuzz
// target: changed inside of an archive they would only break its checksums.
// usage: ridgeline_torch_seeds FOLDER ARCHIVE ...
#include <filesystem>
#include <fstream>
#include <string>

#include "analyzer/torch/archive.h"

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  constexpr std::size_t most = 65'536;  // larger ones would be cut off
  for (int i = 2; i < count; ++i) {
    const std::filesystem::path archive = words[i];
    const std::string text = ridgeline::pytorch::read_exported_program(archive.string());
    if (text.size() > most) continue;
    std::ofstream(folder / (archive.stem().string() + ".json"), std::ios::binary) << text;
  }
  return 0;
}
