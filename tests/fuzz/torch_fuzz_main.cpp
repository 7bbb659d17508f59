// Fuzz target of the front end for torch.export: any bytes are read as the JSON of a program, and
// as an archive (also of TorchScript, as far as this project reads it) if they begin like one, or
// refused with an Error. libFuzzer drives it (`./run fuzz torch`); any other exception is a bug.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "analyzer/count/count.h"
#include "analyzer/count/op_weights.h"
#include "analyzer/torch/archive.h"
#include "analyzer/torch/import.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/fuzz/refused_or.h"

namespace {

using namespace ridgeline;
using testing::refused_or;

void count_all(const Graph& graph) {
  for (const Layer& layer : graph.layers)
    for (const Part& part : layer.parts)
      if (!(count_part(part, default_weights()).macs >= 0)) std::abort();
}

// libzip reads files; one per process.
const std::string& archive_path() {
  static const std::string path =
      std::filesystem::temp_directory_path() / ("torch_fuzz." + std::to_string(getpid()) + ".pt2");
  return path;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Half of the inputs change as JSON, the others byte by byte.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  const std::string_view before(reinterpret_cast<const char*>(data), size);
  const std::string after = seed % 2 == 0 ? testing::mutated_json(before, seed / 2) : std::string();
  if (after.empty() || after.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  after.copy(reinterpret_cast<char*>(data), after.size());
  return after.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadOptions options;
  options.assumed_dim = 2;
  if (!pytorch::looks_like_archive(bytes)) {
    refused_or([&] { count_all(pytorch::import_program(bytes, "fuzz.pt2", options).graph); });
    refused_or([&] { count_all(pytorch::import_program(bytes, "fuzz.pt2", {}).graph); });
    return 0;
  }
  std::ofstream(archive_path(), std::ios::binary) << bytes;
  refused_or([&] { count_all(pytorch::import_archive(archive_path(), options).graph); });
  // What is checked of a TorchScript file before LibTorch reads it.
  refused_or([&] {
    if (pytorch::is_script_archive(archive_path())) pytorch::check_script_archive(archive_path());
  });
  return 0;
}
