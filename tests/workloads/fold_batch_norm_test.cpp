// Folding of batch normalisation: what is folded, what must not be, and what stays the same.
// exports_test.cpp compares exports with folded normalisation.
#include "analyzer/fusion/fold_batch_norm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analyzer/onnx/imported.h"
#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

std::ptrdiff_t norms_in(const Graph& graph) {
  return std::count_if(graph.layers.begin(), graph.layers.end(),
                       [](const Layer& layer) { return layer.origin == "BatchNormalization"; });
}

Settings small_image() {
  Settings settings;
  settings.image = 8;
  return settings;
}

TEST(FoldBatchNorm, LeavesOneLayerWithABias) {
  NetworkBuilder net("net", small_image());
  const Operand x = net.input("x", {1, 3, 8, 8});
  net.output(net.relu("relu", net.batch_norm("bn", net.conv("conv", x, 4, {.kernel = 3}))));
  const Graph graph = fold_batch_norm(net.finish());
  ASSERT_EQ(graph.layers.size(), 2u);
  EXPECT_TRUE(op_of<Convolution>(graph.layers[0])->bias);
  EXPECT_EQ(shape_text(graph, "conv.bias"), "4");
  EXPECT_TRUE(tensor_named(graph, "conv.bias").is_parameter);
  EXPECT_EQ(graph.layers[0].outputs, std::vector{graph.layers[1].inputs[0]});
  EXPECT_EQ(parameters_of(graph), 4 * 3 * 9 + 4);
  EXPECT_EQ(graph.tensors.size(), 5u);  // x, weight, bias and two results
  EXPECT_EQ(graph.tensors[graph.outputs[0]].name, "relu");
}

TEST(FoldBatchNorm, KeepsABiasThatIsThere) {
  NetworkBuilder net("net", small_image());
  const Operand x = net.input("x", {2, 6});
  const Operand y = net.linear("fc", x, 5);
  net.output(net.layer("bn", "BatchNormalization",
                       Normalize{Normalization::batch, 10, 5, true, false, 0},
                       {y, net.parameter("scale", {5}), net.parameter("shift", {5})}, {2, 5}));
  const Graph graph = fold_batch_norm(net.finish());
  ASSERT_EQ(graph.layers.size(), 1u);
  EXPECT_EQ(parameters_of(graph), 6 * 5 + 5);
}

TEST(FoldBatchNorm, LeavesWhatOthersReadToo) {
  NetworkBuilder net("net", small_image());
  const Operand x = net.input("x", {1, 3, 8, 8});
  const Operand y = net.conv("conv", x, 3, {});
  net.output(net.add("add", net.batch_norm("bn", y), y));
  EXPECT_EQ(norms_in(fold_batch_norm(net.finish())), 1);

  NetworkBuilder out("net", small_image());
  const Operand z = out.conv("conv", out.input("x", {1, 3, 8, 8}), 3, {});
  out.output(z);
  out.output(out.batch_norm("bn", z));
  EXPECT_EQ(norms_in(fold_batch_norm(out.finish())), 1);

  NetworkBuilder shared("net", small_image());
  const Operand first = shared.input("x", {1, 3, 8, 8});
  const auto weights = shared.conv_weights("conv", 3, 3, {});
  const Operand once = shared.batch_norm("bn1", shared.conv("conv", first, weights, {}));
  shared.output(shared.batch_norm("bn2", shared.conv("conv", once, weights, {})));
  EXPECT_EQ(norms_in(fold_batch_norm(shared.finish())), 2);
}

TEST(FoldBatchNorm, LeavesVectorsThatAreComputed) {
  NetworkBuilder net("net", small_image());
  const Operand x = net.conv("conv", net.input("x", {1, 3, 8, 8}), 3, {});
  net.output(net.layer("bn", "BatchNormalization",
                       Normalize{Normalization::batch, 192, 3, true, false, 0},
                       {x, net.input("scale", {3}), net.input("shift", {3})}, {1, 3, 8, 8}));
  EXPECT_EQ(norms_in(fold_batch_norm(net.finish())), 1);
}

TEST(FoldBatchNorm, LeavesTrainingAlone) {
  NetworkBuilder net("net", small_image());
  const Operand x = net.conv("conv", net.input("x", {1, 3, 8, 8}), 3, {});
  net.output(net.layer("bn", "BatchNormalization",
                       Normalize{Normalization::batch, 192, 3, true, true, 0}, {x}, {1, 3, 8, 8}));
  EXPECT_EQ(norms_in(fold_batch_norm(net.finish())), 1);
}

TEST(FoldBatchNorm, OfNetworks) {
  for (const char* name : {"resnet50", "mobilenet_v3_large", "efficientnet_b0", "yolov8n",
                           "inception_v4", "ssd_mobilenet_v1", "retinanet"}) {
    const Graph graph = build_workload(name);
    const Graph folded = fold_batch_norm(graph);
    EXPECT_EQ(norms_in(folded), 0) << name;
    EXPECT_EQ(macs_of(folded), macs_of(graph)) << name;
    EXPECT_LT(bytes_of(folded), bytes_of(graph)) << name;
    EXPECT_EQ(folded.layers.size() + static_cast<std::size_t>(norms_in(graph)), graph.layers.size())
        << name;
  }
  EXPECT_EQ(parameters_of(fold_batch_norm(build_workload("yolov8n"))), 3'151'904);
  // A normalisation before an activation and a convolution stays: 58 + 3 + 1 of 121.
  EXPECT_EQ(norms_in(fold_batch_norm(build_workload("densenet121"))), 62);
  EXPECT_EQ(norms_in(fold_batch_norm(build_workload("vgg16"))), 0);
}

}  // namespace
}  // namespace ridgeline::testing
