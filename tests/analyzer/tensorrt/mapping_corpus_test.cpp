// The way back to ONNX on real engines: ResNet-18 on an A100 in four builds and a network with
// Myelin kernels, $RIDGELINE_DATA/trt, each with the ONNX file that its exporter wrote. Skips with
// a message if the engines are missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/frontend.h"
#include "analyzer/graph/unknown_operators.h"
#include "base/text_file.h"
#include "tests/analyzer/tensorrt/exported_networks.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

// The text of an engine of the corpus; empty if it is not here.
std::string engine_text(const std::string& name) {
  const char* data = std::getenv("RIDGELINE_DATA");
  if (data == nullptr) return {};
  const std::string path = std::string(data) + "/trt/" + name;
  return std::filesystem::exists(path) ? read_text_file(path) : std::string();
}

#define SKIP_WITHOUT(text) \
  if ((text).empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or lacks trt"

const char* const resnets = "nvidia_trex_v11.0_tree/a100_pytorch_resnet/";

ChosenKernels mapped(const std::string& engine, const std::string& onnx) {
  const TemporaryDirectory folder;
  folder.write("net.graph.json", engine);
  folder.write("net.onnx", onnx);
  ReadOptions reading;
  reading.onnx = folder.path() + "/net.onnx";
  return std::get<ChosenKernels>(read_network(folder.path() + "/net.graph.json", reading).content);
}

// Kernel of each node; a node in two kernels fails.
std::map<std::string, std::string> owners(const ChosenKernels& kernels) {
  std::map<std::string, std::string> owner;
  for (const Layer& layer : kernels.graph.layers)
    for (const std::string& node : layer.sources)
      EXPECT_TRUE(owner.emplace(node, layer.name).second) << node << " is in two kernels";
  return owner;
}

TEST(MappingOfRealEngines, EveryNodeOfResnetIsInItsKernel) {
  for (const std::string name : {"fp16/resnet", "fp32/resnet"}) {
    const std::string engine = engine_text(resnets + name + ".onnx.engine.graph.json");
    SKIP_WITHOUT(engine);
    const ExportedNetwork network = exported_resnet18(NodeNames::numbered, false);
    ASSERT_EQ(network.names.size(), 49u);
    const ChosenKernels kernels = mapped(engine, network.bytes);
    const NodeMapping& mapping = *kernels.mapping;
    EXPECT_EQ(mapping.all_nodes, 49u);
    EXPECT_EQ(mapping.folded, 1u) << "Flatten moves nothing";
    EXPECT_EQ(mapping.mapped_flop, mapping.flop);
    const auto owner = owners(kernels);
    EXPECT_FALSE(owner.contains("Flatten_47"));
    for (const auto& [node, kernel] : owner)
      EXPECT_NE(("+ " + kernel + " +").find(node), std::string::npos)
          << node << " went to " << kernel;
  }
}

TEST(MappingOfRealEngines, QuantisedNodesFollowTheirProducts) {
  const std::string engine =
      engine_text(std::string(resnets) + "qat/resnet-qat.onnx.engine.graph.json");
  SKIP_WITHOUT(engine);
  const ChosenKernels kernels = mapped(engine, exported_resnet18(NodeNames::numbered, true).bytes);
  const NodeMapping& mapping = *kernels.mapping;
  EXPECT_GT(mapping.mapped_flop, 0.999 * mapping.flop);
  const auto owner = owners(kernels);
  const auto kernel = [&](const char* node) {
    const auto found = owner.find(node);
    return found == owner.end() ? std::string() : found->second;
  };
  // No name of the engine has the normalisation and the activation, which were fused.
  EXPECT_EQ(kernel("Conv_9"), "conv1.weight + QuantizeLinear_7 + Conv_9");
  EXPECT_EQ(kernel("BatchNormalization_10"), kernel("Conv_9"));
  EXPECT_EQ(kernel("Relu_11"), kernel("Conv_9"));
  EXPECT_EQ(kernel("BatchNormalization_96"), kernel("Conv_95"));
  EXPECT_EQ(kernel("Add_97"), kernel("Conv_95"));
}

// The engine as torch names nodes since 1.13: modules become groups.
TEST(MappingOfRealEngines, ModulesOfResnet) {
  const std::string text = engine_text(std::string(resnets) + "fp16/resnet.onnx.engine.graph.json");
  SKIP_WITHOUT(text);
  const ExportedNetwork network = exported_resnet18(NodeNames::modules, false);
  std::string engine = text;
  for (const auto& [numbered, module] : network.names)
    for (auto at = engine.find(numbered); at != std::string::npos;
         at = engine.find(numbered, at + 1)) {
      const char after = engine[at + numbered.size()];
      if (std::isdigit(static_cast<unsigned char>(after)) || engine[at - 1] == ':') continue;
      engine.replace(at, numbered.size(), module);
      at += module.size();
    }
  const ChosenKernels kernels = mapped(engine, network.bytes);
  EXPECT_EQ(kernels.mapping->mapped_flop, kernels.mapping->flop);
  std::map<std::string, double> macs;
  for (std::size_t i = 0; i < kernels.graph.layers.size(); ++i)
    if (!kernels.graph.layers[i].sources.empty())
      macs[kernels.graph.layers[i].module] += kernels.counts[i].work.macs;
  EXPECT_EQ(macs.at("layer1/layer1.0"), 32 * 2 * 56.0 * 56 * 64 * 64 * 9);
  EXPECT_EQ(macs.at("layer4/layer4.1"), 32 * 2 * 7.0 * 7 * 512 * 512 * 9);
  double sum = 0;
  for (const auto& [module, value] : macs) sum += value;
  EXPECT_EQ(sum, 58050347008.0) << "golden_conv_macs.csv";
}

TEST(MappingOfRealEngines, MyelinKernelsAreCountedByTheirNodes) {
  const std::string engine =
      engine_text("nvidia_cookbook_trt10.16/trtexec/model-trained-exportLayerInfo.log");
  SKIP_WITHOUT(engine);
  const ChosenKernels kernels = mapped(engine, exported_digits());
  EXPECT_THAT(unknown_operators(kernels.graph), IsEmpty());
  EXPECT_EQ(kernels.mapping->mapped_flop, kernels.mapping->flop);
  EXPECT_EQ(kernels.mapping->all_nodes - kernels.mapping->folded, 11u) << "all but the reshape";
  const auto owner = owners(kernels);
  EXPECT_EQ(owner.at("node_linear"), "node_linear_myl4_0");
  EXPECT_EQ(owner.at("node_relu_2"), "node_linear_myl4_0");
  double macs = 0;
  for (const LayerCount& count : kernels.counts) macs += count.work.macs;
  EXPECT_EQ(macs, 10662400 + 3136.0 * 1024 + 1024.0 * 10);
}

}  // namespace
}  // namespace ridgeline::testing
