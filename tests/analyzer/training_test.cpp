// A training step: exact MACs of gradients, optimizer bytes, memory and its parts.
// Ratios come from a real backward pass of the same networks.
#include "analyzer/training/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <variant>

#include "analyzer/count/count.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/lowering/lowering.h"
#include "analyzer/training/summary.h"
#include "base/error.h"
#include "tests/analyzer/onnx/imported.h"
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
  // Indices of maxima and statistics keep their types.
  EXPECT_NEAR(mixed.memory.saved, full.memory.saved / 2, 0.04 * full.memory.saved);
  EXPECT_EQ(macs_of(mixed), macs_of(full));
}

struct Torch {
  const char* name;
  double macs, saved;
  int backward_launches;
};

// One step of PyTorch 2.15.0, from tools/confirm-workloads --training.
constexpr Torch in_torch[] = {
    {"alexnet", 2'072'288'640, 3'671'552, 34},
    {"squeezenet1_1", 1'026'165'120, 20'723'616, 115},
    {"vgg16", 46'324'088'832, 73'289'728, 68},
    {"resnet18", 5'324'206'080, 22'218'240, 89},
    {"resnet50", 12'149'538'816, 86'121'984, 228},
    {"mobilenet_v2", 891'484'800, 78'340'864, 204},
    {"mobilenet_v3_large", 644'350'272, 44'206'432, 290},
    {"efficientnet_b0", 1'146'606'240, 88'356'960, 400},
    {"inception_v3", 17'120'466'624, 98'310'188, 427},
    {"inception_v4", 36'742'742'208, 172'399'148, 672},
};

TEST(Training, AStepIsTheStepOfTorch) {
  for (const Torch& torch : in_torch) {
    const Training training = trained(torch.name);
    EXPECT_EQ(macs_of(training), torch.macs) << torch.name;
    EXPECT_EQ(training.memory.saved, torch.saved) << torch.name;
    int launches = 0;
    for (const Layer& layer : training.graph.layers)
      if (layer.pass == Pass::backward_data || layer.pass == Pass::backward_weights)
        launches += kernel_launches(layer, Runtime::torch_eager);
    EXPECT_EQ(launches, torch.backward_launches) << torch.name;
  }
}

TEST(Training, ActivationsThatTransformersSave) {
  EXPECT_EQ(trained("vit_b_16").memory.saved, 118'160'680);
  EXPECT_EQ(trained("mobilevit_s").memory.saved, 179'743'616);
  EXPECT_EQ(macs_of(trained("vit_b_16")), 52'933'542'912);
  EXPECT_EQ(macs_of(trained("llama-3.2-1b")), 478'284'873'728);
}

TEST(Training, PeakIsTheSumOfItsParts) {
  const RunMemory memory = trained("resnet50", {.optimizer = Optimizer::adam}).memory;
  EXPECT_EQ(memory.peak(), memory.weights + memory.gradients + memory.optimizer_state +
                               memory.activations + memory.transient);
  const double parameters = parameters_of(build_workload("resnet50"));
  EXPECT_EQ(memory.weights, 4 * parameters);
  EXPECT_EQ(memory.optimizer_state, 8 * parameters);
  // Peak in torch's own memory accounting: 473.0 MB.
  EXPECT_NEAR(memory.peak(), 473.0e6, 0.005 * 473.0e6);
}

TEST(Training, EveryParameterIsUpdatedOnce) {
  for (const Workload& workload : all_workloads()) {
    const Training training = trained(workload.name);
    double updated = 0;
    for (const Layer& layer : training.graph.layers)
      if (layer.pass == Pass::optimizer)
        updated +=
            static_cast<double>(element_count(training.graph.tensors[layer.inputs.front()].shape));
    EXPECT_EQ(updated, parameters_of(build_workload(workload.name))) << workload.name;
  }
}

const Layer& layer_named(const Graph& graph, std::string_view name) {
  const auto found = std::find_if(graph.layers.begin(), graph.layers.end(),
                                  [&](const Layer& layer) { return layer.name == name; });
  if (found == graph.layers.end()) throw Error("test", "no layer " + std::string(name));
  return *found;
}

Layer& layer_of(Graph& graph, std::string_view name) {
  return const_cast<Layer&>(layer_named(graph, name));
}

double bytes_of(const Training& training, std::string_view name) {
  return total_bytes(
      count_layer(training.graph, layer_named(training.graph, name), default_weights()));
}

NetworkBuilder network() { return NetworkBuilder("test", {}); }

TEST(Training, GradientsOfASharedParameterAreSummed) {
  NetworkBuilder net = network();
  const Operand x = net.input("x", {2, 8, 4, 4});
  const ConvolutionOptions options{.kernel = 1};
  const ConvolutionWeights shared = net.conv_weights("conv", 8, 8, options);
  net.output(net.conv("two", net.conv("one", x, shared, options), shared, options));
  const Training training = train(net.finish(), {});
  EXPECT_EQ(bytes_of(training, "one.sum"), 3 * 4 * 64);  // two reads, one write
  EXPECT_EQ(layer_named(training.graph, "one.sum").pass, Pass::backward_weights);
}

TEST(Training, AProductReadsItsOtherFactor) {
  NetworkBuilder net = network();
  const Operand x = net.conv("conv", net.input("x", {1, 8, 4, 4}), 8, {});
  const Operand gate = net.global_average_pool("pool", x);
  net.output(net.multiply("mul", x, gate));
  const Training training = train(net.finish(), {});
  const double image = 4 * 8 * 16, vector = 4 * 8;
  EXPECT_EQ(bytes_of(training, "mul.dx1"), image + vector + image);  // dy, gate, dx
  EXPECT_EQ(bytes_of(training, "mul.dx2"), image + image + image);   // dy, x, dx before its sum
  EXPECT_EQ(bytes_of(training, "mul.dx2.sum"), image + vector);
}

TEST(Training, APartOfATensorHasAGradientOfTheWhole) {
  NetworkBuilder net = network();
  const Operand x = net.linear("linear", net.input("x", {4, 8}), 24, false);
  const auto parts = net.split("split", x, {8, 8, 8}, 1);
  net.output(net.relu("relu", net.add("add", parts[0], parts[2])));
  const Training training = train(net.finish(), {});
  const double part = 4 * 4 * 8;
  EXPECT_EQ(bytes_of(training, "linear.dw"), 3 * part + 4 * 4 * 8 + 4 * 8 * 24);  // dy, x, dw
}

TEST(Training, PartsOfAConcatenationAreTakenFromItsGradient) {
  NetworkBuilder net = network();
  const Operand x = net.input("x", {1, 8, 4, 4});
  const Operand both = net.concat("cat", {net.conv("a", x, 8, {}), net.conv("b", x, 8, {})}, 1);
  net.output(net.relu("relu", both));
  const Training training = train(net.finish(), {});
  EXPECT_EQ(bytes_of(training, "cat.dx"), 0);
  EXPECT_EQ(kernel_launches(layer_named(training.graph, "cat.dx"), Runtime::torch_eager), 0);
}

TEST(Training, ASquareNeedsItsOperandAndAScaleDoesNot) {
  for (const bool squares : {false, true}) {
    NetworkBuilder net = network();
    const Operand x = net.linear("linear", net.input("x", {4, 8}), 8, false);
    net.output(squares ? net.activation("f", x, Function::multiply) : net.scale("f", x));
    const Training training = train(net.finish(), {});
    EXPECT_EQ(bytes_of(training, "f.dx"), 2 * 128 + (squares ? 128 : 4)) << squares;
  }
}

TEST(Training, ASumOfGradientsIsWrittenOverOneOfThem) {
  NetworkBuilder net = network();
  const Operand x = net.relu("first", net.linear("linear", net.input("x", {1024, 8}), 8, false));
  net.output(net.add("add", net.relu("a", x), net.relu("b", x)));
  const RunMemory memory = train(net.finish(), {}).memory;
  const double tensor = 4 * 1024 * 8;
  EXPECT_EQ(memory.saved, 4 * tensor);  // x, and the results of three activations
  EXPECT_EQ(memory.activations, 4 * tensor);
  // Peak: the gradients of the sum and one branch, or of both branches.
  EXPECT_EQ(memory.transient, 2 * tensor);
}

TEST(Training, FrozenNormalisationsTakeNoStatistics) {
  const Training training = trained("resnet18", {.freeze_until = "layer3"});
  for (const Layer& layer : training.graph.layers)
    if (layer.pass == Pass::forward && layer.origin == "BatchNormalization") {
      EXPECT_EQ(std::get<Normalize>(layer.parts.front().op).training,
                layer.name.starts_with("layer4"))
          << layer.name;
    }
}

TEST(Training, FrozenLayersCostTheirForwardPassOnly) {
  const Training all = trained("resnet50");
  const Training head = trained("resnet50", {.freeze_until = "layer4"});
  const auto passes = passes_of(head.graph);
  EXPECT_EQ(passes.at(Pass::backward_weights).macs, 2'048'000);  // the last product
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

TEST(Training, WhatNoGradientGoesThroughIsNotComputedAgain) {
  const Training training = trained("resnet50", {.checkpoint = true, .freeze_until = "layer3"});
  const auto passes = passes_of(training.graph);
  EXPECT_GT(passes.at(Pass::recompute).macs, 0);
  EXPECT_LT(passes.at(Pass::recompute).macs, 0.25 * passes.at(Pass::forward).macs);
  EXPECT_FALSE(passes_of(trained("resnet50", {.checkpoint = true, .freeze_until = "layer4"}).graph)
                   .contains(Pass::recompute));
}

TEST(Training, CheckpointsLeaveTheForwardPassAsFused) {
  const auto forward_kernels = [](bool checkpoint) {
    const Graph step =
        fuse(trained("resnet18", {.checkpoint = checkpoint}).graph, Runtime::torch_compiled);
    return std::count_if(step.layers.begin(), step.layers.end(),
                         [](const Layer& layer) { return layer.pass == Pass::forward; });
  };
  EXPECT_LE(forward_kernels(true), forward_kernels(false));
}

TEST(Training, NothingIsLearnedFromStates) {
  const Training training = trained("gpt2");
  // Attention is the only reader of keys and values: the cache has no gradient.
  for (const Layer& layer : training.graph.layers)
    EXPECT_FALSE(layer.name.ends_with("attn.split.sum")) << layer.name;
}

TEST(Training, AParameterThatIsTransposedBeforehandLearns) {
  NetworkBuilder net = network();
  const Operand x = net.input("x", {4, 8});
  const Operand weight = net.parameter("weight", {16, 8});
  const Operand turned = net.transpose("transpose", weight, {8, 16});
  net.output(net.matmul("matmul", x, turned));
  Graph graph = net.finish();
  layer_of(graph, "transpose").standing = Standing::folded;
  graph.tensors[turned.id].role = Role::weight;
  const Training training = train(graph, {});
  EXPECT_EQ(layer_named(training.graph, "weight.update").inputs.front(), weight.id);
  EXPECT_EQ(training.unreached, 0);
}

TEST(Training, WhatNoGradientGetsToIsCounted) {
  NetworkBuilder net = network();
  const Operand x = net.input("x", {4, 8});
  net.linear("unused", x, 8, false);
  const Operand y = net.linear("used", x, 8, false);
  net.output(y);
  EXPECT_EQ(train(net.finish(), {}).unreached, 64);
  NetworkBuilder nothing = network();
  nothing.output(nothing.cast("cast", nothing.linear("linear", nothing.input("x", {4, 8}), 8),
                              ElementType::int64));
  EXPECT_THROW(train(nothing.finish(), {}), Error);
}

// Batch normalisation that an exporter folded: by the bias that it left (legacy), by the module of
// the convolution (dynamo).
TEST(Training, FoldedNormalisationsAreFound) {
  const auto folded = [](const char* bias, const char* scopes) {
    testing::OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {1, 3, 8, 8}).output("y");
    model.initializer("conv1.weight", ElementType::fp32, {4, 3, 3, 3});
    if (bias != nullptr) model.initializer(bias, ElementType::fp32, {4});
    auto inputs = std::vector<std::string>{"x", "conv1.weight"};
    if (bias != nullptr) inputs.emplace_back(bias);
    testing::NodeBuilder& node = model.node("Conv", inputs, {"y"});
    if (scopes != nullptr) node.metadata("pkg.torch.onnx.name_scopes", scopes);
    return train(testing::imported(model).graph, {}).folded_norms;
  };
  EXPECT_EQ(folded("onnx::Conv_193", nullptr), 1U);
  EXPECT_EQ(folded("conv1.bias", nullptr), 0U);
  EXPECT_EQ(folded("conv1.bias", "['', 'conv1', 'conv2d']"), 0U);
  EXPECT_EQ(folded(nullptr, "['', 'bn1', '_native_batch_norm_legit_no_training']"), 1U);
}

TEST(Training, ASummaryHoldsWorkMemoryAndOptions) {
  TrainingOptions options;
  options.mixed_precision = true;
  const Training training = train(build_workload("resnet18"), options);
  const TrainingSummary summary = summarize(training, options, default_weights());
  EXPECT_TRUE(summary.options.mixed_precision);
  EXPECT_EQ(summary.memory.peak(), training.memory.peak());
  EXPECT_GT(summary.memory.saved, 0);
  EXPECT_EQ(summary.memory.saved, training.memory.saved);
  for (const auto& [pass, work] : passes_of(training.graph))
    EXPECT_EQ(summary.passes.at(pass).macs, work.macs);
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

// C = A B with A of 8x16 and B of 16x4: the gradient of each operand is a product as large as it.
TEST(Training, EachOperandHasAGradientOfItsSize) {
  testing::OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {8, 8}).input("y", ElementType::fp32, {16, 8});
  model.initializer("v", ElementType::fp32, {8, 16});
  model.initializer("w", ElementType::fp32, {8, 4});
  model.node("MatMul", {"x", "v"}, {"a"}).name("a");
  model.node("MatMul", {"y", "w"}, {"b"}).name("b");
  model.node("MatMul", {"a", "b"}, {"c"}).name("product");
  model.output("c");
  const Training training = train(testing::imported(model).graph, {});
  std::map<std::int64_t, std::int64_t> inner_of_size;
  for (const Layer& layer : training.graph.layers) {
    if (!layer.name.starts_with("product") || layer.pass == Pass::forward) continue;
    ASSERT_EQ(layer.parts.size(), 1u) << layer.name;
    const MatMul& gradient = std::get<MatMul>(layer.parts.front().op);
    inner_of_size[gradient.m * gradient.n] = gradient.k;
  }
  EXPECT_EQ(inner_of_size, (std::map<std::int64_t, std::int64_t>{{8 * 16, 4}, {16 * 4, 8}}));
}

// Every summand of a sum has the gradient of the sum; those of a mean are divided.
TEST(Training, TheGradientOfASumIsTheSameForAllSummands) {
  const auto backward_flop = [](const char* reduction) {
    testing::OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {8, 8});
    model.initializer("w", ElementType::fp32, {8, 16});
    model.integers("axes", {1});
    model.node("MatMul", {"x", "w"}, {"a"});
    if (std::string_view(reduction) == "ReduceSum")
      model.node(reduction, {"a", "axes"}, {"y"}).name("reduce");
    else
      model.node(reduction, {"a"}, {"y"}).name("reduce").attribute("axes", {1});
    model.output("y");
    const Training training = train(testing::imported(model).graph, {});
    double flop = 0;
    for (const Layer& layer : training.graph.layers)
      if (layer.name.starts_with("reduce") && layer.pass != Pass::forward)
        flop += total_flop(count_layer(training.graph, layer, default_weights()));
    return flop;
  };
  EXPECT_EQ(backward_flop("ReduceSum"), 0);
  EXPECT_EQ(backward_flop("ReduceMean"), 8 * 16);
}

}  // namespace
}  // namespace ridgeline
