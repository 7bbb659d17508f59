// Quantised tensors between layers, against engines that TensorRT built: a ResNet-18 with
// quantisers as pytorch-quantization exports it, node numbers included, must become the kernels of
// NVIDIA's own engines (Engine Explorer, A100). Then single patterns, and what must stay as it is.
#include "analyzer/fusion/quantized_tensors.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/lowering/lowering.h"
#include "base/json.h"
#include "tests/analyzer/lowered.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

// Counts nodes as torch's exporter does, constants included.
class QuantizedResnet {
 public:
  explicit QuantizedResnet(bool quantized_residuals) : quantized_residuals_(quantized_residuals) {
    model_.opset(13).input("x", ElementType::fp32, {1, 3, 224, 224}).output("y");
    model_.initializer("s", ElementType::fp32, {}).zeros();
    model_.initializer("z", ElementType::int8, {}).zeros();
    std::string x = node("Relu", {convolution("x", 3, 64, 7, 2)});
    x = node("MaxPool", {x}, [](NodeBuilder& pool) {
      pool.attribute("kernel_shape", {3, 3})
          .attribute("strides", {2, 2})
          .attribute("pads", {1, 1, 1, 1});
    });
    int channels = 64;
    for (const int stage : {64, 128, 256, 512})
      for (const bool first : {true, false}) {
        x = block(x, channels, stage, first && stage > 64 ? 2 : 1);
        channels = stage;
      }
    x = node("Flatten", {node("GlobalAveragePool", {x})});
    const std::string input = quantized(x);
    const std::string weights = quantized_weights({1000, 512});
    model_.initializer("bias", ElementType::fp32, {1000});
    model_.node("Gemm", {input, weights, "bias"}, {"y"}).name(named("Gemm")).attribute("transB", 1);
  }

  Graph graph() const { return imported(model_).graph; }

 private:
  std::string named(const std::string& op) { return op + "_" + std::to_string(next_++); }

  std::string node(const std::string& op, std::vector<std::string> inputs,
                   void (*attributes)(NodeBuilder&) = nullptr) {
    const std::string name = named(op);
    NodeBuilder& built = model_.node(op, inputs, {name + "_out"}).name(name);
    if (attributes != nullptr) attributes(built);
    return name + "_out";
  }

  std::string quantized(const std::string& x) {
    next_ += 2;  // two constants before each step
    const std::string inner = node("QuantizeLinear", {x, "s", "z"});
    next_ += 2;
    return node("DequantizeLinear", {inner, "s", "z"});
  }

  std::string quantized_weights(const std::vector<std::int64_t>& shape) {
    const std::string name = "w" + std::to_string(next_++);
    model_.initializer(name, ElementType::fp32, shape);
    return node("DequantizeLinear", {node("QuantizeLinear", {name, "s", "z"}), "s", "z"});
  }

  std::string convolution(const std::string& x, int in, int out, int kernel, int stride) {
    const std::string input = quantized(x);
    const std::string weights = quantized_weights({out, in, kernel, kernel});
    const std::string name = named("Conv"), result = name + "_out";
    const int pad = kernel / 2;
    model_.node("Conv", {input, weights}, {result})
        .name(name)
        .attribute("strides", {stride, stride})
        .attribute("pads", {pad, pad, pad, pad});
    std::vector<std::string> inputs{result};
    for (const char* part : {"scale", "shift", "mean", "variance"}) {
      inputs.push_back(name + part);
      model_.initializer(inputs.back(), ElementType::fp32, {out});
    }
    return node("BatchNormalization", inputs);
  }

  std::string block(const std::string& x, int in, int out, int stride) {
    const std::string hidden = node("Relu", {convolution(x, in, out, 3, stride)});
    const std::string sum = convolution(hidden, out, out, 3, 1);
    std::string residual = in == out ? x : convolution(x, in, out, 1, stride);
    if (quantized_residuals_) residual = quantized(residual);
    return node("Relu", {node("Add", {sum, residual})});
  }

  OnnxBuilder model_;
  bool quantized_residuals_;
  int next_ = 0;
};

