// Bindings: which number stands for each free dimension of a model's inputs, and who said so.
// A missing size is an Error that names it; it is never taken as 1.
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
  std::int64_t in_file = 0;  // 1 where the file leaves it free
  std::int64_t now = 0;
  bool was_free = false;  // the file leaves it open
};

struct BoundInput {
  const ValueInfo* info = nullptr;
  std::optional<Shape> shape;  // absent: no tensor, or an unknown rank that nothing needs
  ShapeSource source = ShapeSource::fixed;
};

struct Bindings {
  std::vector<BoundInput> inputs;  // without those that are initializers
  std::map<std::string, std::pair<std::int64_t, ShapeSource>, std::less<>> symbols;
  std::optional<std::int64_t> assumed;
  std::optional<BatchChange> batch_change;
  std::optional<std::int64_t> batch;  // dimension 0 of the first input that has one
  bool overrides_file = false;        // --shape gave another size than the one that the file fixes

  // A shape that the file declares, with symbols put in and the batch changed as the user wants;
  // nothing where a size is free, or where the file speaks of other inputs than the user's.
  std::optional<Shape> resolve(const TypeProto& type) const;
};

// Throws Error: incomplete where sizes are missing (all of them in one line), usage where an option
// names an input or symbol that the model does not have.
Bindings bind_inputs(const GraphProto& graph, const ImportOptions& options,
                     const std::string& file);

}  // namespace ridgeline::onnx
