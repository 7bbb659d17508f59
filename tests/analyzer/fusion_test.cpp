// Which layers become one kernel and which must not: rules of all runtimes, on built-in networks
// and on graphs as exporters write them.
#include "analyzer/fusion/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/lowering/lowering.h"
#include "analyzer/training/training.h"
#include "tests/analyzer/lowered.h"
#include "tests/analyzer/networks.h"
#include "tests/analyzer/onnx/imported.h"
#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

TEST(Fusion, AResidualNetworkBecomesItsConvolutions) {
  const auto demands = lower(build_workload("resnet50"), Runtime::tensorrt);
  const auto counts = classes_of(demands);
  EXPECT_EQ(counts.at(OpClass::convolution), 53);
  EXPECT_EQ(counts.at(OpClass::matmul), 1);
  EXPECT_FALSE(counts.contains(OpClass::elementwise));
  EXPECT_FALSE(counts.contains(OpClass::normalize));
}

TEST(Fusion, AttentionThatWasTakenApartKeepsItsScoresOnTheChip) {
  WorkloadOptions options;
  options.attention = AttentionForm::eager;
  const Graph graph = build_workload("bert_base", options);
  const auto counts = classes_of(lower(graph, Runtime::tensorrt));
  EXPECT_EQ(counts.at(OpClass::attention), 12);
  EXPECT_FALSE(counts.contains(OpClass::softmax));
}

TEST(Fusion, SiblingsReadTheirInputOnce) {
  const auto demands = lower(build_workload("bert_base"), Runtime::tensorrt);
  int wide = 0;
  for (const Demand& demand : demands)
    wide += demand.gemm && demand.gemm->n == 3 * 768 && demand.gemm->k == 768;
  EXPECT_EQ(wide, 12);
}

// Node counts of the graphs that onnxruntime 1.31.1 writes after its optimisations, without nodes
// that only rename or reorder (tools/confirm-workloads --runtimes).
TEST(Fusion, OfOnnxruntimeLeavesAsManyKernels) {
  for (const auto& [name, kernels] :
       {std::pair{"resnet18", 23}, std::pair{"mobilenet_v2", 54}, std::pair{"squeezenet1_1", 38},
        std::pair{"efficientnet_b0", 164}, std::pair{"densenet121", 250}})
    EXPECT_EQ(lower(build_workload(name), Runtime::onnxruntime).size(),
              static_cast<std::size_t>(kernels))
        << name;
}

// torch.compile gives each of the 53 normalisations after a convolution a kernel of its own,
// together with what follows it.
TEST(Fusion, ANormalisationAloneTakesItsActivation) {
  const auto counts = classes_of(lower(build_workload("resnet50"), Runtime::torch_compiled));
  EXPECT_EQ(counts.at(OpClass::convolution), 53);
  EXPECT_EQ(counts.at(OpClass::normalize), 49);  // four on shortcuts are fused with the sum
  EXPECT_FALSE(counts.contains(OpClass::elementwise));
}

TEST(Fusion, APoolOverTheWholeImageStandsAlone) {
  const auto resnet = lower(build_workload("resnet50"), Runtime::ideal);
  const auto counts = classes_of(resnet);
  EXPECT_EQ(counts.at(OpClass::pool), 1);
  EXPECT_EQ(resnet.front().name, "conv1 + bn1 + relu + maxpool");
}

// torch's 27 operators become three kernels: products of the input with their rotation, attention
// that reads each key and value once, and the last product.
TEST(Fusion, RotationAndSharedHeadsAreWaysOfReading) {
  constexpr GroupedAttention sizes{.length = 8, .width = 64, .heads = 4, .kv_heads = 2};
  const Graph graph = imported(grouped_attention(sizes)).graph;
  const auto demands = lower(graph, Runtime::ideal);
  ASSERT_EQ(demands.size(), 3u);
  constexpr double rows = 8 * 4.0,
                   scalars = 2 * 4.0;  // bytes of a result column, of two scales
  const auto& [products, attention, last] = std::tie(demands[0], demands[1], demands[2]);
  EXPECT_EQ(products.gemm->n, 128);
  EXPECT_EQ(total_bytes(products.work), rows * 64 + 4.0 * 64 * 128 + 2 * rows * 16 + rows * 128);
  EXPECT_EQ(attention.kind, KernelKind::attention);
  EXPECT_EQ(total_bytes(attention.work), rows * (64 + 32 + 32) + scalars + rows * 64);
  EXPECT_EQ(total_bytes(last.work), rows * 64 + 4.0 * 64 * 64 + rows * 64);
}

