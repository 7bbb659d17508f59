// Engine: the layers that TensorRT chose, as its inspector lists them: names, types, tensors with
// type and layout, parameters, tactic, and the ONNX nodes they came from. The file's own words;
// kernels.h turns them into work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/shape.h"
#include "analyzer/tensorrt/format.h"

namespace ridgeline::tensorrt {

struct EngineTensor {
  std::string name;
  Shape shape;  // −1 where dynamic
  Format format;
  std::string location;  // "Device", "Host"; empty before TensorRT 8.4 and inside Myelin

  friend bool operator==(const EngineTensor&, const EngineTensor&) = default;
};

// As it lies in memory, with padding; nothing if a size or the type is unknown.
std::optional<double> tensor_bytes(const EngineTensor& tensor);
bool is_dynamic(const EngineTensor& tensor);

struct StoredWeights {
  ElementType type = ElementType::unknown;
  std::int64_t count = 0;  // none if zero

  friend bool operator==(const StoredWeights&, const StoredWeights&) = default;
};

// Of a convolution or a pool, one entry per spatial axis.
struct Window {
  Shape size, stride, dilation, pre_padding, post_padding;

  friend bool operator==(const Window&, const Window&) = default;
};

struct EngineLayer {
  std::string name;
  std::string type;       // LayerType: "CaskConvolution", "gemm", "NoOp"
  std::string parameter;  // ParameterType: "Convolution"; empty if it has none
  std::vector<EngineTensor> inputs, outputs;
  int profile = 0;  // optimisation profile that it belongs to

  // Convolution, Deconvolution, ConvActPool; its window is also that of other layers with one.
  Window window;
  std::int64_t out_maps = 0, groups = 1;
  StoredWeights weights, bias;  // `weights` also of a Constant
  bool sparse_weights = false, residual = false;
  std::string activation;  // "RELU", "CLIPPED_RELU", "GENERIC"; empty for "NONE"
  // Pooling, ConvActPool.
  Window pool;
  std::string pooling;  // "MAX", "AVERAGE"
  // Other parameters.
  std::string operation;                // of ElementWise, Unary, Reduce: "SUM"
  std::vector<std::string> expression;  // of PointWise: one line per operation
  StoredWeights scale, shift, power;    // of Scale
  std::string plugin;                   // PluginType
  std::string origin;                   // of a Reformat: "REFORMAT", "QDQ"

  std::string tactic;        // its kernel, if the file names one; see tactic.h
  std::string tactic_value;  // "0x…"
  std::optional<int> stream;
  std::vector<std::string> onnx_nodes;  // of Metadata

  friend bool operator==(const EngineLayer&, const EngineLayer&) = default;
};

// Sizes that an optimisation profile allows for a tensor.
struct ShapeRange {
  Shape min, opt, max;

  friend bool operator==(const ShapeRange&, const ShapeRange&) = default;
};

// An input or output of the network. Before TensorRT 11 files name them only: the rest is then
// taken from the layer that reads or writes the tensor.
struct IoTensor {
  EngineTensor tensor;
  std::optional<bool> is_input;      // unknown if no layer touches it
  std::vector<ShapeRange> profiles;  // TensorRT 11; none before
  bool is_shape = false;             // holds sizes, not data

  friend bool operator==(const IoTensor&, const IoTensor&) = default;
};

// What the members of a file say about the TensorRT that wrote it.
enum class Era {
  v8_2,  // no Location
  v8_4,  // Location, but no StreamId or Metadata
  v8_6,  // both; up to 10.x
  v11    // I/O Tensors
};

struct Engine {
  std::string path;
  Era era = Era::v8_2;
  std::string version;              // "10.16.1", if a log states it
  std::string device;               // "NVIDIA H100 PCIe", likewise
  std::vector<EngineLayer> layers;  // of all optimisation profiles
  std::vector<IoTensor> io;
  int profiles = 1;

  friend bool operator==(const Engine&, const Engine&) = default;
};

// Reads what `trtexec --exportLayerInfo`, IEngineInspector (JSON of a whole engine or a stream of
// its layers) or a log with either printed. `path` is for messages. A list of names without
// parameters, two engines, and any other text are Errors that say what to do.
Engine read_engine(std::string_view text, const std::string& path);
Engine read_engine_file(const std::string& path);

// Takes the device and the version from a log of trtexec, if it names them.
void read_log_facts(Engine& engine, std::string_view log);

// Whether a file that begins like this may hold layer information: JSON or a TensorRT log.
bool looks_like_engine(std::string_view beginning);

// "TensorRT 8.4", "TensorRT 10.16.1": the version, or the earliest that writes such files.
std::string version_text(const Engine& engine);

// The name without the mark of an optimisation profile: "conv1 [profile 1]" is "conv1".
std::string without_profile(std::string_view name);

}  // namespace ridgeline::tensorrt

namespace ridgeline {

template <>
struct TokenTable<tensorrt::Era> {
  static constexpr std::string_view noun = "TensorRT era";
  static constexpr std::array<std::pair<tensorrt::Era, std::string_view>, 4> rows{
      {{tensorrt::Era::v8_2, "8.2"},
       {tensorrt::Era::v8_4, "8.4"},
       {tensorrt::Era::v8_6, "8.6"},
       {tensorrt::Era::v11, "11"}}};
};

}  // namespace ridgeline
