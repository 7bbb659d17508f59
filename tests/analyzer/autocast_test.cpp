// Types and casts as PyTorch's automatic mixed precision gives them, counted by hand from its
// lists of operators.
#include "analyzer/graph/autocast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/lowering/lowering.h"
#include "analyzer/training/training.h"
#include "base/error.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

Graph cast_network(std::string_view name, const std::string& options = {}) {
  return build_workload(name, parse_options(options + ";precision=autocast"));
}

Graph plain_network(std::string_view name, const std::string& options = {}) {
  return build_workload(name, parse_options(options));
}

int casts(const Graph& graph) {
  return static_cast<int>(std::count_if(graph.layers.begin(), graph.layers.end(),
                                        [](const Layer& layer) { return layer.origin == "Cast"; }));
}

double macs(const Graph& graph) {
  double sum = 0;
  for (const LayerCount& count : count_layers(graph, default_weights())) sum += count.work.macs;
  return sum;
}

double activation_bytes(const Graph& graph) {
  double sum = 0;
  for (const LayerCount& count : count_layers(graph, default_weights()))
    sum += count.work.bytes_read + count.work.bytes_written;
  return sum;
}

ElementType output_type(const Graph& graph, std::string_view layer) {
  const auto found = std::find_if(graph.layers.begin(), graph.layers.end(),
                                  [&](const Layer& one) { return one.name == layer; });
  return found == graph.layers.end() ? ElementType::unknown
                                     : graph.tensors[found->outputs.front()].type;
}

TEST(Autocast, ProductsRunIn16BitsAndNormalisationsInFp32) {
  const Graph graph = cast_network("vit_b_32");
  for (const Tensor& tensor : graph.tensors)
    if (tensor.is_parameter) {
      EXPECT_EQ(tensor.type, ElementType::fp32) << tensor.name;
    }
  for (const Layer& layer : graph.layers)
    for (const Part& part : layer.parts) {
      const bool multiplies = std::holds_alternative<MatMul>(part.op) ||
                              std::holds_alternative<Convolution>(part.op) ||
                              std::holds_alternative<Attention>(part.op);
      if (multiplies) {
        EXPECT_EQ(part.dtype, DType::fp16) << layer.name;
      }
      if (std::holds_alternative<Normalize>(part.op)) {
        EXPECT_EQ(part.dtype, DType::fp32) << layer.name;
      }
    }
  // The position embedding is a parameter, so sums along the residual path are fp32.
  EXPECT_EQ(output_type(graph, "encoder.layers.encoder_layer_0.add"), ElementType::fp32);
  EXPECT_EQ(output_type(graph, "encoder.layers.encoder_layer_0.mlp.1"), ElementType::fp16);
}

TEST(Autocast, CastsAreThoseOfTheOperands) {
  // Per layer: two normalised inputs of products, weights and biases of four products. Besides: the
  // image, weights and biases of the first convolution and the head, and the head's input.
  EXPECT_EQ(casts(cast_network("vit_b_32")), 12 * (2 + 8) + 6);
  // A batch normalisation follows its data, so only weights and the image are cast, and the head's
  // bias.
  EXPECT_EQ(casts(cast_network("resnet50")), 54 + 1 + 1);
}

TEST(Autocast, WhatLiesBetweenConvolutionsMovesHalfTheBytes) {
  const double cast = activation_bytes(cast_network("resnet50", "batch=8"));
  const double fp16 = activation_bytes(plain_network("resnet50", "batch=8;dtype=fp16"));
  const double image = 8.0 * 3 * 224 * 224;  // read in fp32, written in fp16
  EXPECT_DOUBLE_EQ(cast - fp16, (4 + 2) * image);
}

TEST(Autocast, ScoresOfEagerAttentionAreWidenedForTheirSoftmax) {
  const double cast = activation_bytes(cast_network("vit_b_16", "attention=eager;batch=4"));
  const double fp16 =
      activation_bytes(plain_network("vit_b_16", "attention=eager;batch=4;dtype=fp16"));
  EXPECT_GT(cast, 1.3 * fp16);
  EXPECT_LT(cast, 2.5 * fp16);
}

