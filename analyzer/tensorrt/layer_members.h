// The members of a layer in the inspector's JSON: one row per key, which reads its value into an
// EngineLayer. Keys are matched without regard to case: TensorRT writes "Weights" and "weights".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/tensorrt/engine.h"
#include "base/json_scanner.h"

namespace ridgeline::tensorrt {

// What the keys of a file say about the TensorRT that wrote it.
struct SeenKeys {
  bool location = false;         // 8.4
  bool stream_or_nodes = false;  // 8.6
  bool split_format = false;     // 11: Format and DataType instead of Format/Datatype
  bool times = false;            // of a profile, which has no layers
};

class LayerReader {
 public:
  // Reads the value of `key` if it is one of a layer; otherwise skips it and returns false.
  bool member(JsonScanner& scanner, std::string_view key, EngineLayer& layer);

  // After the last member. The plain stride and padding of a pool are read as those of a window.
  static void finish(EngineLayer& layer);

  EngineLayer layer(JsonScanner& scanner);
  EngineTensor tensor(JsonScanner& scanner);
  Format format(std::string_view phrase);

  const SeenKeys& seen() const { return seen_; }
  SeenKeys& seen() { return seen_; }

 private:
  SeenKeys seen_;
  std::map<std::string, Format, std::less<>> formats_;  // a file repeats a few phrases
};

// −1 stands for a dynamic size; anything else below zero is an Error.
Shape read_shape(JsonScanner& scanner);

// "[ONNX Layer: a]\x1e[ONNX Layer: b]" → a, b. Names may hold brackets themselves.
std::vector<std::string> onnx_nodes_in(std::string_view metadata);

}  // namespace ridgeline::tensorrt
