// From networks to kernels: what fusion saves and never changes, GEMM shapes, producers, launches.
// Every built-in network is lowered for every runtime.
#include "analyzer/lowering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzer/count.h"
#include "analyzer/fusion.h"
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

TEST(Fusion, EagerModeFusesNothing) {
  for (const Runtime runtime : {Runtime::torch_eager, Runtime::torch_eager_hooks})
    EXPECT_TRUE(fuse(build_workload("resnet50"), runtime).steps.empty());
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

// Nodes as torch.fx has them: convolutions, depthwise ones, normalisations, activations, other
// element-wise ones, pools, linear layers, attention modules.
struct NodeCounts {
  const char* network;
  std::array<int, 8> counts;
};

std::size_t column(const Demand& demand, const Graph& graph) {
  const auto layer = std::find_if(graph.layers.begin(), graph.layers.end(), [&](const Layer& one) {
    return one.name == demand.source_layers.front();
  });
  const Op& op = layer->parts.front().op;
  if (demand.op_class == OpClass::attention) return 7;
  if (const auto* convolution = std::get_if<Convolution>(&op))
    return convolution->groups > 1 && convolution->groups == convolution->in_channels ? 1 : 0;
  if (std::holds_alternative<Normalize>(op)) return 2;
  if (const auto* elementwise = std::get_if<Elementwise>(&op))
    return elementwise->function == Function::add || elementwise->function == Function::multiply
               ? 4
               : 3;
  if (std::holds_alternative<Copy>(op)) return 4;
  if (std::holds_alternative<Pool>(op) || std::holds_alternative<Reduce>(op)) return 5;
  return 6;
}

TEST(Lowering, HooksSeeTheNodesOfTheTracedNetwork) {
  const NodeCounts expected[] = {
      {"efficientnet_b0", {65, 16, 49, 65, 25, 17, 1, 0}},
      {"mobilenet_v2", {35, 17, 52, 35, 10, 1, 1, 0}},
      {"mobilenet_v3_large", {47, 15, 46, 48, 18, 9, 2, 0}},
      {"mobilenet_v3_small", {41, 11, 34, 42, 15, 10, 2, 0}},
      {"resnet18", {20, 0, 20, 17, 8, 2, 1, 0}},
      {"resnet34", {36, 0, 36, 33, 16, 2, 1, 0}},
      {"resnet50", {53, 0, 53, 49, 16, 2, 1, 0}},
      {"vgg11", {8, 0, 0, 10, 0, 6, 3, 0}},
      {"vit_b_32", {1, 0, 25, 12, 26, 0, 25, 12}},
  };
  for (const NodeCounts& row : expected) {
    const Graph graph = build_workload(row.network);
    std::array<int, 8> counts{};
    for (const Demand& demand : lower(graph, Runtime::torch_eager_hooks))
      if (demand.launches > 0) ++counts[column(demand, graph)];
    EXPECT_EQ(counts, row.counts) << row.network;
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
