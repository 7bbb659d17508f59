// Fuzz target of the ONNX front end: any bytes are read, imported and counted, or refused with an
// Error. libFuzzer drives it (`./run fuzz`); any other exception is a bug.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "analyzer/analysis/analysis.h"
#include "analyzer/onnx/import.h"
#include "base/error.h"
#include "tests/fuzz/message_mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using ridgeline::testing::mutated_model;
  const std::string before(reinterpret_cast<const char*>(data), size);
  const auto mutate_bytes = [](std::string& bytes, std::size_t limit) {
    const std::size_t used = bytes.size();
    bytes.resize(limit);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), used, limit));
  };
  const std::string after = mutated_model(before, seed, mutate_bytes);
  if (after.empty() || after.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  after.copy(reinterpret_cast<char*>(data), after.size());
  return after.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridgeline;
  try {
    const onnx::ModelFile file(std::string(reinterpret_cast<const char*>(data), size), "fuzz.onnx");
    onnx::ImportOptions options;
    options.assumed_dim = 1;
    const Analysis analysis = analyze(onnx::import_graph(file, options).graph);
    if (!(analysis.totals.work.macs >= 0)) std::abort();
    std::ostringstream json;
    write_json(json, analysis);
  } catch (const Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