// The second product's result is multiplied by the first's, so they cannot be one product.
TEST(Fusion, AProductThatAnotherScalesIsNoSiblingOfIt) {
  const auto demands = lower(build_workload("llama-3.2-1b"), Runtime::ideal);
  EXPECT_EQ(
      std::count_if(demands.begin(), demands.end(),
                    [](const Demand& demand) { return demand.gemm && demand.gemm->n == 8192; }),
      2 * 16);
}

// Two blocks of Inception v3 concatenate within a branch before they concatenate the branches; the
// final pool reads the parts of the last concatenation directly.
TEST(Fusion, WhatIsOnlyMovedIsMovedOnce) {
  const Graph graph = build_workload("inception_v3");
  EXPECT_EQ(classes_of(lower(graph, Runtime::torch_eager)).at(OpClass::copy), 15);
  EXPECT_EQ(classes_of(lower(graph, Runtime::ideal)).at(OpClass::copy), 10);
}

// Attention windows are cut out, rolled and put back; the products around them absorb these copies.
TEST(Fusion, ProductsReadAndWriteInTheOrderThatIsWanted) {
  const Graph graph = build_workload("swin_t");
  const auto eager = classes_of(lower(graph, Runtime::torch_eager));
  const auto ideal = classes_of(lower(graph, Runtime::ideal));
  EXPECT_EQ(eager.at(OpClass::softmax), 12);
  EXPECT_EQ(ideal.at(OpClass::attention), 12);
  EXPECT_FALSE(ideal.contains(OpClass::elementwise));
  EXPECT_FALSE(ideal.contains(OpClass::copy));
  const auto compiler = classes_of(lower(graph, Runtime::tensorrt));
  EXPECT_EQ(compiler.at(OpClass::copy),
            1);  // patches, between a convolution and a normalisation
}

TEST(Fusion, WhatDependsOnWeightsAloneIsComputedBeforeTheFirstRun) {
  const Graph graph = build_workload("swin_t");
  const auto folded = [](const Graph& of, Runtime runtime) {
    const auto applied = itemized_fusion(of, runtime).applied;
    return std::count_if(applied.begin(), applied.end(),
                         [](const AppliedRule& one) { return one.rule == "constants"; });
  };
  EXPECT_EQ(classes_of(lower(graph, Runtime::torch_eager)).at(OpClass::gather), 12);
  EXPECT_FALSE(classes_of(lower(graph, Runtime::onnxruntime)).contains(OpClass::gather));
  EXPECT_GE(folded(graph, Runtime::onnxruntime), 12);
  EXPECT_EQ(folded(graph, Runtime::torch_compiled), 0);
  EXPECT_EQ(folded(train(graph, {}).graph, Runtime::ideal), 0);  // weights change in training
}

// A sum that the next block also needs is written and normalised in one kernel.
TEST(Fusion, AReductionIsInTheLoopThatMakesItsInput) {
  const auto demands = lower(build_workload("vit_b_32"), Runtime::torch_compiled);
  const auto counts = classes_of(demands);
  EXPECT_EQ(counts.at(OpClass::normalize), 25);
  EXPECT_EQ(counts.at(OpClass::elementwise), 12);  // in the MLPs
  EXPECT_EQ(std::count_if(demands.begin(), demands.end(),
                          [](const Demand& demand) {
                            return demand.kind == KernelKind::normalize &&
                                   demand.writes.size() == 2;
                          }),
            24);
}

Graph imported_graph(const OnnxBuilder& model) { return imported(model).graph; }

