// Properties of every network's graph: sound, in order, unique names, linear in the batch.
// Counts of single networks are in published_counts_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>

#include "analyzer/lowering/lowering.h"
#include "tests/support/process.h"
#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

using ::testing::IsEmpty;

class EveryWorkload : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const Workload& workload : all_workloads()) names.emplace_back(workload.name);
  return names;
}

// One network's graphs in all forms that its options allow.
std::vector<Graph> forms_of(const std::string& name) {
  const Workload workload = workload_named(name);
  std::vector<WorkloadOptions> forms(1);
  if (workload.options.has(WorkloadOption::attention)) {
    forms.emplace_back();
    forms.back().attention = AttentionForm::eager;
  }
  if (workload.options.has(WorkloadOption::phase)) {
    for (const AttentionForm form : {AttentionForm::fused, AttentionForm::eager}) {
      forms.emplace_back();
      forms.back().phase = Phase::decode;
      forms.back().attention = form;
      forms.back().dtype = ElementType::bf16;
    }
  }
  std::vector<Graph> graphs;
  for (const WorkloadOptions& options : forms) graphs.push_back(build_workload(name, options));
  return graphs;
}

TEST_P(EveryWorkload, CanRunInTheOrderOfItsLayers) {
  for (const Graph& graph : forms_of(GetParam())) {
    std::set<TensorId> known(graph.inputs.begin(), graph.inputs.end());
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
      if (graph.tensors[id].role == Role::weight) known.insert(id);
    std::set<TensorId> read;
    for (const Layer& layer : graph.layers) {
      ASSERT_EQ(layer.parts.size(), 1u) << layer.name;
      ASSERT_FALSE(layer.outputs.empty()) << layer.name;
      EXPECT_EQ(op_of<Unknown>(layer), nullptr) << layer.name;
      EXPECT_EQ(std::set(layer.inputs.begin(), layer.inputs.end()).size(), layer.inputs.size());
      for (const TensorId id : layer.inputs) {
        EXPECT_TRUE(known.contains(id)) << layer.name << " reads " << graph.tensors[id].name;
        read.insert(id);
      }
      for (const TensorId id : layer.outputs) {
        EXPECT_TRUE(known.insert(id).second) << layer.name;
        EXPECT_EQ(graph.tensors[id].role, Role::activation) << layer.name;
      }
    }
    read.insert(graph.outputs.begin(), graph.outputs.end());
    EXPECT_FALSE(graph.outputs.empty());
    std::vector<std::string> unused;
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
      if (!read.contains(id)) unused.push_back(graph.tensors[id].name);
    EXPECT_THAT(unused, IsEmpty());
  }
}

TEST_P(EveryWorkload, NamesLayersAndParametersOnce) {
  for (const Graph& graph : forms_of(GetParam())) {
    std::set<std::string> layers, tensors;
    for (const Layer& layer : graph.layers) {
      EXPECT_TRUE(layers.insert(layer.name).second) << layer.name;
      EXPECT_FALSE(layer.origin.empty()) << layer.name;
    }
    for (const Tensor& tensor : graph.tensors)
      if (tensor.is_parameter) {
        EXPECT_TRUE(tensors.insert(tensor.name).second) << tensor.name;
        EXPECT_EQ(tensor.role, Role::weight);
      }
    EXPECT_EQ(graph.name, GetParam());
  }
}

TEST_P(EveryWorkload, IsLinearInTheBatch) {
  const Graph one = build_workload(GetParam());
  const Work work = work_of(one);
  for (const std::int64_t batch : {2, 3, 64}) {
    WorkloadOptions options;
    options.batch = batch;
    const Graph many = build_workload(GetParam(), options);
    EXPECT_EQ(macs_of(many), static_cast<double>(batch) * work.macs);
    EXPECT_EQ(parameters_of(many), parameters_of(one));
    EXPECT_EQ(many.layers.size(), one.layers.size());
    EXPECT_EQ(many.tensors[many.inputs.front()].source, ShapeSource::given);
  }
  EXPECT_EQ(one.tensors[one.inputs.front()].source, ShapeSource::fixed);
}

INSTANTIATE_TEST_SUITE_P(Workloads, EveryWorkload, ::testing::ValuesIn(workload_names()),
                         [](const auto& param) {
                           std::string name = param.param;
                           for (char& letter : name)
                             if (letter == '-' || letter == '.') letter = '_';
                           return name;
                         });

TEST(Workloads, FormsOfAttentionDifferInBytesOnly) {
  for (const std::string& name : workload_names()) {
    const auto graphs = forms_of(name);
    for (std::size_t fused = 0; fused + 1 < graphs.size(); fused += 2) {
      const Graph &one = graphs[fused], &steps = graphs[fused + 1];
      EXPECT_EQ(macs_of(one), macs_of(steps)) << name;
      EXPECT_LT(bytes_of(one), bytes_of(steps)) << name;
      EXPECT_EQ(parameters_of(one), parameters_of(steps)) << name;
    }
  }
}

// The benchmark takes two milliseconds on a quiet machine; this checks the order of magnitude.
TEST(Workloads, AreBuiltAndLoweredInMilliseconds) {
#ifdef NDEBUG
  if (is_sanitized()) GTEST_SKIP() << "sanitizers take their time";
  for (const std::string& name : workload_names())
    for (const Runtime runtime : {Runtime::ideal, Runtime::torch_eager_hooks}) {
      double best_s = std::numeric_limits<double>::infinity();
      for (int i = 0; i < 5; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const std::vector<Demand> demands = lower(build_workload(name), runtime);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        best_s = std::min(best_s, time.count());
      }
      EXPECT_LT(best_s, 20e-3) << name << " for " << to_string(runtime);
    }
#else
  GTEST_SKIP() << "only an optimised build is timed";
#endif
}

}  // namespace
}  // namespace ridgeline::testing
