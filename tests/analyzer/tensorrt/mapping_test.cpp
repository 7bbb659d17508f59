// The way back from kernels to ONNX nodes: by metadata, names and tensors, each node once.
#include "analyzer/tensorrt/mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/frontend.h"
#include "analyzer/graph/unknown_operators.h"
#include "base/error.h"
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using tensorrt::Engine;
using tensorrt::EngineLayer;
using tensorrt::map_nodes;
using tensorrt::Mapping;
using tensorrt::names_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph toy_nodes(const std::string& suffix = "") {
  const TemporaryDirectory folder;
  folder.write("net.onnx", toy_onnx(suffix));
  ReadOptions reading;
  reading.batch = 2;
  return read_network(folder.path() + "/net.onnx", reading).graph();
}

// Every node is in one layer at most, and the rest is folded.
void expect_partition(const Mapping& mapping) {
  std::vector<int> uses(mapping.summary.all_nodes);
  std::size_t mapped = 0;
  for (const auto& nodes : mapping.nodes)
    for (const std::size_t node : nodes) {
      ++uses.at(node);
      ++mapped;
    }
  for (const int count : uses) EXPECT_LE(count, 1);
  EXPECT_EQ(mapped + mapping.summary.folded, mapping.summary.all_nodes);
  EXPECT_EQ(mapped,
            mapping.summary.by_metadata + mapping.summary.by_name + mapping.summary.by_tensor);
}

TEST(TensorrtMapping, NamesInALayerName) {
  EXPECT_THAT(names_in("Conv_0 + Relu_1"), ElementsAre("Conv_0", "Relu_1"));
  EXPECT_THAT(names_in("PWN(PWN(Sigmoid_79), Mul_80)"), ElementsAre("Sigmoid_79", "Mul_80"));
  EXPECT_THAT(names_in("w + QuantizeLinear_8 + Conv_12 + PWN(Clip_16)"),
              ElementsAre("w", "QuantizeLinear_8", "Conv_12", "Clip_16"));
  EXPECT_THAT(names_in("Conv_1 || Conv_2"), ElementsAre("Conv_1", "Conv_2"));
  EXPECT_THAT(names_in("{ForeignNode[a + b...c]}"), ElementsAre("a", "b", "...", "c"));
  EXPECT_THAT(names_in("{ForeignNode[a]}"), ElementsAre("a"));
  EXPECT_THAT(names_in("node_linear [profile 1]_myl11_2"), ElementsAre("node_linear"));
  EXPECT_THAT(names_in("/layer1/conv(1)/Conv"), ElementsAre("/layer1/conv(1)/Conv"));
}

TEST(TensorrtMapping, ByMetadata) {
  const Engine engine = toy_engine();
  const Mapping mapping = map_nodes(engine, toy_nodes(), "net.onnx");
  expect_partition(mapping);
  EXPECT_EQ(mapping.summary.by_metadata, 9u);
  EXPECT_EQ(mapping.summary.folded, 0u);
  EXPECT_EQ(mapping.summary.flop, mapping.summary.mapped_flop);
  EXPECT_THAT(mapping.nodes.at(2), ElementsAre(2u, 3u, 4u));
  EXPECT_TRUE(mapping.nodes.at(0).empty()) << "a reformat comes from no node";
}

TEST(TensorrtMapping, ByNamesWithoutMetadata) {
  Engine engine = toy_engine();
  for (EngineLayer& layer : engine.layers) layer.onnx_nodes.clear();
  engine.layers[6].name = "{ForeignNode[head/softmax...head/softmax]}";
  const Mapping mapping = map_nodes(engine, toy_nodes(), "net.onnx");
  expect_partition(mapping);
  EXPECT_EQ(mapping.summary.by_name, 9u);
}

