// From networks to kernels: what fusion saves and never changes, GEMM shapes, producers, launches.
// Every built-in network is lowered for every runtime.
#include "analyzer/lowering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/count.h"
#include "analyzer/fusion.h"
#include "analyzer/training.h"
#include "tests/analyzer/networks.h"
#include "tests/analyzer/onnx/imported.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

constexpr Runtime runtimes[] = {
    Runtime::ideal,          Runtime::tensorrt,   Runtime::torch_eager, Runtime::torch_eager_hooks,
    Runtime::torch_compiled, Runtime::cuda_graph, Runtime::onnxruntime};

Work work_of(const Graph& graph) {
  Work total;
  for (const Layer& layer : graph.layers)
    if (layer.standing == Standing::counted) total += count_layer(graph, layer, default_weights());
  return total;
}

double bytes_of(const Work& work) {
  return work.bytes_read + work.bytes_written + work.weight_bytes_read + work.weight_bytes_written;
}

Work work_of(const std::vector<Demand>& demands) {
  Work total;
  for (const Demand& demand : demands) total += demand.work;
  return total;
}

std::map<OpClass, int> classes_of(const std::vector<Demand>& demands) {
  std::map<OpClass, int> counts;
  for (const Demand& demand : demands) ++counts[demand.op_class];
  return counts;
}

TEST(Lowering, NeverChangesMacsAndNeverAddsBytes) {
  for (const Workload& workload : all_workloads()) {
    const Graph graph = build_workload(workload.name);
    const Work whole = work_of(graph);
    for (const Runtime runtime : runtimes) {
      SCOPED_TRACE(std::string(workload.name) + " on " + std::string(to_string(runtime)));
      const auto demands = lower(graph, runtime);
      const Work lowered = work_of(demands);
      EXPECT_EQ(lowered.macs, whole.macs);
      EXPECT_LE(bytes_of(lowered), bytes_of(whole) * (1 + 1e-12));
      EXPECT_LE(total_flop(lowered), total_flop(whole) * (1 + 1e-12));
      EXPECT_EQ(demands, lower(graph, runtime));
    }
  }
}

TEST(Lowering, NoRuntimeMovesLessThanTheIdealOne) {
  for (const Workload& workload : all_workloads()) {
    WorkloadOptions eager;
    if (workload.options.has(WorkloadOption::attention)) eager.attention = AttentionForm::eager;
    for (const WorkloadOptions& options : {WorkloadOptions{}, eager}) {
      const Graph graph = build_workload(workload.name, options);
      const double least = bytes_of(work_of(lower(graph, Runtime::ideal)));
      for (const Runtime runtime : runtimes)
        EXPECT_LE(least, bytes_of(work_of(lower(graph, runtime))) * (1 + 1e-12))
            << workload.name << " on " << to_string(runtime);
    }
  }
}

TEST(Lowering, EveryCountedLayerIsInExactlyOneKernel) {
  for (const Workload& workload : all_workloads()) {
    const Graph graph = build_workload(workload.name);
    std::multiset<std::string> layers;
    for (const Layer& layer : graph.layers) layers.insert(layer.name);
    std::multiset<std::string> lowered;
    for (const Demand& demand : lower(graph, Runtime::torch_eager))
      lowered.insert(demand.source_layers.begin(), demand.source_layers.end());
    EXPECT_EQ(lowered, layers) << workload.name;
    for (const Demand& demand : lower(graph, Runtime::tensorrt))
      for (const std::string& name : demand.source_layers)
        EXPECT_TRUE(layers.contains(name)) << workload.name << ": " << name;
  }
}

TEST(Lowering, ProducersComeBeforeTheirReaders) {
  for (const Workload& workload : all_workloads())
    for (const Runtime runtime : runtimes) {
      std::set<std::string> seen;
      for (const Demand& demand : lower(build_workload(workload.name), runtime)) {
        for (const TensorUse& use : demand.reads)
          EXPECT_TRUE(use.producer.empty() || use.producer == demand.name ||
                      seen.contains(use.producer))
              << workload.name << ": " << demand.name << " reads from " << use.producer;
        seen.insert(demand.name);
      }
    }
}

