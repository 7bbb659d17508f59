// Bindings: the size of each free dimension of a model's inputs, and where it comes from. A missing
// size is an Error that names it; it never defaults to 1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/onnx/import.h"
#include "analyzer/onnx/model.h"

namespace ridgeline::onnx {

struct BatchChange {
  std::int64_t in_file = 0;  // 1 if the file leaves it free
  std::int64_t now = 0;
  bool was_free = false;  // the file leaves it free
};

struct BoundInput {
  const ValueInfo* info = nullptr;
  std::optional<Shape> shape;  // absent: not a tensor, or an unknown rank that is never needed
  ShapeSource source = ShapeSource::fixed;
  std::optional<std::size_t> batch_axis;           // changed by --batch
  std::optional<std::vector<double>> values = {};  // of --input
};

struct Bindings {
  std::vector<BoundInput> inputs;  // without initializers
  std::map<std::string, std::pair<std::int64_t, ShapeSource>, std::less<>> symbols;
  std::optional<std::int64_t> assumed;
  std::optional<BatchChange> batch_change;
  std::optional<std::int64_t> batch;  // of the first input that has one
  bool overrides_file = false;        // --shape contradicts a size that the file fixes

  // A declared shape with symbols substituted and the user's batch applied. Nothing if a size is
  // still free, or if --shape overrides the inputs that the file's shapes were declared for.
  std::optional<Shape> resolve(const TypeProto& type) const;
};

// Throws Error: incomplete if sizes are missing (all of them in one line), usage if an option names
// an input or symbol that the model lacks.
Bindings bind_inputs(const GraphProto& graph, const ImportOptions& options,
                     const std::string& file);

}  // namespace ridgeline::onnx
