// The rewriting knows nothing of the reader: it works on the JSON alone.
#include "tests/analyzer/tensorrt/toy.h"

#include <map>

#include "base/json.h"
#include "base/text_file.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

// "Channel major FP16 format …" → "Half".
std::string data_type_in(const std::string& phrase) {
  const std::map<std::string, std::string> words{
      {"FP32", "Float"},  {"FP16", "Half"},   {"Int8", "Int8"}, {"Int32", "Int32"},
      {"Int64", "Int64"}, {"Float", "Float"}, {"Half", "Half"}};
  for (const auto& [word, type] : words)
    if (phrase.find(word) != std::string::npos) return type;
  return "None";
}

void split_formats(Json& tensors) {
  for (Json& tensor : tensors) {
    const std::string phrase = tensor.at("Format/Datatype").get<std::string>();
    tensor.erase("Format/Datatype");
    tensor["Format"] = phrase;
    tensor["DataType"] = data_type_in(phrase);
  }
}

}  // namespace

std::string toy_text() { return read_text_file(source_file("tests/data/tensorrt/toy.graph.json")); }

tensorrt::Engine toy_engine() { return tensorrt::read_engine(toy_text(), "toy.graph.json"); }

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

std::string as_eleven(const std::string& ten) {
  Json document = parse_json(ten, "ten");
  Json io = Json::array();
  std::map<std::string, Json> uses;
  std::map<std::string, bool> written;
  for (Json& layer : document.at("Layers")) {
    for (const char* key : {"Inputs", "Outputs"}) {
      for (const Json& tensor : layer.at(key)) {
        const std::string name = tensor.at("Name").get<std::string>();
        uses.emplace(name, tensor);
        if (std::string(key) == "Outputs") written[name] = true;
      }
      split_formats(layer.at(key));
    }
  }
  for (const Json& binding : document.at("Bindings")) {
    const std::string name = binding.get<std::string>();
    const Json& use = uses.at(name);
    const std::string phrase = use.at("Format/Datatype").get<std::string>();
    const Json shape = use.at("Dimensions");
    io.push_back({{"Name", name},
                  {"IOMode", written.contains(name) ? "Output" : "Input"},
                  {"DataType", data_type_in(phrase)},
                  {"Dimensions", shape},
                  {"Location", "Device"},
                  {"IsShapeInferenceIO", false},
                  {"ProfileInfo", Json::array({Json{{"MinShape", shape},
                                                    {"OptShape", shape},
                                                    {"MaxShape", shape},
                                                    {"Format", phrase + " (kLINEAR)"}}})}});
  }
  document.erase("Bindings");
  document["I/O Tensors"] = io;
  return document.dump();
}

}  // namespace ridgeline::testing
