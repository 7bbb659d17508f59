// How many nodes of each kind torch.fx finds in nine networks of torchvision: the layers that
// per-node measurements on a Jetson AGX Orin (branes-ai/graphs) were taken of.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

struct NodeCounts {
  int convolution = 0, depthwise = 0, norm = 0, activation = 0, elementwise = 0, pool = 0,
      linear = 0, attention = 0;

  friend bool operator==(const NodeCounts&, const NodeCounts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const NodeCounts& counts) {
    return out << counts.convolution << '/' << counts.depthwise << '/' << counts.norm << '/'
               << counts.activation << '/' << counts.elementwise << '/' << counts.pool << '/'
               << counts.linear << '/' << counts.attention;
  }
};

bool joins(const Elementwise& op) {
  return op.function == Function::add || op.function == Function::multiply;
}

// An attention module is one node; a concatenation stands with the element-wise ones.
NodeCounts nodes_of(const Graph& graph) {
  NodeCounts counts;
  std::set<std::string> modules;
  for (const Layer& layer : graph.layers) {
    const auto inside = layer.name.find(".self_attention.");
    if (inside != std::string::npos) {
      counts.attention += modules.insert(layer.name.substr(0, inside)).second ? 1 : 0;
    } else if (const auto* conv = op_of<Convolution>(layer)) {
      ++(conv->groups > 1 ? counts.depthwise : counts.convolution);
    } else if (op_of<Normalize>(layer)) {
      ++counts.norm;
    } else if (const auto* elementwise = op_of<Elementwise>(layer)) {
      ++(joins(*elementwise) ? counts.elementwise : counts.activation);
    } else if (op_of<Copy>(layer)) {
      ++counts.elementwise;
    } else if (op_of<Pool>(layer)) {
      ++counts.pool;
    } else if (op_of<MatMul>(layer)) {
      ++counts.linear;
    }
  }
  return counts;
}

TEST(EagerNodes, AreTheLayers) {
  const auto nodes = [](const char* name) { return nodes_of(build_workload(name)); };
  EXPECT_EQ(nodes("efficientnet_b0"), (NodeCounts{65, 16, 49, 65, 25, 17, 1, 0}));
  EXPECT_EQ(nodes("mobilenet_v2"), (NodeCounts{35, 17, 52, 35, 10, 1, 1, 0}));
  EXPECT_EQ(nodes("mobilenet_v3_large"), (NodeCounts{47, 15, 46, 48, 18, 9, 2, 0}));
  EXPECT_EQ(nodes("mobilenet_v3_small"), (NodeCounts{41, 11, 34, 42, 15, 10, 2, 0}));
  EXPECT_EQ(nodes("resnet18"), (NodeCounts{20, 0, 20, 17, 8, 2, 1, 0}));
  EXPECT_EQ(nodes("resnet34"), (NodeCounts{36, 0, 36, 33, 16, 2, 1, 0}));
  EXPECT_EQ(nodes("resnet50"), (NodeCounts{53, 0, 53, 49, 16, 2, 1, 0}));
  EXPECT_EQ(nodes("vgg11"), (NodeCounts{8, 0, 0, 10, 0, 6, 3, 0}));
  EXPECT_EQ(nodes("vit_b_32"), (NodeCounts{1, 0, 25, 12, 26, 0, 25, 12}));
}

}  // namespace
}  // namespace ridgeline::testing
