// The rewriting knows nothing of the reader: it works on the JSON alone.
#include "tests/analyzer/tensorrt/toy.h"

#include <map>

#include "base/json.h"
#include "base/text_file.h"
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

// The keys of a tensor as NVIDIA's own report of TensorRT 11.1 lists them
// (.agents/skills/trt-perf-analysis/schemas/analyze-data.schema.json): Datatype, Format, Strides.
void split_formats(Json& tensors) {
  for (Json& tensor : tensors) {
    const std::string phrase = tensor.at("Format/Datatype").get<std::string>();
    tensor.erase("Format/Datatype");
    tensor["Format"] = phrase;
    tensor["Datatype"] = data_type_in(phrase);
  }
}

}  // namespace

std::string toy_text() { return read_text_file(source_file("tests/data/tensorrt/toy.graph.json")); }

std::string engine_bytes(const std::string& content, const char* version) {
  return std::string("ftrt\0\0\0\0", 8) + std::string(16, 'x') + std::string(version, 4) + content;
}

tensorrt::Engine toy_engine() { return tensorrt::read_engine(toy_text(), "toy.graph.json"); }

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
  return Json{{"ProfilingVerbosity", "DETAILED"},
              {"Layers", document.at("Layers")},
              {"I/O Tensors", io},
              {"Engine Metadata", Json{{"Multi-Device", "Disabled"}}}}
      .dump();
}

}  // namespace ridgeline::testing
