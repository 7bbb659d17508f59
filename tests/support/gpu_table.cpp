// What every row is, apart from what the table says already.
#include "tests/support/gpu_table.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ridgeline::testing {
namespace {

constexpr std::size_t options_column = 10;  // behind the model

void add_option(std::string& options, const std::string& option) {
  if (options.find(option) != std::string::npos) return;
  if (!options.empty()) options += ';';
  options += option;
}

std::string with_options(const std::string& line) {
  std::istringstream cells(line);
  std::string result, cell, model;
  for (std::size_t column = 0; std::getline(cells, cell, ','); ++column) {
    if (column == options_column && model != "model" && model != "resnet101") {
      add_option(cell, "attention=eager");
      if (model == "gpt2" || model == "opt-1.3b" || model == "qwen2-1.5b")
        add_option(cell, "logits=none");
    }
    model = cell;
    if (column > 0) result += ',';
    result += cell;
  }
  if (line.ends_with(',')) result += ',';
  return result;
}

}  // namespace

std::string gpu_table_file() {
  const char* data = std::getenv("RIDGELINE_DATA");
  if (data == nullptr) return {};
  const std::string path = std::string(data) + "/measurements/tables/nvidia_gpus_dvfs.csv";
  return std::filesystem::exists(path) ? path : std::string();
}

void write_gpu_table(const std::string& path) {
  std::ifstream from(gpu_table_file());
  std::ofstream to(path);
  for (std::string line; std::getline(from, line);) to << with_options(line) << '\n';
}

}  // namespace ridgeline::testing
