// The network of the toy engine, in a file of its own for the fuzz target.
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {

std::string toy_onnx(const std::string& suffix) {
  constexpr ElementType fp32 = ElementType::fp32;
  OnnxBuilder model;
  model.opset(17).input("image", fp32, {"batch", 3, 16, 16});
  model.initializer("stem.weight", fp32, {16, 3, 3, 3}).zeros();
  model.initializer("stem.bias", fp32, {16}).zeros();
  model.initializer("body.weight", fp32, {16, 16, 3, 3}).zeros();
  model.initializer("body.bias", fp32, {16}).zeros();
  model.initializer("fc.weight", fp32, {10, 16}).zeros();
  const auto node = [&](const char* op, const char* name, const std::vector<std::string>& inputs,
                        const char* output) -> NodeBuilder& {
    return model.node(op, inputs, {output}).name(name + suffix);
  };
  node("Conv", "stem/conv", {"image", "stem.weight", "stem.bias"}, "stem_conv")
      .attribute("pads", {1, 1, 1, 1});
  node("Relu", "stem/relu", {"stem_conv"}, "stem_out");
  node("Conv", "body/conv", {"stem_out", "body.weight", "body.bias"}, "body_conv")
      .attribute("pads", {1, 1, 1, 1});
  node("Add", "body/add", {"body_conv", "stem_out"}, "body_sum");
  node("Relu", "body/relu", {"body_sum"}, "body_out");
  node("GlobalAveragePool", "body/pool", {"body_out"}, "pooled");
  node("Flatten", "head/flatten", {"pooled"}, "flat");
  node("Gemm", "head/fc", {"flat", "fc.weight"}, "logits").attribute("transB", 1);
  node("Softmax", "head/softmax", {"logits"}, "scores").attribute("axis", -1);
  model.output("scores", fp32, {"batch", 10});
  return model.bytes();
}

}  // namespace ridgeline::testing
