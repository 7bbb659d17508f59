// Time to read, import and count a model: ResNet-50 with its 100 MB of weights on disk, and chains
// of nodes, which must scale linearly; and time to build and lower each built-in network.
// Google Benchmark runs it and fits the complexity; nothing is checked here.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "analyzer/analysis/analysis.h"
#include "analyzer/lowering/lowering.h"
#include "analyzer/onnx/import.h"
#include "tests/analyzer/networks.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/temporary_directory.h"
#include "workloads/registry.h"

namespace ridgeline::testing {
namespace {

using onnx::ImportOptions;
using onnx::ModelFile;

const std::string& resnet50_path() {
  static const TemporaryDirectory folder;
  static const std::string path = [] {
    OnnxBuilder model = resnet50();
    model.zero_weights();
    folder.write("resnet50.onnx", model.bytes());
    return folder.file("resnet50.onnx");
  }();
  return path;
}

ImportOptions batch_of_one() {
  ImportOptions options;
  options.batch = 1;
  return options;
}

// Products, additions and activations in a row, with reshapes in between as exporters write them.
OnnxBuilder chain(std::int64_t nodes) {
  OnnxBuilder model;
  model.opset(17).input("x0", ElementType::fp32, {1, 64});
  model.initializer("w", ElementType::fp32, {64, 64});
  model.integers("shape", {1, 64});
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::string from = "x" + std::to_string(i), to = "x" + std::to_string(i + 1);
    if (i % 4 == 0) model.node("MatMul", {from, "w"}, {to});
    if (i % 4 == 1) model.node("Add", {from, "x0"}, {to});
    if (i % 4 == 2) model.node("Relu", {from}, {to});
    if (i % 4 == 3) model.node("Reshape", {from, "shape"}, {to});
  }
  model.output("x" + std::to_string(nodes), ElementType::fp32, {1, 64});
  return model;
}

void read_resnet50(benchmark::State& state) {
  const std::string& path = resnet50_path();
  for (auto _ : state) benchmark::DoNotOptimize(ModelFile(path).model().graph.nodes.size());
}

void import_resnet50(benchmark::State& state) {
  const ModelFile file(resnet50_path());
  const ImportOptions options = batch_of_one();
  for (auto _ : state) benchmark::DoNotOptimize(import_graph(file, options).graph.layers.size());
}

void count_resnet50(benchmark::State& state) {
  const onnx::Import imported = import_graph(ModelFile(resnet50_path()), batch_of_one());
  for (auto _ : state) benchmark::DoNotOptimize(analyze(imported.graph).totals.work.macs);
}

void read_import_count_resnet50(benchmark::State& state) {
  const std::string& path = resnet50_path();
  const ImportOptions options = batch_of_one();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        analyze(import_graph(ModelFile(path), options).graph).totals.work.macs);
}

void read_chain(benchmark::State& state) {
  const std::string bytes = chain(state.range(0)).bytes();
  for (auto _ : state)
    benchmark::DoNotOptimize(ModelFile(bytes, "chain").model().graph.nodes.size());
  state.SetComplexityN(state.range(0));
}

void import_chain(benchmark::State& state) {
  const ModelFile file(chain(state.range(0)).bytes(), "chain");
  for (auto _ : state) benchmark::DoNotOptimize(import_graph(file, {}).graph.layers.size());
  state.SetComplexityN(state.range(0));
}

void count_chain(benchmark::State& state) {
  const onnx::Import imported = import_graph(ModelFile(chain(state.range(0)).bytes(), "chain"), {});
  for (auto _ : state) benchmark::DoNotOptimize(analyze(imported.graph).totals.work.macs);
  state.SetComplexityN(state.range(0));
}

BENCHMARK(read_resnet50)->Unit(benchmark::kMillisecond);
BENCHMARK(import_resnet50)->Unit(benchmark::kMillisecond);
BENCHMARK(count_resnet50)->Unit(benchmark::kMillisecond);
BENCHMARK(read_import_count_resnet50)->Unit(benchmark::kMillisecond);

void build_and_lower(benchmark::State& state, std::string_view name, Runtime runtime) {
  for (auto _ : state) benchmark::DoNotOptimize(lower(build_workload(name), runtime).size());
}

const bool has_workloads = [] {
  for (const Workload& workload : all_workloads())
    for (const Runtime runtime : {Runtime::ideal, Runtime::torch_eager})
      benchmark::RegisterBenchmark(
          fmt::format("build_and_lower/{}/{}", workload.name, to_string(runtime)).c_str(),
          build_and_lower, workload.name, runtime)
          ->Unit(benchmark::kMillisecond);
  return true;
}();

void lengths(benchmark::internal::Benchmark* one) {
  one->RangeMultiplier(10)->Range(100, 10000)->Complexity(benchmark::oN);
  one->Unit(benchmark::kMillisecond);
}

BENCHMARK(read_chain)->Apply(lengths);
BENCHMARK(import_chain)->Apply(lengths);
BENCHMARK(count_chain)->Apply(lengths);

}  // namespace
}  // namespace ridgeline::testing

BENCHMARK_MAIN();
