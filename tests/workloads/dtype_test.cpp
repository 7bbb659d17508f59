// Effects of a dtype on a network: how tensors are stored and in which type parts compute.
// The work is otherwise the same in every type.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/imported.h"
#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

Graph in_type(const char* name, ElementType type) {
  WorkloadOptions options;
  options.dtype = type;
  return build_workload(name, options);
}

TEST(WorkloadDType, HalfTheBitsAreHalfTheBytes) {
  for (const char* name : {"resnet50", "vit_b_16", "unet", "yolov8n"}) {
    const Graph wide = in_type(name, ElementType::fp32), narrow = in_type(name, ElementType::fp16);
    EXPECT_EQ(bytes_of(wide), 2 * bytes_of(narrow)) << name;
    EXPECT_EQ(macs_of(wide), macs_of(narrow)) << name;
    EXPECT_EQ(bytes_of(in_type(name, ElementType::bf16)), bytes_of(narrow)) << name;
    EXPECT_EQ(bytes_of(in_type(name, ElementType::fp64)), 2 * bytes_of(wide)) << name;
  }
}

TEST(WorkloadDType, PartsComputeInIt) {
  const Graph graph = in_type("resnet18", ElementType::bf16);
  for (const Layer& layer : graph.layers) EXPECT_EQ(layer.parts.front().dtype, DType::bf16);
}

// Products are 8-bit; everything between them is computed in fp32 on 8-bit tensors; parameter
// vectors stay 32 bits wide.
TEST(WorkloadDType, OfEightBitsIsForProducts) {
  const Graph graph = in_type("bert_base", ElementType::int8);
  const auto dtype = [&](const char* name) { return layer_named(graph, name).parts.front().dtype; };
  EXPECT_EQ(dtype("encoder.layer.0.attention.self.query"), DType::int8);
  EXPECT_EQ(dtype("encoder.layer.0.attention.self.attention"), DType::int8);
  EXPECT_EQ(dtype("encoder.layer.0.intermediate.intermediate_act_fn"), DType::fp32);
  EXPECT_EQ(dtype("encoder.layer.0.output.LayerNorm"), DType::fp32);
  EXPECT_EQ(tensor_named(graph, "encoder.layer.0.output.LayerNorm").type, ElementType::int8);
  EXPECT_EQ(tensor_named(graph, "encoder.layer.0.output.LayerNorm.weight").type, ElementType::fp32);
  EXPECT_EQ(tensor_named(graph, "encoder.layer.0.output.dense.weight").type, ElementType::int8);
  EXPECT_EQ(tensor_named(graph, "encoder.layer.0.output.dense.bias").type, ElementType::fp32);
  EXPECT_EQ(tensor_named(graph, "input_ids").type, ElementType::int64);

  const Graph floating = in_type("resnet50", ElementType::fp8_e4m3fn);
  EXPECT_EQ(layer_named(floating, "conv1").parts.front().dtype, DType::fp8);
  EXPECT_EQ(layer_named(floating, "relu").parts.front().dtype, DType::fp32);
}

}  // namespace
}  // namespace ridgeline::testing
