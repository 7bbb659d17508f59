// Built-in networks against exports of the same networks: each product, the parameters, and both
// after folding batch normalisation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <map>
#include <string>

#include "analyzer/fusion/fold_batch_norm.h"
#include "analyzer/lowering/lowering.h"
#include "analyzer/onnx/import.h"
#include "base/json.h"
#include "tests/analyzer/networks.h"
#include "tests/analyzer/onnx/imported.h"
#include "tests/support/corpus.h"
#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAreArray;
using ::testing::UnorderedElementsAreArray;

// MACs of the layers that have any, in graph order.
std::vector<double> products(const Graph& graph) {
  std::vector<double> macs;
  for (const Layer& layer : graph.layers)
    if (const double one = count_layer(graph, layer, default_weights()).macs; one > 0)
      macs.push_back(one);
  return macs;
}

double matrix_parameters(const Graph& graph) {
  double count = 0;
  for (const Tensor& tensor : graph.tensors)
    if (tensor.is_parameter && tensor.shape.size() > 1)
      count += static_cast<double>(element_count(tensor.shape));
  return count;
}

// Of the network after an ideal runtime's fusion.
double fused_bytes(const Graph& graph) {
  double bytes = 0;
  for (const Demand& demand : lower(graph, Runtime::ideal)) bytes += total_bytes(demand.work);
  return bytes;
}

Graph corpus_graph(const std::string& file) {
  return onnx::import_graph(onnx::ModelFile(corpus_folder() + "/" + file), {}).graph;
}

TEST(Exports, OfTheCorpusHaveTheSameProducts) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  EXPECT_THAT(products(build_workload("vgg19")),
              ElementsAreArray(products(corpus_graph("onnx_light/light_vgg19.onnx"))));
  EXPECT_THAT(
      products(build_workload("squeezenet1_1")),
      UnorderedElementsAreArray(products(corpus_graph("onnx_light/light_squeezenet.onnx"))));
  EXPECT_EQ(parameters_of(build_workload("vgg19")),
            parameters_of(corpus_graph("onnx_light/light_vgg19.onnx")));
  EXPECT_EQ(parameters_of(build_workload("squeezenet1_1")),
            parameters_of(corpus_graph("onnx_light/light_squeezenet.onnx")));
  // That file has its strides in a bottleneck's first convolution: other shapes, same sum.
  EXPECT_EQ(macs_of(build_workload("resnet50")),
            macs_of(corpus_graph("onnx_light/light_resnet50.onnx")));
  EXPECT_EQ(matrix_parameters(build_workload("resnet50")),
            matrix_parameters(corpus_graph("onnx_light/light_resnet50.onnx")));
}

// MobileNetV2, quantised to 8 bits, for images of 244 pixels.
TEST(Exports, OfTheCorpusHaveTheSameProductsInIntegers) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  onnx::ImportOptions options;
  options.batch = 1;
  const Graph exported =
      onnx::import_graph(onnx::ModelFile(corpus_folder() + "/ort_nets/maui_mobilenet.onnx"),
                         options)
          .graph;
  EXPECT_THAT(products(build_workload("mobilenet_v2", parse_options("image=244"))),
              ElementsAreArray(products(exported)));
  EXPECT_EQ(matrix_parameters(build_workload("mobilenet_v2")), matrix_parameters(exported));
}

TEST(Exports, OfTheCorpusMoveAsMuchWhenFused) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  for (const auto& [name, file] : {std::pair{"vgg19", "onnx_light/light_vgg19.onnx"},
                                   std::pair{"squeezenet1_1", "onnx_light/light_squeezenet.onnx"},
                                   std::pair{"resnet50", "onnx_light/light_resnet50.onnx"}}) {
    const double ours = fused_bytes(build_workload(name));
    EXPECT_NEAR(fused_bytes(corpus_graph(file)), ours, 0.005 * ours) << name;
  }
}

// "Conv_5 + Add_6 + Relu_7" without the numbers.
std::string operators_in(std::string_view name) {
  std::string operators;
  for (const char letter : name)
    if (letter != '_' && std::isdigit(static_cast<unsigned char>(letter)) == 0) operators += letter;
  return operators;
}

// An A100 engine, from NVIDIA's Engine Explorer.
TEST(Exports, TheEngineOfAResNetHasTheSameKernels) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  const std::string path = corpus_folder() +
                           "/../trt/nvidia_trex_v11.0_tree/a100_pytorch_resnet/fp32/"
                           "resnet.onnx.engine.graph.json";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  const Json listing = Json::parse(file);
  std::vector<std::string> engine;
  for (const Json& layer : listing["Layers"])
    if (layer["LayerType"] != "Reformat" && layer["LayerType"] != "NoOp")
      engine.push_back(operators_in(layer["Name"].get<std::string>()));

  const Graph graph = fold_batch_norm(build_workload("resnet18"));
  std::map<std::string, std::string> operator_of;
  for (const Layer& layer : graph.layers) operator_of[layer.name] = layer.origin;
  std::vector<std::string> ours;
  for (const Demand& demand : lower(graph, Runtime::tensorrt)) {
    std::string operators;
    for (const std::string& layer : demand.source_layers)
      operators += (operators.empty() ? "" : " + ") + operator_of.at(layer);
    ours.push_back(operators);
  }
  EXPECT_THAT(ours, UnorderedElementsAreArray(engine));
}

TEST(Exports, OfTheCorpusCanBeFolded) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  const Graph file = corpus_graph("onnx_light/light_resnet50.onnx");
  const Graph folded = fold_batch_norm(file);
  EXPECT_EQ(file.layers.size() - folded.layers.size(), 53u);
  EXPECT_EQ(macs_of(folded), macs_of(file));
  EXPECT_LT(bytes_of(folded), bytes_of(file));
}

TEST(Exports, WithFoldedNormalisationAreTheFoldedNetwork) {
  const Graph resnet = fold_batch_norm(build_workload("resnet50"));
  const Graph exported = imported(resnet50(), {.batch = 1}).graph;
  EXPECT_THAT(products(resnet), UnorderedElementsAreArray(products(exported)));
  EXPECT_EQ(parameters_of(resnet), parameters_of(exported));
  EXPECT_EQ(parameters_of(resnet), 25'530'472);
  EXPECT_EQ(bytes_of(resnet), bytes_of(exported));
  EXPECT_EQ(fused_bytes(build_workload("resnet50")), fused_bytes(exported));

  const Graph mobile = fold_batch_norm(build_workload("mobilenet_v3_large"));
  const Graph mobile_export = imported(mobilenet_v3_large(), {.batch = 1}).graph;
  EXPECT_THAT(products(mobile), UnorderedElementsAreArray(products(mobile_export)));
  EXPECT_EQ(parameters_of(mobile), parameters_of(mobile_export));
  EXPECT_EQ(bytes_of(mobile), bytes_of(mobile_export));
  EXPECT_EQ(fused_bytes(build_workload("mobilenet_v3_large")), fused_bytes(mobile_export));
}

}  // namespace
}  // namespace ridgeline::testing