// Kernels must not depend on each other in a circle: the concatenation needs half of the split and
// the pool, which needs the exponentials; the product needs the exponentials and the other half.
TEST(Fusion, KernelsDoNotWaitForEachOther) {
  OnnxBuilder model;
  model.opset(17)
      .input("x", ElementType::fp32, {1, 2, 4, 4})
      .input("y", ElementType::fp32, {2, 2, 4, 4});
  model.node("Exp", {"x"}, {"a"}).name("exp");
  model.node("Split", {"y"}, {"s1", "s2"}).name("split");
  model.node("Mul", {"a", "s1"}, {"m"}).name("mul");
  model.node("ReduceSum", {"m"}, {"r"}).name("sum");
  model.node("MaxPool", {"a"}, {"p"}).name("pool").attribute("kernel_shape", {1, 1});
  model.node("Concat", {"s2", "p"}, {"c"}).name("concat").attribute("axis", 0);
  model.output("r").output("c");
  for (const Runtime runtime : {Runtime::ideal, Runtime::torch_compiled}) {
    const auto demands = lower(imported_graph(model), runtime);
    std::set<std::string> made;
    for (const Demand& demand : demands) {
      for (const TensorUse& use : demand.reads)
        EXPECT_TRUE(use.tensor == "x" || use.tensor == "y" || made.contains(use.tensor))
            << demand.name << " reads " << use.tensor;
      for (const TensorUse& use : demand.writes) made.insert(use.tensor);
    }
  }
}

// The cache is empty before the first token.
TEST(Fusion, KeysWithoutElementsAreNoSharedHeads) {
  OnnxBuilder model;
  model.opset(17)
      .input("q", ElementType::fp32, {1, 1, 8})
      .input("past", ElementType::fp32, {1, 8, 0});
  model.input("v", ElementType::fp32, {1, 5, 8});
  model.integers("pads", {0, 0, 0, 0, 0, 5});
  model.node("Pad", {"past", "pads"}, {"k"});
  model.node("MatMul", {"q", "k"}, {"s"});
  model.node("Softmax", {"s"}, {"p"});
  model.node("MatMul", {"p", "v"}, {"y"});
  model.output("y");
  EXPECT_FALSE(lower(imported_graph(model), Runtime::ideal).empty());
}

// A normalisation whose scale is an input; a product whose sibling has no normalisation.
TEST(Fusion, OnlyWeightsAreFoldedIntoTheirOwnProduct) {
  OnnxBuilder dynamic;
  dynamic.opset(17)
      .input("x", ElementType::fp32, {1, 4, 4, 4})
      .input("scale", ElementType::fp32, {4});
  dynamic.initializer("w", ElementType::fp32, {4, 4, 1, 1});
  dynamic.initializer("p", ElementType::fp32, {4});
  dynamic.node("Conv", {"x", "w"}, {"c"});
  dynamic.node("BatchNormalization", {"c", "scale", "p", "p", "p"}, {"y"});
  dynamic.output("y");
  EXPECT_EQ(lower(imported_graph(dynamic), Runtime::tensorrt).size(), 2u);

  OnnxBuilder siblings;
  siblings.opset(17).input("x", ElementType::fp32, {8, 16});
  siblings.initializer("a", ElementType::fp32, {16, 32});
  siblings.initializer("b", ElementType::fp32, {16, 4});
  siblings.initializer("p", ElementType::fp32, {4});
  siblings.node("MatMul", {"x", "a"}, {"y"});
  siblings.node("MatMul", {"x", "b"}, {"n"});
  siblings.node("BatchNormalization", {"n", "p", "p", "p", "p"}, {"z"});
  siblings.output("y").output("z");
  const auto demands = lower(imported_graph(siblings), Runtime::ideal);
  ASSERT_EQ(demands.size(), 1u);
  EXPECT_EQ(total_flop(demands[0].work), 2 * 8 * 16 * 36 + 8 * 4);
}

// A product inside a loop is not merged with one outside it.
TEST(Fusion, SiblingsRunEquallyOften) {
  Graph graph = build_workload("bert_base");
  const auto product = std::find_if(
      graph.layers.begin(), graph.layers.end(),
      [](const Layer& layer) { return layer.name == "encoder.layer.0.attention.self.key"; });
  ASSERT_NE(product, graph.layers.end());
  product->repeats = 10;
  EXPECT_EQ(work_of(lower(graph, Runtime::ideal)).macs, work_of(graph).macs);
}

// Constant products and operators without a rule are not folded: they run every time.
TEST(Fusion, ConstantProductsAndUnknownOperatorsStay) {
  OnnxBuilder model;
  model.opset(17).initializer("x", ElementType::fp32, {3, 1, 4});
  model.initializer("w", ElementType::fp32, {1, 32, 4});
  model.initializer("r", ElementType::fp32, {1, 32, 8});
  model.node("LSTM", {"x", "w", "r"}, {"y"}).attribute("hidden_size", 8);
  model.node("Relu", {"y"}, {"z"});
  model.output("z");
  const Graph graph = imported_graph(model);
  EXPECT_EQ(work_of(lower(graph, Runtime::ideal)).macs, work_of(graph).macs);
}

