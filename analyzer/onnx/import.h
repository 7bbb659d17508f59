// From an ONNX file to a Graph: binds free dimensions, infers shapes, translates nodes into Ops.
// The folder's only public interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/frontend.h"
#include "analyzer/graph/graph.h"
#include "analyzer/onnx/model_file.h"

namespace ridgeline::onnx {

using ridgeline::Branch;
using ImportOptions = ReadOptions;

struct Import {
  Graph graph;
  std::vector<std::string> warnings;
  std::int64_t ir_version = 0;
  std::string producer;
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  std::optional<std::int64_t> batch;  // of the first input that has one, as counted
};

// Throws Error; if a size is missing, with exit code `incomplete` and the name of the symbol or
// input.
Import import_graph(const ModelFile& file, const ImportOptions& options);

}  // namespace ridgeline::onnx