TEST(Autocast, MacsStay) {
  for (const char* name : {"resnet50", "swin_t", "bert_base", "gpt2", "lstm", "unet"})
    EXPECT_DOUBLE_EQ(macs(cast_network(name)), macs(plain_network(name))) << name;
}

TEST(Autocast, TrainingUpdatesParametersInFp32) {
  for (const char* name : {"resnet18", "vit_b_32", "swin_t", "mobilevit_s"}) {
    const Graph plain = train(plain_network(name), {}).graph;
    const Training training = train(cast_network(name), {});
    const Graph& step = training.graph;
    EXPECT_TRUE(training.without_gradient.empty());
    EXPECT_EQ(training.unreached, 0) << name;
    EXPECT_DOUBLE_EQ(macs(step), macs(plain)) << name;
    const auto updates = [](const Graph& graph) {
      return std::count_if(graph.layers.begin(), graph.layers.end(),
                           [](const Layer& layer) { return layer.pass == Pass::optimizer; });
    };
    EXPECT_EQ(updates(step), updates(plain)) << name;
    for (const Layer& layer : step.layers) {
      const bool updates_parameters = layer.pass == Pass::optimizer;
      const bool multiplies =
          std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
            return std::holds_alternative<Convolution>(part.op) ||
                   std::holds_alternative<MatMul>(part.op);
          });
      for (const auto* ids : {&layer.inputs, &layer.outputs})
        for (const TensorId id : *ids) {
          const Tensor& tensor = step.tensors[id];
          if (updates_parameters) {
            EXPECT_EQ(tensor.type, ElementType::fp32) << tensor.name;
          }
          if (multiplies) {
            EXPECT_NE(tensor.type, ElementType::fp32) << layer.name << ": " << tensor.name;
          }
        }
    }
  }
}

TEST(Autocast, EveryTensorIsMadeBeforeItIsRead) {
  for (const char* name : {"resnet18", "vit_b_32", "swin_t", "bert_base", "gpt2"})
    for (const bool trains : {false, true}) {
      Graph graph = cast_network(name);
      if (trains) graph = train(graph, {}).graph;
      std::vector<bool> written(graph.tensors.size(), false), is_made(graph.tensors.size(), false);
      for (const Layer& layer : graph.layers)
        if (layer.pass != Pass::optimizer)  // parameters are there before they are updated
          for (const TensorId id : layer.outputs) is_made[id] = true;
      for (const Layer& layer : graph.layers) {
        for (const TensorId id : layer.inputs)
          EXPECT_TRUE(written[id] || !is_made[id])
              << name << ": " << layer.name << " reads " << graph.tensors[id].name;
        for (const TensorId id : layer.outputs) written[id] = true;
      }
    }
}

TEST(Autocast, CompiledKernelsTakeInTheCasts) {
  const Graph graph = cast_network("vit_b_32");
  const auto eager = lower(graph, Runtime::torch_eager);
  const auto compiled = lower(graph, Runtime::torch_compiled);
  const auto activation_casts = [](const std::vector<Demand>& demands) {
    return std::count_if(demands.begin(), demands.end(), [](const Demand& demand) {
      return demand.launches > 0 && demand.work.bytes_written > 0 &&
             demand.source_layers.size() == 1 && demand.name.ends_with(".cast");
    });
  };
  EXPECT_EQ(activation_casts(eager), 12 * 2 + 2);
  EXPECT_LE(activation_casts(compiled), 2);
}

TEST(Autocast, OtherTypesAreRefused) {
  EXPECT_THROW(plain_network("resnet50", "dtype=int8;precision=autocast"), Error);
  EXPECT_THROW(plain_network("resnet50", "dtype=fp32;precision=autocast"), Error);
  EXPECT_NO_THROW(plain_network("resnet50", "dtype=bf16;precision=autocast"));
}

}  // namespace
}  // namespace ridgeline
