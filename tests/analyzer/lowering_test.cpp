// From networks to kernels: what lowering must preserve, GEMM shapes, producers, launches.
// Every built-in network is lowered for every runtime.
#include "analyzer/lowering/lowering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzer/training/training.h"
#include "tests/analyzer/lowered.h"
#include "tests/workloads/counted.h"
#include "workloads/builder.h"

namespace ridgeline::testing {
namespace {

constexpr Runtime all_runtimes[] = {
    Runtime::ideal,          Runtime::tensorrt,   Runtime::torch_eager, Runtime::torch_eager_hooks,
    Runtime::torch_compiled, Runtime::cuda_graph, Runtime::onnxruntime};

TEST(Lowering, NeverChangesMacsAndNeverAddsBytes) {
  for (const Workload& workload : all_workloads()) {
    const Graph graph = build_workload(workload.name);
    const Work whole = work_of(graph);
    for (const Runtime runtime : all_runtimes) {
      SCOPED_TRACE(std::string(workload.name) + " on " + std::string(to_string(runtime)));
      const auto demands = lower(graph, runtime);
      const Work lowered = work_of(demands);
      EXPECT_EQ(lowered.macs, whole.macs);
      EXPECT_LE(total_bytes(lowered), total_bytes(whole) * (1 + 1e-12));
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
      const double least = total_bytes(work_of(lower(graph, Runtime::ideal)));
      for (const Runtime runtime : all_runtimes)
        EXPECT_LE(least, total_bytes(work_of(lower(graph, runtime))) * (1 + 1e-12))
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

// As the layer lists of engines show (docs/lowering.md).
TEST(Lowering, TensorRtFusesSmoothActivationsOnlyIn16Bits) {
  const auto launches = [](ElementType dtype, std::int64_t channels, bool depthwise, bool swish) {
    Settings settings;
    settings.dtype = dtype;
    NetworkBuilder net("net", settings);
    Operand x = net.input("x", {1, channels, 32, 32});
    const std::int64_t out = depthwise ? channels : 64;
    x = net.conv("conv", x, out, {.kernel = 3, .groups = depthwise ? channels : 1});
    net.output(swish ? net.swish("act", x) : net.relu("act", x));
    const auto demands = lower(net.finish(), Runtime::tensorrt);
    EXPECT_EQ(demands.size(), 1u);
    return demands.front().launches;
  };
  EXPECT_EQ(launches(ElementType::fp16, 64, false, true), 1);
  EXPECT_EQ(launches(ElementType::fp16, 3, false, true), 2);  // a kernel for images
  EXPECT_EQ(launches(ElementType::fp16, 64, true, true), 2);
  EXPECT_EQ(launches(ElementType::fp32, 64, false, true), 2);
  EXPECT_EQ(launches(ElementType::int8, 64, false, true), 2);
  EXPECT_EQ(launches(ElementType::int8, 64, false, false), 1);
  EXPECT_EQ(launches(ElementType::fp32, 64, true, false), 1);
}

TEST(Lowering, TensorRtCopiesThePartsOfAConcatenationOneByOne) {
  for (const Demand& demand : lower(build_workload("yolov8n"), Runtime::tensorrt))
    if (demand.name == "model.2.cat") {
      EXPECT_EQ(demand.launches, 2);
      return;
    }
  ADD_FAILURE() << "no concatenation";
}

TEST(Lowering, ProducersComeBeforeTheirReaders) {
  for (const Workload& workload : all_workloads())
    for (const Runtime runtime : all_runtimes) {
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
  EXPECT_EQ(total_bytes(lowered), total_bytes(work_of(graph)));
  EXPECT_EQ(total_flop(lowered), total_flop(work_of(graph)));
}

TEST(Lowering, ConvolutionsAreImplicitProducts) {
  for (const Demand& demand : lower(build_workload("resnet50"), Runtime::torch_eager)) {
    if (op_class(demand.kind) != OpClass::convolution) continue;
    ASSERT_TRUE(demand.gemm);
    const Gemm& gemm = *demand.gemm;
    EXPECT_EQ(static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                  static_cast<double>(gemm.k) * static_cast<double>(gemm.batch),
              demand.work.macs)
        << demand.name;
  }
}

// torch.fx nodes, grouped as a time model distinguishes them: convolutions, depthwise ones,
// normalisations, activations, other element-wise ones, pools, linear layers, attention modules;
// and calls that launch nothing.
struct NodeCounts {
  const char* network;
  std::array<int, 8> nodes;
  HostCalls calls;
};

// From the Demand alone: depthwise convolutions run on vector units, activations have one operand.
std::size_t column(const Demand& demand) {
  const auto activations = [&] {
    return std::count_if(demand.reads.begin(), demand.reads.end(),
                         [](const TensorUse& use) { return use.bytes > 0; });
  };
  switch (op_class(demand.kind)) {
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
      if (demand.kind != KernelKind::attention) continue;
      ++modules;
      ASSERT_TRUE(demand.gemm);
      EXPECT_EQ(*demand.gemm, (Gemm{50, 50, 64, 2 * 12, 1}));
      EXPECT_EQ(demand.work.macs, 2 * (4.0 * 50 * 768 * 768 + 2.0 * 50 * 50 * 768));
    }
    EXPECT_EQ(modules, 12);
  }
}

// A runtime that compiles or replays the network does not return to the host between kernels.
TEST(Lowering, OnlyRuntimesThatWalkCallTheHost) {
  for (const Runtime runtime : all_runtimes) {
    int calls = 0;
    for (const Demand& demand : lower(build_workload("mobilenet_v2"), runtime))
      calls += demand.host_calls.functions + demand.host_calls.modules;
    EXPECT_EQ(calls, walks_one_by_one(runtime) ? 2 : 0) << to_string(runtime);
  }
}

TEST(Lowering, AViewLaunchesNothing) {
  int views = 0;
  for (const Demand& demand : lower(build_workload("resnet50"), Runtime::torch_eager))
    if (demand.kind == KernelKind::none) {
      ++views;
      EXPECT_EQ(demand.launches, 0);
      EXPECT_EQ(total_bytes(demand.work), 0);
    }
  EXPECT_EQ(views, 1);  // flatten
}

TEST(Lowering, DecidesTheKindOfEachKernel) {
  const auto kinds = [](const Graph& graph) {
    std::map<KernelKind, int> counts;
    for (const Demand& demand : lower(graph, Runtime::torch_eager)) ++counts[demand.kind];
    return counts;
  };
  auto mobile = kinds(build_workload("mobilenet_v3_large"));
  EXPECT_EQ(mobile[KernelKind::depthwise], 15);  // one per block
  EXPECT_EQ(mobile[KernelKind::broadcast], 8);   // scales of squeeze-and-excitation
  EXPECT_EQ(mobile[KernelKind::linear], 2);
  EXPECT_EQ(mobile[KernelKind::product], 0);
  WorkloadOptions eager;
  eager.attention = AttentionForm::eager;
  auto language = kinds(build_workload("bert_base", eager));
  EXPECT_EQ(language[KernelKind::product], 2 * 12);  // scores and weighted values
  EXPECT_EQ(language[KernelKind::softmax], 12);
  EXPECT_EQ(language[KernelKind::attention], 0);
}

// MobileNetV2: 52 convolutions, 17 of them depthwise; only the first has no gradient of its input.
TEST(Lowering, DecidesTheKindOfEachGradient) {
  std::map<KernelKind, int> kinds;
  double read_forward = 0, read_back = 0;  // by batch normalisation
  const Training step = train(build_workload("mobilenet_v2"), {});
  for (const Demand& demand : lower(step.graph, Runtime::torch_eager)) {
    ++kinds[demand.kind];
    if (demand.kind != KernelKind::batch_norm) continue;
    (demand.name.ends_with(".dx") ? read_back : read_forward) += demand.work.bytes_read;
  }
  EXPECT_EQ(kinds[KernelKind::convolution], 35);
  EXPECT_EQ(kinds[KernelKind::convolution_gradient], 34 + 35);  // of inputs, of weights
  EXPECT_EQ(kinds[KernelKind::depthwise], 17 + 17);  // an input's gradient is such a convolution
  EXPECT_EQ(kinds[KernelKind::depthwise_gradient], 17);
  EXPECT_EQ(kinds[KernelKind::batch_norm], 52 + 52);
  // Input twice; then input and gradient twice, and the statistics, which are small.
  EXPECT_NEAR(read_back / read_forward, 2, 0.02);
}

}  // namespace
}  // namespace ridgeline::testing