// Three slices of one tensor, the way exporters write query, key and value.
TEST(Fusion, ASliceReadsItsPartOnly) {
  Graph graph;
  const auto tensor = [&](const char* name, Shape shape) {
    Tensor& added = graph.tensors.emplace_back();
    added.name = name;
    added.type = ElementType::fp32;
    added.shape = std::move(shape);
    added.source = ShapeSource::fixed;
    return graph.tensors.size() - 1;
  };
  const auto layer = [&](const char* name, Op op, std::vector<TensorId> in, TensorId out) {
    Layer& added = graph.layers.emplace_back();
    added.name = name;
    added.parts = {{std::move(op), DType::fp32}};
    added.inputs = std::move(in);
    added.outputs = {out};
  };
  const TensorId x = tensor("x", {3, 8, 8}), turned = tensor("turned", {3, 8, 8});
  const TensorId a = tensor("a", {8, 8}), b = tensor("b", {8, 8}), y = tensor("y", {8, 8});
  graph.tensors[x].role = Role::input;
  graph.inputs = {x};
  graph.outputs = {y};
  layer("transpose", Copy{}, {x}, turned);
  layer("first", Copy{64}, {turned}, a);
  layer("second", Copy{64}, {turned}, b);
  layer("product", MatMul{.m = 8, .n = 8, .k = 8}, {a, b}, y);
  const auto demands = lower(graph, Runtime::ideal);
  ASSERT_EQ(demands.size(), 1u);
  EXPECT_EQ(op_class(demands[0].kind), OpClass::matmul);
  EXPECT_EQ(demands[0].work.bytes_read, 2 * 64 * 4);
  EXPECT_EQ(demands[0].work.bytes_written, 64 * 4);
}

// Defensive code casts tensors to fp32 that are fp32 already.
TEST(Fusion, ACastToTheSameTypeIsNothing) {
  constexpr int fp32 = 1, fp16 = 10;  // TensorProto.DataType
  for (const int to : {fp32, fp16}) {
    OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {1, 8, 8});
    model.node("Cast", {"x"}, {"y"}).attribute("to", to);
    model.node("MaxPool", {"y"}, {"z"}).attribute("kernel_shape", {1});
    model.output("z");
    const Graph graph = imported(model).graph;
    EXPECT_EQ(lower(graph, Runtime::onnxruntime).size(), to == fp32 ? 1u : 2u);
    EXPECT_EQ(lower(graph, Runtime::torch_eager).size(), 2u);
  }
}

TEST(Fusion, EagerModeFusesNothing) {
  for (const Runtime runtime : {Runtime::torch_eager, Runtime::torch_eager_hooks})
    EXPECT_TRUE(itemized_fusion(build_workload("resnet50"), runtime).applied.empty());
}

// Graphs written layer by layer.
struct HandGraph {
  Graph graph;

  TensorId tensor(const char* name, Shape shape, Role role = Role::activation) {
    Tensor& added = graph.tensors.emplace_back();
    added.name = name;
    added.type = ElementType::fp32;
    added.shape = std::move(shape);
    added.source = ShapeSource::fixed;
    added.role = role;
    if (role == Role::input) graph.inputs.push_back(graph.tensors.size() - 1);
    return graph.tensors.size() - 1;
  }

  Layer& layer(const char* name, std::vector<Op> ops, std::vector<TensorId> in, TensorId out) {
    Layer& added = graph.layers.emplace_back();
    added.name = name;
    for (Op& op : ops) added.parts.push_back({std::move(op), DType::fp32});
    added.inputs = std::move(in);
    added.outputs = {out};
    return added;
  }
};

// Four rows of a table of a hundred, with a position added to each, then an activation: one loop,
// which reads four rows, not the table.
TEST(Fusion, ALookUpReadsItsRowsOnly) {
  HandGraph hand;
  const TensorId table = hand.tensor("table", {100, 8}, Role::weight);
  const TensorId ids = hand.tensor("ids", {4}, Role::input);
  const TensorId rows = hand.tensor("rows", {4, 8}), y = hand.tensor("y", {4, 8});
  hand.layer("embed", {Gather{32}, Elementwise{Function::add, 32}}, {table, ids}, rows);
  hand.layer("relu", {Elementwise{Function::relu, 32}}, {rows}, y);
  hand.graph.outputs = {y};
  const auto demands = lower(hand.graph, Runtime::ideal);
  ASSERT_EQ(demands.size(), 1u);
  EXPECT_EQ(demands[0].work.weight_bytes_read + demands[0].work.bytes_read, 4 * 32 + 4 * 4);
  EXPECT_EQ(demands[0].work.bytes_written, 4 * 32);
}

