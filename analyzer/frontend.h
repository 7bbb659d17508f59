// Front ends: the file formats that a network can be read from, one row per format. A row
// recognises a file by its first bytes and reads it as a Graph, or as the kernels that a runtime
// has already chosen, if the file lists those.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/graph/graph.h"
#include "analyzer/graph/operator_description.h"
#include "analyzer/kernel_times.h"
#include "base/demand.h"
#include "base/runtime.h"

namespace ridgeline {

enum class Branch { larger, then_branch, else_branch };

// Options for reading a file: sizes that it leaves free, and control flow that depends on data.
struct ReadOptions {
  std::optional<std::int64_t> batch = {};  // of all inputs that have one
  // Input → dimension that is the batch; nothing: it has none. For all others it is found out.
  std::map<std::string, std::optional<std::int64_t>> batch_axes = {};
  std::map<std::string, std::vector<double>> values = {};  // input → elements, if shapes need them
  std::map<std::string, std::int64_t> dims = {};           // symbol → size
  std::map<std::string, Shape> shapes = {};                // input → shape; "" for the only input
  std::optional<std::int64_t> assumed_dim = {};            // every dimension that is still free
  Branch branch = Branch::larger;                   // of an If whose condition depends on data
  std::map<std::string, std::int64_t> trips = {};   // loop node → trips; "" for all others
  std::vector<OperatorDescription> operators = {};  // of an ONNX file, instead of built-in rules
  bool absorb_quantization = true;                  // otherwise every step is a layer of its own
  // Of a file that lists kernels: the ONNX file that they came from, files with their measured
  // times, and the optimisation profile.
  std::string onnx = {};
  std::vector<std::string> times = {};
  std::optional<int> opt_profile = {};
  bool runs_engines = true;  // an engine file is timed by trtexec, if that is here
};

// Origin of a network; fields that a format lacks are absent.
struct ModelSource {
  std::string path;      // or name
  std::string format;    // of a row below, or "workload"
  std::string producer;  // program that wrote it; may be empty
  std::optional<std::int64_t> ir_version;
  std::vector<std::pair<std::string, std::int64_t>> opsets;  // domain ("" is ai.onnx), version
  std::uint64_t file_bytes = 0;
  // Options of a built-in network: {"phase", "decode"}, {"context", "2048"} …
  std::vector<std::pair<std::string, std::string>> options = {};
};

// How many nodes of an ONNX file were found in the kernels of a runtime, and by what.
struct NodeMapping {
  std::string path;  // of the ONNX file
  std::size_t all_nodes = 0;
  std::size_t by_metadata = 0, by_name = 0, by_tensor = 0;
  std::size_t folded = 0;  // computed when the engine was built: no kernel runs them
  double flop = 0;         // of all nodes, integer operations included
  double mapped_flop = 0;  // of those in a kernel

  friend bool operator==(const NodeMapping&, const NodeMapping&) = default;
};

// "52 of 60 ONNX nodes run in kernels (99.8 % of the FLOP; …), 8 are folded at build time".
std::string to_text(const NodeMapping& mapping);

struct ChosenKernels {
  Runtime runtime = Runtime::tensorrt;
  std::vector<Demand> demands = {};
  // The same kernels as layers, in the order of the file and with those that do nothing; the work
  // of each, and the layer of each Demand.
  Graph graph = {};
  std::vector<LayerCount> counts = {};
  std::vector<std::size_t> demand_layers = {};
  std::vector<bool> fewer_products = {};  // per layer: multiplies less than is counted (Winograd)
  std::optional<KernelTimes> times = {};
  std::optional<NodeMapping> mapping = {};
};

struct Network {
  std::variant<Graph, ChosenKernels> content;
  ModelSource source;
  std::optional<std::int64_t> batch;  // of the first input that has one, as counted
  std::vector<std::string> warnings;

  // Its layers; an Error if the file lists kernels instead.
  Graph& graph();
};

struct FrontEnd {
  std::string_view format;     // as in --json: "onnx"
  std::string_view extension;  // the usual one of its files: ".onnx"
  std::string_view title;      // in messages: "an ONNX file"
  // Whether a file that begins like this is of this format. ONNX is plain protobuf without a magic
  // number: its row comes last and takes whatever no other row recognises.
  bool (*recognizes)(const std::string& path, std::string_view beginning);
  Network (*read)(const std::string& path, const ReadOptions& options);
  std::optional<Runtime> runtime = {};  // whose kernels its files list; absent: layers
};

std::span<const FrontEnd> front_ends();

// Reads with the row that recognises the file. A missing file is an Error that suggests the nearest
// name.
Network read_network(const std::string& path, const ReadOptions& options);

// The runtime whose kernels the file lists; nothing if it holds layers or cannot be read.
std::optional<Runtime> listed_runtime(const std::string& path);

// Whether a word must be meant as a path: it contains the extension of a format.
bool has_model_extension(std::string_view word);

}  // namespace ridgeline
