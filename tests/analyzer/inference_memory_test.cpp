// Peak memory of an inference: small graphs by hand, networks by their published sizes.
#include <gtest/gtest.h>

#include "analyzer/fusion/fusion.h"
#include "analyzer/training/memory.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

constexpr double kept_tensor = 4 * 1024 * 8;  // bytes of {1024, 8} in fp32

NetworkBuilder memory_network() { return NetworkBuilder("test", {}); }

RunMemory memory_of(std::string_view name, const WorkloadOptions& options = {}) {
  return inference_memory(build_workload(name, options));
}

TEST(InferenceMemory, AChainHoldsItsInputAndTwoTensors) {
  NetworkBuilder net = memory_network();
  Operand x = net.input("x", {1024, 8});
  for (const char* name : {"a", "b", "c", "d"}) x = net.relu(name, x);
  net.output(x);
  const RunMemory memory = inference_memory(net.finish());
  EXPECT_EQ(memory.activations, 3 * kept_tensor);  // x, one that is read, one that is written
  EXPECT_EQ(memory.unshared, 5 * kept_tensor);     // each at a place of its own
  EXPECT_EQ(memory.weights, 0);
  EXPECT_EQ(memory.peak(), memory.activations);
}

TEST(InferenceMemory, ABranchHoldsWhatIsReadLater) {
  NetworkBuilder net = memory_network();
  const Operand x = net.relu("first", net.input("x", {1024, 8}));
  Operand y = x;
  for (const char* name : {"a", "b", "c"}) y = net.relu(name, y);
  net.output(net.add("add", x, y));
  // The input, the branch point, one that is read, one that is written.
  EXPECT_EQ(inference_memory(net.finish()).activations, 4 * kept_tensor);
}

TEST(InferenceMemory, OutputsStayUntilTheEnd) {
  NetworkBuilder net = memory_network();
  Operand x = net.input("x", {1024, 8});
  for (const char* name : {"a", "b", "c", "d"}) {
    x = net.relu(name, x);
    net.output(x);
  }
  EXPECT_EQ(inference_memory(net.finish()).activations, 5 * kept_tensor);
}

// By hand for 224 pixels: the largest sum is at the first shortcut, where the branch of 256 x 56 x
// 56, the shortcut's convolution and its normalisation are live, and the caller holds the image.
TEST(InferenceMemory, Resnet50) {
  const double live = 3.0 * 256 * 56 * 56 + 3.0 * 224 * 224;
  for (const std::int64_t batch : {1, 8}) {
    WorkloadOptions options;
    options.batch = batch;
    const RunMemory memory = memory_of("resnet50", options);
    EXPECT_EQ(memory.weights, 4.0 * 25'557'032);
    EXPECT_EQ(memory.activations, 4 * live * static_cast<double>(batch));
    EXPECT_EQ(memory.caches + memory.gradients + memory.transient, 0);
  }
}

TEST(InferenceMemory, FusedKernelsHoldLessInBetween) {
  const Graph graph = build_workload("resnet50", {});
  const RunMemory eager = inference_memory(graph);
  const RunMemory engine = inference_memory(fuse(graph, Runtime::tensorrt));
  EXPECT_LT(engine.activations, eager.activations);
  EXPECT_NEAR(engine.weights, eager.weights, 0.01 * eager.weights);
}

// 24 layers with keys and values of 2048 numbers for each token: those of the context, and the new.
TEST(InferenceMemory, DecodersHoldTheirCache) {
  for (const std::int64_t context : {100, 1000}) {
    WorkloadOptions options;
    options.batch = 2;
    options.context = context;
    options.phase = Phase::decode;
    const RunMemory memory = memory_of("opt-1.3b", options);
    EXPECT_EQ(memory.caches, 24.0 * 2 * 2048 * 4 * 2 * static_cast<double>(context + 1));
    EXPECT_NEAR(memory.weights, 4 * 1.3158e9, 0.001 * 4 * 1.3158e9);
  }
}

TEST(InferenceMemory, HalfTheBitsTakeHalfTheMemory) {
  const RunMemory wide = memory_of("vit_b_16");
  WorkloadOptions half;
  half.dtype = ElementType::fp16;
  const RunMemory narrow = memory_of("vit_b_16", half);
  EXPECT_NEAR(narrow.peak() / wide.peak(), 0.5, 0.01);
}

}  // namespace
}  // namespace ridgeline
