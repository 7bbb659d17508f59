// Engine files (.engine, .plan): their layers and times as the text that trtexec exports, so that
// an engine file and an exported JSON go the same way. The file's own format is NVIDIA's secret:
// only trtexec or libnvinfer of the version and GPU that built it can open it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::tensorrt {

// Whether a file that begins like this holds an engine: TensorRT's tag comes first, or after the
// length and the JSON object that Ultralytics' exporter writes before it.
bool is_engine_file(std::string_view beginning);
bool holds_engine(const std::string& path);  // false for a pipe, which can be read only once

// The version that built it, "10.3.0.26"; absent before TensorRT 8.6.
std::optional<std::string> engine_version(std::string_view beginning);

// The engine alone, without a description before it. An Error if the file holds none.
std::string engine_in_file(const std::string& path);

// What can open engine files here.
struct EngineTools {
  std::vector<std::string> trtexec;  // paths to try in this order
  double limit_s = 600;              // for one run of it; large engines load for minutes
  std::string library;               // of libnvinfer; empty: the one that ridgeline was built for
};

// RIDGELINE_TRTEXEC (empty: none), then PATH, then the folder where JetPack and NVIDIA's packages
// put it. RIDGELINE_NVINFER_LIBRARY names another library.
EngineTools engine_tools_here();

using InputShapes = std::map<std::string, std::vector<std::int64_t>>;

struct ExportedEngine {
  std::string layers;   // JSON of --exportLayerInfo
  std::string profile;  // JSON of --exportProfile; empty if the library had to do
  std::string log;      // of trtexec: device, clocks, version
  std::string tool;     // "trtexec (/usr/src/tensorrt/bin/trtexec)"
};

// Runs the engine for about three seconds if trtexec is here. `shapes`: of inputs that the engine
// leaves free; otherwise its tools choose. `profile`: the optimisation profile. An Error says why
// the engine cannot be opened here, and how to get its layers elsewhere.
ExportedEngine export_engine(const std::string& path, const InputShapes& shapes, int profile,
                             const EngineTools& tools);

}  // namespace ridgeline::tensorrt