TEST(Lowering, EagerModeMovesWhatTheLayersDo) {
  const Graph graph = build_workload("resnet50");
  const Work lowered = work_of(lower(graph, Runtime::torch_eager));
  EXPECT_EQ(bytes_of(lowered), bytes_of(work_of(graph)));
  EXPECT_EQ(total_flop(lowered), total_flop(work_of(graph)));
}

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

// As many nodes as in the graphs that onnxruntime 1.31.1 writes after its optimisations, without
// those that only rename or reorder (tools/confirm-workloads --runtimes).
TEST(Fusion, OfOnnxruntimeLeavesAsManyKernels) {
  for (const auto& [name, kernels] :
       {std::pair{"resnet18", 23}, std::pair{"mobilenet_v2", 54}, std::pair{"squeezenet1_1", 38},
        std::pair{"efficientnet_b0", 164}, std::pair{"densenet121", 250}})
    EXPECT_EQ(lower(build_workload(name), Runtime::onnxruntime).size(),
              static_cast<std::size_t>(kernels))
        << name;
}

// Of 53 normalisations behind convolutions, torch.compile's kernels are one each, with what
// follows.
TEST(Fusion, ANormalisationAloneTakesItsActivation) {
  const auto counts = classes_of(lower(build_workload("resnet50"), Runtime::torch_compiled));
  EXPECT_EQ(counts.at(OpClass::convolution), 53);
  EXPECT_EQ(counts.at(OpClass::normalize), 49);  // four of shortcuts go with the sum
  EXPECT_FALSE(counts.contains(OpClass::elementwise));
}

TEST(Fusion, APoolOverTheWholeImageStandsAlone) {
  const auto resnet = lower(build_workload("resnet50"), Runtime::ideal);
  const auto counts = classes_of(resnet);
  EXPECT_EQ(counts.at(OpClass::pool), 1);
  EXPECT_EQ(resnet.front().name, "conv1 + bn1 + relu + maxpool");
}

// What torch writes as 27 operators is three kernels: products of the input with their rotation,
// attention that reads each key and value once, and the last product.
TEST(Fusion, RotationAndSharedHeadsAreWaysOfReading) {
  constexpr testing::GroupedAttention sizes{.length = 8, .width = 64, .heads = 4, .kv_heads = 2};
  const Graph graph = testing::imported(testing::grouped_attention(sizes)).graph;
  const auto demands = lower(graph, Runtime::ideal);
  ASSERT_EQ(demands.size(), 3u);
  constexpr double rows = 8 * 4.0,
                   scalars = 2 * 4.0;  // bytes of a column of results, of two scales
  const auto& [products, attention, last] = std::tie(demands[0], demands[1], demands[2]);
  EXPECT_EQ(products.gemm->n, 128);
  EXPECT_EQ(bytes_of(products.work), rows * 64 + 4.0 * 64 * 128 + 2 * rows * 16 + rows * 128);
  EXPECT_EQ(attention.op_class, OpClass::attention);
  EXPECT_EQ(bytes_of(attention.work), rows * (64 + 32 + 32) + scalars + rows * 64);
  EXPECT_EQ(bytes_of(last.work), rows * 64 + 4.0 * 64 * 64 + rows * 64);
}

// The second product's result is multiplied by the first's: it cannot be computed beside it.
TEST(Fusion, AProductThatAnotherScalesIsNoSiblingOfIt) {
  const auto demands = lower(build_workload("llama-3.2-1b"), Runtime::ideal);
  EXPECT_EQ(
      std::count_if(demands.begin(), demands.end(),
                    [](const Demand& demand) { return demand.gemm && demand.gemm->n == 8192; }),
      2 * 16);
}

// Two blocks of it join results of a branch before they join the branches; the last is averaged
// where its parts lie.
TEST(Fusion, WhatIsOnlyMovedIsMovedOnce) {
  const Graph graph = build_workload("inception_v3");
  EXPECT_EQ(classes_of(lower(graph, Runtime::torch_eager)).at(OpClass::copy), 15);
  EXPECT_EQ(classes_of(lower(graph, Runtime::ideal)).at(OpClass::copy), 10);
}

// Windows that are cut out, rolled and put back around the products of attention.
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
            1);  // of patches, between a convolution and a normalisation
}