bool is_step_name(const std::string& name) {
  return name.starts_with("DequantizeLinear") || name.starts_with("QuantizeLinear");
}

// "Conv_34 Add_42: 8 8 -> 8": the layers that tell kernels apart, and bits of activations (float:
// 32 or 16, which TensorRT chooses). Steps are named only if nothing else is in the kernel.
std::string kernel_text(std::vector<std::string> names, const std::vector<bool>& reads_int8,
                        bool writes_int8) {
  const bool has_others = !std::all_of(names.begin(), names.end(), is_step_name);
  std::string text;
  for (const std::string& name : names)
    if ((!is_step_name(name) || !has_others) && !name.starts_with("Relu") &&
        !name.starts_with("BatchNorm"))
      (text += text.empty() ? "" : " ") += name;
  text += ":";
  for (const bool int8 : reads_int8) text += int8 ? " 8" : " float";
  return text + " -> " + (writes_int8 ? "8" : "float");
}

std::vector<std::string> kernels_of(const Graph& graph) {
  std::vector<std::string> kernels;
  const Graph fused = fuse(graph, Runtime::tensorrt);
  for (const Layer& layer : fused.layers) {
    if (!runs(layer) || layer.outputs.empty() || is_view(layer)) continue;
    std::vector<bool> reads;
    for (const TensorId id : layer.inputs)
      if (fused.tensors[id].role != Role::weight)
        reads.push_back(bits(fused.tensors[id].type) == 8);
    kernels.push_back(kernel_text(layer.sources.empty() ? std::vector{layer.name} : layer.sources,
                                  reads, bits(fused.tensors[layer.outputs.front()].type) == 8));
  }
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

// What stands in the engine's own listing.
std::vector<std::string> kernels_of_engine(const std::string& path) {
  std::ifstream stream(path);
  const Json listing = Json::parse(stream);
  std::vector<std::string> kernels;
  for (const Json& layer : listing.at("Layers")) {
    std::string name = layer.at("Name");
    if (layer.at("LayerType") == "NoOp" || name.starts_with("Reformatting CopyNode")) continue;
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin < name.size();) {
      const std::size_t end = std::min(name.find(" + ", begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      if (part.find('_') != part.npos && part.find(' ') == part.npos && part.find('.') == part.npos)
        names.push_back(part);
      begin = end + 3;
    }
    const auto is_int8 = [](const Json& tensor) {
      return tensor.at("Format/Datatype").get<std::string>().find("Int8") != std::string::npos;
    };
    std::vector<bool> reads;
    for (const Json& tensor : layer.at("Inputs")) reads.push_back(is_int8(tensor));
    kernels.push_back(kernel_text(names, reads, is_int8(layer.at("Outputs").at(0))));
  }
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

std::string engine_path(const char* net) {
  const char* data = std::getenv("RIDGELINE_DATA");
  if (data == nullptr) return "";
  const std::string path = std::string(data) + "/trt/nvidia_trex_v11.0_tree/a100_pytorch_resnet/" +
                           net + "/resnet-" + net + ".onnx.engine.graph.json";
  return std::filesystem::exists(path) ? path : "";
}

// From the engine's listing: 16 + 3 convolutions in int8, sums in them, the image's convolution
// with its pool. The last sum has no quantiser after it, so its residual is dequantised apart.
TEST(QuantizedTensors, AResnetWithQuantisedResidualsRunsInInt8) {
  const auto kernels = kernels_of(QuantizedResnet(true).graph());
  EXPECT_EQ(kernels.size(), 25u);
  for (const char* wanted :
       {"QuantizeLinear_2: float -> 8", "Conv_9 MaxPool_12: 8 -> 8", "Conv_22: 8 -> 8",
        "Conv_34 Add_42: 8 8 -> 8", "Conv_107: 8 -> 8", "Conv_96 Add_115: 8 8 -> 8",
        "DequantizeLinear_291: 8 -> float", "Conv_284 Add_292: 8 float -> float",
        "GlobalAveragePool_294: float -> float", "QuantizeLinear_298: float -> 8",
        "Gemm_305: 8 -> float"})
    EXPECT_TRUE(std::binary_search(kernels.begin(), kernels.end(), wanted)) << wanted;
}

TEST(QuantizedTensors, KernelsAreThoseOfNvidiasEngine) {
  const std::string path = engine_path("qat-residual");
  if (path.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no engine qat-residual";
  EXPECT_EQ(kernels_of(QuantizedResnet(true).graph()), kernels_of_engine(path));
}

// Without quantised residuals, sums and the pool stay in floating point, and every convolution that
// reads one needs a quantise step of its own. TensorRT adds to the convolution of the shortcut, we
// add to the other one: the same work.
TEST(QuantizedTensors, KernelsAreThoseOfNvidiasEngineWithoutQuantisedResiduals) {
  const auto kernels = kernels_of(QuantizedResnet(false).graph());
  EXPECT_EQ(kernels.size(), 33u);
  const std::string path = engine_path("qat");
  if (path.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no engine qat";
  auto wanted = kernels_of_engine(path);
  EXPECT_EQ(kernels.size(), wanted.size());
  std::vector<std::string> ours, theirs;
  std::set_difference(kernels.begin(), kernels.end(), wanted.begin(), wanted.end(),
                      std::back_inserter(ours));
  std::set_difference(wanted.begin(), wanted.end(), kernels.begin(), kernels.end(),
                      std::back_inserter(theirs));
  EXPECT_EQ(ours.size(), 6u) << fmt::format("{}", fmt::join(ours, "\n"));
  EXPECT_EQ(theirs.size(), 6u) << fmt::format("{}", fmt::join(theirs, "\n"));  // three shortcuts
}

// x → Q → DQ → [node] → Q → DQ → y, as onnxruntime's quantiser writes it.
OnnxBuilder quantized_node(const std::string& op, const std::vector<std::int64_t>& shape) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {shape.begin(), shape.end()}).output("y");
  model.initializer("s", ElementType::fp32, {}).zeros();
  model.initializer("z", ElementType::int8, {}).zeros();
  model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"}).name("q_in");
  model.node("DequantizeLinear", {"xq", "s", "z"}, {"xd"}).name("dq_in");
  model.node(op, {"xd"}, {"m"}).name("node");
  model.node("QuantizeLinear", {"m", "s", "z"}, {"mq"}).name("q_out");
  model.node("DequantizeLinear", {"mq", "s", "z"}, {"y"}).name("dq_out");
  return model;
}

TEST(QuantizedTensors, AverageBetweenStepsIsTakenInIntegers) {
  const Graph graph = imported(quantized_node("GlobalAveragePool", {1, 8, 4, 4})).graph;
  for (const Runtime runtime : {Runtime::tensorrt, Runtime::onnxruntime}) {
    const auto demands = lower(graph, runtime);
    ASSERT_EQ(demands.size(), 3u) << to_string(runtime);
    EXPECT_EQ(demands[1].work.bytes_read, 8 * 4 * 4);
    EXPECT_EQ(demands[1].work.bytes_written, 8);
    EXPECT_EQ(total_flop(demands[1].work), 0);
  }
  // Eager torch runs every step.
  EXPECT_EQ(lower(graph, Runtime::torch_eager).size(), 5u);
}

// Two convolutions and a concatenation that is quantised afterwards: the convolutions write int8.
TEST(QuantizedTensors, StepsMoveAboveAConcatenation) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 8, 6, 6}).output("y");
  model.initializer("s", ElementType::fp32, {}).zeros();
  model.initializer("z", ElementType::int8, {}).zeros();
  model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"});
  model.node("DequantizeLinear", {"xq", "s", "z"}, {"xd"});
  for (const std::string side : {"a", "b"}) {
    model.initializer("w" + side, ElementType::int8, {16, 8, 1, 1});
    model.node("DequantizeLinear", {"w" + side, "s", "z"}, {"wd" + side});
    model.node("Conv", {"xd", "wd" + side}, {"c" + side}).name("conv_" + side);
    model.node("Relu", {"c" + side}, {"r" + side}).name("relu_" + side);
  }
  model.node("Concat", {"ra", "rb"}, {"m"}).name("concat").attribute("axis", 1);
  model.node("QuantizeLinear", {"m", "s", "z"}, {"mq"});
  model.node("DequantizeLinear", {"mq", "s", "z"}, {"y"});
  const Graph graph = imported(model).graph;
  const auto demands = lower(graph, Runtime::tensorrt);
  ASSERT_EQ(demands.size(), 5u);  // image, two convolutions, the copy, the result
  double written = 0;
  for (const Demand& demand : demands)
    if (demand.kind == KernelKind::convolution) written += demand.work.bytes_written;
  EXPECT_EQ(written, 2 * 16 * 6 * 6);
  EXPECT_EQ(demands[3].kind, KernelKind::copy);
  EXPECT_EQ(demands[3].work.bytes_written, 2 * 16 * 6 * 6);
}

