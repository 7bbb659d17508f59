// A training step: exact MACs of gradients, optimizer bytes, memory and its parts.
// Ratios are those that a real backward pass of the same networks showed.
#include "analyzer/training.h"

#include <gtest/gtest.h>

#include <map>

#include "analyzer/count.h"
#include "base/error.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

std::map<Pass, Work> passes_of(const Graph& graph) {
  std::map<Pass, Work> passes;
  for (const Layer& layer : graph.layers)
    if (layer.standing == Standing::counted)
      passes[layer.pass] += count_layer(graph, layer, default_weights());
  return passes;
}

double macs_of(const Training& training) {
  double total = 0;
  for (const auto& [pass, work] : passes_of(training.graph)) total += work.macs;
  return total;
}

double parameters_of(const Graph& graph) {
  double total = 0;
  for (const Tensor& tensor : graph.tensors)
    if (tensor.is_parameter) total += static_cast<double>(element_count(tensor.shape));
  return total;
}

Training trained(std::string_view name, const TrainingOptions& options = {}) {
  return train(build_workload(name), options);
}

double forward_macs(const Training& training) {
  return passes_of(training.graph).at(Pass::forward).macs;
}

TEST(Training, MacsOfAStepAreThoseOfARealBackwardPass) {
  const std::pair<const char*, double> measured[] = {{"resnet18", 2.9349},
                                                     {"resnet50", 2.9711},
                                                     {"vgg16", 2.9944},
                                                     {"mobilenet_v2", 2.9640},
                                                     {"mobilenet_v3_large", 2.9750}};
  for (const auto& [name, ratio] : measured) {
    const Training training = trained(name);
    EXPECT_NEAR(macs_of(training) / forward_macs(training), ratio, 5e-5) << name;
  }
}

TEST(Training, TheFirstLayerNeedsNoGradientOfItsInput) {
  const Training training = trained("resnet50");
  EXPECT_EQ(3 * forward_macs(training) - macs_of(training), 118'013'952);
}

TEST(Training, OptimizerBytesPerParameter) {
  const double parameters = parameters_of(build_workload("resnet18"));
  const std::pair<Optimizer, double> expected[] = {{Optimizer::sgd, 12},
                                                   {Optimizer::momentum, 20},
                                                   {Optimizer::adam, 28},
                                                   {Optimizer::adamw, 28}};
  for (const auto& [optimizer, bytes] : expected) {
    const Training training = trained("resnet18", {.optimizer = optimizer});
    const Work work = passes_of(training.graph).at(Pass::optimizer);
    EXPECT_EQ((work.bytes_read + work.bytes_written + work.weight_bytes_read +
               work.weight_bytes_written) /
                  parameters,
              bytes)
        << to_string(optimizer);
  }
}

TEST(Training, MixedPrecisionKeepsFullCopiesForTheOptimizerOnly) {
  const double parameters = parameters_of(build_workload("resnet18"));
  const Training full = trained("resnet18", {.optimizer = Optimizer::adam});
  const Training mixed =
      trained("resnet18", {.optimizer = Optimizer::adam, .mixed_precision = true});
  EXPECT_EQ(mixed.memory.master_weights, 4 * parameters);
  EXPECT_EQ(mixed.memory.weights, 2 * parameters);
  EXPECT_EQ(mixed.memory.optimizer_state, full.memory.optimizer_state);
  EXPECT_EQ(mixed.memory.saved, full.memory.saved / 2);
  EXPECT_EQ(macs_of(mixed), macs_of(full));
}

TEST(Training, PeakIsTheSumOfItsParts) {
  const TrainingMemory memory = trained("resnet50", {.optimizer = Optimizer::adam}).memory;
  EXPECT_EQ(memory.peak(), memory.weights + memory.gradients + memory.optimizer_state +
                               memory.saved + memory.transient);
  const double parameters = parameters_of(build_workload("resnet50"));
  EXPECT_EQ(memory.weights, 4 * parameters);
  EXPECT_EQ(memory.gradients, 4 * parameters);
  EXPECT_EQ(memory.optimizer_state, 8 * parameters);
  EXPECT_GT(memory.saved, 80e6);  // a batch of one at 224 pixels
}

TEST(Training, FrozenLayersCostTheirForwardPassOnly) {
  const Training all = trained("resnet50");
  const Training head = trained("resnet50", {.freeze_until = "layer4"});
  const auto passes = passes_of(head.graph);
  EXPECT_EQ(passes.at(Pass::backward_weights).macs, 2'048'000);  // of the last product
  EXPECT_FALSE(passes.contains(Pass::backward_data) && passes.at(Pass::backward_data).macs > 0);
  EXPECT_LT(head.memory.saved, all.memory.saved / 100);
}

TEST(Training, CheckpointsTradeMemoryForAnotherForwardPass) {
  const Training plain = trained("resnet50");
  const Training checkpointed = trained("resnet50", {.checkpoint = true});
  EXPECT_LT(checkpointed.memory.saved, 0.6 * plain.memory.saved);
  const double again = passes_of(checkpointed.graph).at(Pass::recompute).macs;
  EXPECT_GT(again, 0.8 * forward_macs(plain));
  EXPECT_LT(again, forward_macs(plain));
}

TEST(Training, WhatCannotLearnIsAnError) {
  EXPECT_THROW(trained("resnet18", {.freeze_until = "fc"}), Error);
  EXPECT_THROW(trained("resnet18", {.freeze_until = "no_such_layer"}), Error);
  WorkloadOptions integers;
  integers.dtype = ElementType::int8;
  EXPECT_THROW(train(build_workload("resnet18", integers), {}), Error);
}

TEST(Training, EveryNetworkHasAGradient) {
  for (const Workload& workload : all_workloads()) {
    const Training training = trained(workload.name);
    EXPECT_GT(macs_of(training), 2 * forward_macs(training)) << workload.name;
    for (const std::string& layer : training.without_gradient)
      ADD_FAILURE() << workload.name << ": no gradient of " << layer;
  }
}

}  // namespace
}  // namespace ridgeline