TEST(Fusion, WhatDependsOnWeightsAloneIsComputedBeforeTheFirstRun) {
  const Graph graph = build_workload("swin_t");
  const auto folded = [](const Graph& of, Runtime runtime) {
    const auto steps = itemized_fusion(of, runtime);
    return std::count_if(steps.begin(), steps.end(),
                         [](const FusionStep& step) { return step.rule == "constants"; });
  };
  EXPECT_EQ(classes_of(lower(graph, Runtime::torch_eager)).at(OpClass::gather), 12);
  EXPECT_FALSE(classes_of(lower(graph, Runtime::onnxruntime)).contains(OpClass::gather));
  EXPECT_GE(folded(graph, Runtime::onnxruntime), 12);
  EXPECT_EQ(folded(graph, Runtime::torch_compiled), 0);
  EXPECT_EQ(folded(train(graph, {}).graph, Runtime::ideal), 0);  // weights change in training
}

// A sum that the next block needs too is written and normalised in one kernel.
TEST(Fusion, AReductionIsInTheLoopThatMakesItsInput) {
  const auto demands = lower(build_workload("vit_b_32"), Runtime::torch_compiled);
  const auto counts = classes_of(demands);
  EXPECT_EQ(counts.at(OpClass::normalize), 25);
  EXPECT_EQ(counts.at(OpClass::elementwise), 12);  // of the perceptrons
  EXPECT_EQ(std::count_if(demands.begin(), demands.end(),
                          [](const Demand& demand) {
                            return demand.op_class == OpClass::normalize &&
                                   demand.writes.size() == 2;
                          }),
            24);
}

// Three slices of one tensor, as exporters write query, key and value.
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
  EXPECT_EQ(demands[0].op_class, OpClass::matmul);
  EXPECT_EQ(demands[0].work.bytes_read, 2 * 64 * 4);
  EXPECT_EQ(demands[0].work.bytes_written, 64 * 4);
}

// Code that computes in fp32 for safety casts what is fp32 already.
TEST(Fusion, ACastToTheSameTypeIsNothing) {
  constexpr int fp32 = 1, fp16 = 10;  // ONNX's numbers
  for (const int to : {fp32, fp16}) {
    testing::OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {1, 8, 8});
    model.node("Cast", {"x"}, {"y"}).attribute("to", to);
    model.node("MaxPool", {"y"}, {"z"}).attribute("kernel_shape", {1});
    model.output("z");
    const Graph graph = testing::imported(model).graph;
    EXPECT_EQ(lower(graph, Runtime::onnxruntime).size(), to == fp32 ? 1u : 2u);
    EXPECT_EQ(lower(graph, Runtime::torch_eager).size(), 2u);
  }
}

TEST(Fusion, EagerModeFusesNothing) {
  for (const Runtime runtime : {Runtime::torch_eager, Runtime::torch_eager_hooks})
    EXPECT_TRUE(itemized_fusion(build_workload("resnet50"), runtime).empty());
}

TEST(Lowering, ConvolutionsAreImplicitProducts) {
  for (const Demand& demand : lower(build_workload("resnet50"), Runtime::torch_eager)) {
    if (demand.op_class != OpClass::convolution) continue;
    ASSERT_TRUE(demand.gemm);
    const Gemm& gemm = *demand.gemm;
    EXPECT_EQ(static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                  static_cast<double>(gemm.k) * static_cast<double>(gemm.batch),
              demand.work.macs)
        << demand.name;
  }
}

// Nodes as torch.fx has them, by what a model of time tells apart: convolutions, depthwise ones,
// normalisations, activations, other element-wise ones, pools, linear layers, attention modules;
// and calls that launch nothing.
struct NodeCounts {
  const char* network;
  std::array<int, 8> nodes;
  HostCalls calls;
};

