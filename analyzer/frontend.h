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

#include "analyzer/graph/graph.h"
#include "base/demand.h"
#include "base/runtime.h"

namespace ridgeline {

enum class Branch { larger, then_branch, else_branch };

// Options for reading a file: sizes that it leaves free, and control flow that depends on data.
struct ReadOptions {
  std::optional<std::int64_t> batch = {};          // dimension 0 of the inputs
  std::map<std::string, std::int64_t> dims = {};   // symbol → size
  std::map<std::string, Shape> shapes = {};        // input → shape
  std::optional<std::int64_t> assumed_dim = {};    // every dimension that is still free
  Branch branch = Branch::larger;                  // of an If whose condition depends on data
  std::map<std::string, std::int64_t> trips = {};  // loop node → trips; "" for all others
  bool absorb_quantization = true;                 // otherwise every step is a layer of its own
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

struct ChosenKernels {
  Runtime runtime = Runtime::tensorrt;
  std::vector<Demand> demands;
};

struct Network {
  std::variant<Graph, ChosenKernels> content;
  ModelSource source;
  std::optional<std::int64_t> batch;  // dimension 0 of the first input, as counted
  std::vector<std::string> warnings;

  // Its layers; an Error if the file lists kernels instead.
  Graph& graph();
};

struct FrontEnd {
  std::string_view format;     // as in --json: "onnx"
  std::string_view extension;  // the usual one of its files: ".onnx"
  // Whether a file that begins like this is of this format. ONNX is plain protobuf without a magic
  // number: its row comes last and takes whatever no other row recognises.
  bool (*recognizes)(std::string_view beginning);
  Network (*read)(const std::string& path, const ReadOptions& options);
};

std::span<const FrontEnd> front_ends();

// Reads with the row that recognises the file. A missing file is an Error that suggests the nearest
// name.
Network read_network(const std::string& path, const ReadOptions& options);

// Whether a word must be meant as a path: it contains the extension of a format.
bool has_model_extension(std::string_view word);

}  // namespace ridgeline