// A step whose source something else reads in floating point stays where it is.
TEST(QuantizedTensors, AStepStaysIfItsSourceHasOtherReaders) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 8, 6, 6}).output("y").output("r");
  model.initializer("s", ElementType::fp32, {}).zeros();
  model.initializer("z", ElementType::int8, {}).zeros();
  model.node("Relu", {"x"}, {"r"}).name("relu");
  model.node("MaxPool", {"r"}, {"m"}).name("pool").attribute("kernel_shape", {2, 2});
  model.node("QuantizeLinear", {"m", "s", "z"}, {"mq"}).name("q");
  model.node("DequantizeLinear", {"mq", "s", "z"}, {"y"}).name("dq");
  const auto demands = lower(imported(model).graph, Runtime::tensorrt);
  ASSERT_EQ(demands.size(), 4u);
  EXPECT_EQ(demands[1].name, "pool");
  EXPECT_EQ(demands[1].work.bytes_read, 4 * 8 * 6 * 6);
}

TEST(QuantizedTensors, SavingsAddUp) {
  const Graph graph = QuantizedResnet(true).graph();
  const ItemizedFusion fusion = itemized_fusion(graph, Runtime::tensorrt);
  double before = 0, after = 0, saved = 0;
  for (const Layer& layer : graph.layers)
    if (runs(layer)) before += total_bytes(count_layer(graph, layer, default_weights()));
  for (const Layer& layer : fusion.graph.layers)
    if (runs(layer)) after += total_bytes(count_layer(fusion.graph, layer, default_weights()));
  for (const AppliedRule& rule : fusion.applied) saved += rule.bytes_saved;
  EXPECT_NEAR(before - after, saved, 1);
  EXPECT_GT(saved, 0);
}