// All from the Demand alone: depthwise products are for vector units, an activation has one
// operand.
std::size_t column(const Demand& demand) {
  const auto activations = [&] {
    return std::count_if(demand.reads.begin(), demand.reads.end(),
                         [](const TensorUse& use) { return use.bytes > 0; });
  };
  switch (demand.op_class) {
    case OpClass::convolution: {
      const auto& flop = demand.work.flop;
      return std::any_of(flop.begin(), flop.end(),
                         [](const FlopCount& count) { return count.unit == Unit::matrix; })
                 ? 0
                 : 1;
    }
    case OpClass::normalize:
      return 2;
    case OpClass::elementwise:
      return activations() > 1 ? 4 : 3;
    case OpClass::copy:
      return 4;
    case OpClass::pool:
    case OpClass::reduce:
      return 5;
    case OpClass::matmul:
      return 6;
    case OpClass::attention:
      return 7;
    default:
      ADD_FAILURE() << demand.name;
      return 0;
  }
}

TEST(Lowering, HooksSeeTheNodesOfTheTracedNetwork) {
  const NodeCounts expected[] = {
      {"efficientnet_b0", {65, 16, 49, 65, 25, 17, 1, 0}, {10, 1}},
      {"mobilenet_v2", {35, 17, 52, 35, 10, 1, 1, 0}, {1, 1}},
      {"mobilenet_v3_large", {47, 15, 46, 48, 18, 9, 2, 0}, {1, 1}},
      {"mobilenet_v3_small", {41, 11, 34, 42, 15, 10, 2, 0}, {1, 1}},
      {"resnet18", {20, 0, 20, 17, 8, 2, 1, 0}, {1, 0}},
      {"resnet34", {36, 0, 36, 33, 16, 2, 1, 0}, {1, 0}},
      {"resnet50", {53, 0, 53, 49, 16, 2, 1, 0}, {1, 0}},
      {"vgg11", {8, 0, 0, 10, 0, 6, 3, 0}, {1, 2}},
      {"vit_b_32", {1, 0, 25, 12, 26, 0, 25, 12}, {78, 37}},
  };
  for (const NodeCounts& row : expected)
    for (const AttentionForm form : {AttentionForm::fused, AttentionForm::eager}) {
      WorkloadOptions options;
      if (std::string_view(row.network) == "vit_b_32") options.attention = form;
      std::array<int, 8> nodes{};
      HostCalls calls;
      for (const Demand& demand :
           lower(build_workload(row.network, options), Runtime::torch_eager_hooks)) {
        if (demand.launches > 0) ++nodes[column(demand)];
        calls.functions += demand.host_calls.functions;
        calls.modules += demand.host_calls.modules;
      }
      EXPECT_EQ(nodes, row.nodes) << row.network;
      EXPECT_EQ(calls, row.calls) << row.network;
    }
}

TEST(Lowering, AnAttentionModuleTellsTheSizeOfItsScores) {
  for (const AttentionForm form : {AttentionForm::fused, AttentionForm::eager}) {
    WorkloadOptions options;
    options.attention = form;
    options.batch = 2;
    int modules = 0;
    for (const Demand& demand :
         lower(build_workload("vit_b_32", options), Runtime::torch_eager_hooks)) {
      if (demand.op_class != OpClass::attention) continue;
      ++modules;
      ASSERT_TRUE(demand.gemm);
      EXPECT_EQ(*demand.gemm, (Gemm{50, 50, 64, 2 * 12, 1}));
      EXPECT_EQ(demand.work.macs, 2 * (4.0 * 50 * 768 * 768 + 2.0 * 50 * 50 * 768));
    }
    EXPECT_EQ(modules, 12);
  }
}

// A runtime that compiles or replays has no host between its kernels.
TEST(Lowering, OnlyRuntimesThatWalkCallTheHost) {
  for (const Runtime runtime : runtimes) {
    int calls = 0;
    for (const Demand& demand : lower(build_workload("mobilenet_v2"), runtime))
      calls += demand.host_calls.functions + demand.host_calls.modules;
    EXPECT_EQ(calls, walks_one_by_one(runtime) ? 2 : 0) << to_string(runtime);
  }
}

TEST(Lowering, AViewLaunchesNothing) {
  int views = 0;
  for (const Demand& demand : lower(build_workload("resnet50"), Runtime::torch_eager))
    if (demand.op_class == OpClass::view) {
      ++views;
      EXPECT_EQ(demand.launches, 0);
      EXPECT_EQ(bytes_of(demand.work), 0);
    }
  EXPECT_EQ(views, 1);  // flatten
}

}  // namespace
}  // namespace ridgeline