TEST(TensorrtMapping, NamesMayChangeOnImport) {
  Engine engine = toy_engine();
  for (EngineLayer& layer : engine.layers)
    for (std::string& node : layer.onnx_nodes) std::replace(node.begin(), node.end(), '/', '_');
  EXPECT_EQ(map_nodes(engine, toy_nodes(), "net.onnx").summary.by_metadata, 9u);
}

TEST(TensorrtMapping, ByTensorsWithoutNames) {
  Engine engine = toy_engine();
  for (std::size_t i = 0; i < engine.layers.size(); ++i) {
    engine.layers[i].onnx_nodes.clear();
    engine.layers[i].name = "layer" + std::to_string(i);
  }
  const Mapping mapping = map_nodes(engine, toy_nodes(), "net.onnx");
  expect_partition(mapping);
  EXPECT_GE(mapping.summary.by_tensor, 7u);
  EXPECT_THAT(mapping.nodes.at(2), ElementsAre(2u, 3u, 4u));
}

TEST(TensorrtMapping, ARangeTakesWhatIsBetween) {
  Engine engine = toy_engine();
  for (EngineLayer& layer : engine.layers) layer.onnx_nodes.clear();
  engine.layers.erase(engine.layers.begin() + 2, engine.layers.begin() + 6);
  engine.layers.back().name = "{ForeignNode[body/conv + body/add...head/softmax]}";
  const Mapping mapping = map_nodes(engine, toy_nodes(), "net.onnx");
  expect_partition(mapping);
  EXPECT_EQ(mapping.nodes.back().size(), 7u);
}

TEST(TensorrtMapping, AnotherNetworkIsRefused) {
  try {
    map_nodes(toy_engine(), toy_nodes("_of_another"), "other.onnx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("other.onnx: not the network of toy.graph.json"));
  }
}

Network toy_network(const std::string& onnx, const std::string& engine = toy_text()) {
  const TemporaryDirectory folder;
  folder.write("toy.graph.json", engine);
  folder.write("net.onnx", onnx);
  ReadOptions reading;
  reading.onnx = folder.path() + "/net.onnx";
  return read_network(folder.path() + "/toy.graph.json", reading);
}

TEST(TensorrtMapping, OpaqueKernelsAreCountedByTheirNodes) {
  const Network network = toy_network(toy_onnx());
  const auto& kernels = std::get<ChosenKernels>(network.content);
  EXPECT_TRUE(unknown_operators(kernels.graph).empty());
  const Demand& softmax = kernels.demands.back();
  EXPECT_EQ(softmax.kind, KernelKind::softmax);
  EXPECT_GT(total_flop(softmax.work), 0);
  EXPECT_THAT(softmax.source_layers, ElementsAre("head/softmax"));
  EXPECT_EQ(kernels.graph.layers.back().module, "head");
  EXPECT_EQ(kernels.graph.layers[2].module, "body");
}

TEST(TensorrtMapping, OpaqueProductsReadTheirWeights) {
  std::string engine = toy_text();
  const std::string gemm = "\"gemm\"";
  engine.replace(engine.find(gemm), gemm.size(), "\"kgen\"");
  const Network network = toy_network(toy_onnx(), engine);
  const auto& kernels = std::get<ChosenKernels>(network.content);
  const Demand& fc = kernels.demands.at(4);
  EXPECT_EQ(fc.work.macs, 2 * 16 * 10);
  EXPECT_EQ(fc.work.weight_bytes_read, 2.0 * 16 * 10) << "in the type of the kernel";
}

TEST(TensorrtMapping, AnOnnxFileWithOtherSizesIsRefused) {
  std::string engine = toy_text();
  const std::string input = "\"image\"";
  EXPECT_THROW(toy_network("not ONNX"), Error);
  std::string other = engine;
  for (auto at = other.find(input); at != std::string::npos; at = other.find(input, at + 1))
    other.replace(at, input.size(), "\"photo\"");
  EXPECT_THROW(toy_network(toy_onnx(), other), Error) << "it has no such input";
}

}  // namespace
}  // namespace ridgeline::testing
