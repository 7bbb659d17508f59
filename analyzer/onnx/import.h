// From an ONNX file to a Graph: binds free dimensions, infers shapes, translates nodes into Ops.
// The only door of this folder; everything else in it is behind this.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/onnx/model_file.h"

namespace ridgeline::onnx {

enum class Branch { larger, then_branch, else_branch };

struct ImportOptions {
  std::optional<std::int64_t> batch = {};          // dimension 0 of the inputs
  std::map<std::string, std::int64_t> dims = {};   // symbol → size
  std::map<std::string, Shape> shapes = {};        // input → shape
  std::optional<std::int64_t> assumed_dim = {};    // every dimension that is still free
  Branch branch = Branch::larger;                  // of an If whose condition depends on data
  std::map<std::string, std::int64_t> trips = {};  // loop node → trips; "" for all others
  bool absorb_quantization = true;                 // else every step is a layer of its own
};

struct Import {
  Graph graph;
  std::vector<std::string> warnings;
  std::int64_t ir_version = 0;
  std::string producer;
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  std::optional<std::int64_t> batch;  // dimension 0 of the first input, as counted
};

// Throws Error; exit code `incomplete`, naming the symbol or input, where a size is missing.
Import import_graph(const ModelFile& file, const ImportOptions& options);

}  // namespace ridgeline::onnx
