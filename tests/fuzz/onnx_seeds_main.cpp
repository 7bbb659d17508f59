// Writes the project's own sample models into a folder, as seed inputs of the fuzz target.
// usage: ridgeline_onnx_seeds FOLDER
#include <filesystem>
#include <fstream>

#include "tests/support/sample_models.h"

int main(int count, char** words) {
  using namespace ridgeline::testing;
  if (count != 2) return 2;
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  const auto write = [&](const SampleModel& model) {
    std::ofstream(folder / (model.name + ".onnx"), std::ios::binary) << model.bytes;
  };
  write({"varied", varied_model()});
  for (const SampleModel& model : sample_models()) write(model);
  for (const SampleModel& model : operator_models()) write(model);
  return 0;
}