// A pool moves bytes: it reads and writes quantised elements, and the step comes after it, on a
// quarter of them.
TEST(QuantizedTensors, APoolMovesQuantisedElements) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 8, 6, 6}).output("y");
  model.initializer("s", ElementType::fp32, {}).zeros();
  model.initializer("z", ElementType::int8, {}).zeros();
  model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"}).name("q");
  model.node("DequantizeLinear", {"xq", "s", "z"}, {"xd"}).name("dq");
  model.node("MaxPool", {"xd"}, {"m"})
      .name("pool")
      .attribute("kernel_shape", {2, 2})
      .attribute("strides", {2, 2});
  model.node("Erf", {"m"}, {"y"}).name("erf");
  const auto demands = lower(imported(model).graph, Runtime::tensorrt);
  ASSERT_EQ(demands.size(), 3u);
  EXPECT_EQ(demands[0].name, "q");
  EXPECT_EQ(demands[1].name, "pool");
  EXPECT_EQ(demands[1].work.bytes_read, 8 * 6 * 6);
  EXPECT_EQ(demands[1].work.bytes_written, 8 * 3 * 3);
  EXPECT_EQ(demands[2].work.bytes_read - demands[2].work.weight_bytes_read, 8 * 3 * 3);
  EXPECT_EQ(demands[2].work.bytes_written, 4 * 8 * 3 * 3);
}

}  // namespace
}  // namespace ridgeline::testing