// The size of a copy may be computed by another kernel, which must have run before the kernel that
// the copy is part of.
TEST(Fusion, AKernelWaitsForWhatSteersIt) {
  HandGraph hand;
  const TensorId x = hand.tensor("x", {8, 8}, Role::input);
  const TensorId z = hand.tensor("z", {64, 8}, Role::input);
  const TensorId a = hand.tensor("a", {8, 8}), size = hand.tensor("size", {64, 1});
  const TensorId y = hand.tensor("y", {8, 8});
  hand.layer("relu", {Elementwise{Function::relu, 64}}, {x}, a);
  hand.layer("sizes", {Sort{}}, {z}, size);
  hand.layer("copy", {Copy{}}, {a}, y).steering = {size};
  hand.graph.outputs = {y};
  const auto demands = lower(hand.graph, Runtime::ideal);
  ASSERT_EQ(demands.size(), 2u);
  EXPECT_EQ(demands[0].name, "sizes");
  EXPECT_EQ(demands[1].source_layers, (std::vector<std::string>{"relu", "copy"}));
  EXPECT_EQ(fuse(hand.graph, Runtime::ideal).layers.back().steering, std::vector{size});
}

// Eager modes keep the layers as they are, itemised or not.
TEST(Fusion, ItemisedOrNotTheGraphIsTheSame) {
  const Graph graph = build_workload("mobilenet_v3_small");
  for (const Runtime runtime : {Runtime::torch_eager, Runtime::torch_compiled, Runtime::tensorrt,
                                Runtime::onnxruntime, Runtime::ideal}) {
    const Graph fused = fuse(graph, runtime);
    const Graph itemized = itemized_fusion(graph, runtime).graph;
    ASSERT_EQ(itemized.layers.size(), fused.layers.size()) << to_string(runtime);
    for (std::size_t i = 0; i < fused.layers.size(); ++i)
      EXPECT_EQ(itemized.layers[i].name, fused.layers[i].name) << to_string(runtime);
    EXPECT_EQ(fused.layers.size() == graph.layers.size(), runtime == Runtime::torch_eager);
  }
}

// What is known of the sizes of a kernel is what is known of the worst of its layers.
TEST(Fusion, AKernelIsAsUncertainAsItsLayers) {
  HandGraph hand;
  const TensorId x = hand.tensor("x", {8, 8}, Role::input);
  const TensorId a = hand.tensor("a", {8, 8}), y = hand.tensor("y", {8, 8});
  hand.layer("relu", {Elementwise{Function::relu, 64}}, {x}, a);
  hand.layer("exp", {Elementwise{Function::exp, 64}}, {a}, y).shapes = ShapeSource::unknown;
  hand.graph.outputs = {y};
  const Graph fused = fuse(hand.graph, Runtime::ideal);
  ASSERT_EQ(fused.layers.size(), 1u);
  EXPECT_EQ(fused.layers[0].name, "relu + exp");
  EXPECT_EQ(fused.layers[0].shapes, ShapeSource::unknown);
}

// Kernels of a training step belong to the pass of their layers, which is the same for all of them.
TEST(Fusion, AKernelBelongsToThePassOfItsLayers) {
  const Graph step = train(build_workload("resnet18"), {}).graph;
  std::map<std::string, Pass> passes;
  for (const Layer& layer : step.layers) passes[layer.name] = layer.pass;
  int merged = 0, backward = 0;
  for (const Layer& layer : fuse(step, Runtime::ideal).layers) {
    if (layer.name.find(" + ") == std::string::npos) continue;
    ++merged;
    backward += layer.pass != Pass::forward;
    for (const std::string& source : layer.sources)
      EXPECT_EQ(layer.pass, passes.at(source)) << layer.name;
  }
  EXPECT_GT(merged, 10);
  EXPECT_GT(backward, 0);
}

}  // namespace
}  // namespace ridgeline::testing
