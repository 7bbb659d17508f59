// Fuzz target of the TensorRT front end: any bytes are read as layer information, counted and
// linted, mapped to a small ONNX file, and read as times, or refused with an Error. libFuzzer
// drives it (`./run fuzz tensorrt`); any other exception is a bug.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/onnx/import.h"
#include "analyzer/tensorrt/engine.h"
#include "analyzer/tensorrt/engine_diff.h"
#include "analyzer/tensorrt/engine_file.h"
#include "analyzer/tensorrt/import.h"
#include "analyzer/tensorrt/kernels.h"
#include "analyzer/tensorrt/layer_cost.h"
#include "analyzer/tensorrt/lint/lint.h"
#include "analyzer/tensorrt/mapping.h"
#include "analyzer/tensorrt/times.h"
#include "base/json.h"
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/fuzz/refused_or.h"

namespace {

using namespace ridgeline;
using namespace ridgeline::tensorrt;
using testing::refused_or;

const Graph& toy_network() {
  static const Graph graph = [] {
    ReadOptions options;
    options.batch = 2;
    return onnx::import_graph(onnx::ModelFile(testing::toy_onnx(), "toy.onnx"), options).graph;
  }();
  return graph;
}

// Each node in one layer or folded, as mapping.h promises.
void map_back(const Engine& engine) {
  const Mapping mapping = map_nodes(engine, toy_network(), "toy.onnx");
  std::size_t mapped = 0;
  for (const auto& nodes : mapping.nodes) mapped += nodes.size();
  if (mapped + mapping.summary.folded != toy_network().layers.size()) std::abort();
  std::vector<std::string> warnings;
  Graph kernels = kernel_graph(engine, warnings);
  apply_mapping(kernels, engine, toy_network(), mapping, "toy.onnx");
  count_kernels(std::move(kernels), engine);
}

void read_and_judge(std::string_view text) {
  ReadOptions options;
  options.batch = options.assumed_dim = 1;
  const LoadedEngine loaded = load_engine(read_engine(text, "fuzz.json"), options);
  const ComparedEngine compared{loaded.engine, layer_costs(loaded.import.kernels), std::nullopt};
  for (const LayerCost& cost : compared.costs)
    if (!(cost.bytes >= 0)) std::abort();
  dump_json(to_json(lint({compared.engine, compared.costs, std::nullopt})));
  if (!diff(compared, compared).added.empty()) std::abort();
  refused_or([&] { map_back(compared.engine); });
  refused_or([&] { join_times(compared.engine, {read_times(text, "fuzz.json")}); });
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
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (engine_version(text) && !is_engine_file(text)) std::abort();
  refused_or([&] { read_and_judge(text); });
  refused_or([&] { read_times(text, "fuzz.json"); });
  return 0;
}
