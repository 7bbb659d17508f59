// Fuzz target of the TorchScript front end: an archive is checked, read by LibTorch, run once and
// counted, or refused with an Error. libFuzzer drives it (`./run fuzz torchscript`). LibTorch and
// the module that calls it have no sanitizers here, so that of their faults only those of the heap
// are seen. A fault inside LibTorch is not this project's to mend: look at the stack first.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/count/op_weights.h"
#include "analyzer/torch/archive.h"
#include "analyzer/torch/import.h"
#include "analyzer/torch/script.h"
#include "tests/fuzz/refused_or.h"
#include "tests/fuzz/script_mutator.h"

namespace {

using namespace ridgeline;

// One file per process and purpose.
std::string scratch(const char* purpose) {
  return std::filesystem::temp_directory_path() /
         ("torchscript_fuzz." + std::to_string(getpid()) + purpose + ".pt");
}

// Inputs that fit one of the samples each.
const std::vector<ReadOptions>& inputs() {
  static const std::vector<ReadOptions> all = [] {
    std::vector<ReadOptions> options(4);
    options[0].shapes[""] = {2, 8, 16, 16};
    options[1].shapes[""] = {2, 5, 16};
    options[2].shapes["ids"] = options[2].shapes["mask"] = {2, 12};
    options[3].shapes["x"] = {2, 8};
    options[3].values["steps"] = {2};
    return options;
  }();
  return all;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// A tensor of any size that a script asks for fails as without sanitizers. What LibTorch keeps
// until the end is no leak of ours.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:detect_leaks=0";
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  static const std::string path = scratch(".changed");
  const std::string before(reinterpret_cast<const char*>(data), size);
  const auto mutate_bytes = [](std::string& bytes, std::size_t limit) {
    const std::size_t used = bytes.size();
    bytes.resize(limit);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), used, limit));
  };
  const std::string after = testing::mutated_script(before, seed, path, mutate_bytes);
  if (after.empty() || after.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  after.copy(reinterpret_cast<char*>(data), after.size());
  return after.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = scratch("");
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!pytorch::looks_like_archive(bytes)) return 0;
  std::ofstream(path, std::ios::binary) << bytes;
  for (const ReadOptions& options : inputs())
    testing::refused_or([&] {
      if (!pytorch::is_script_archive(path)) return;
      for (const Layer& layer : pytorch::import_script(path, options).import.graph.layers)
        for (const Part& part : layer.parts)
          if (!(count_part(part, default_weights()).macs >= 0)) std::abort();
    });
  return 0;
}
