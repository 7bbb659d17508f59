// Cost of each function per element, and the other constants of counting: one table, which a user
// can override with a file (`analyze --weights FILE`). Sources are beside the rows in
// op_weights.cpp. Conventions differ between tools, so they are data.
#pragma once

#include <array>
#include <string>

#include "analyzer/graph/function.h"
#include "base/json_fwd.h"

namespace ridgeline {

struct ElementCost {
  double flop = 1;
  double transcendentals = 0;  // included in flop
};

struct OpWeights {
  std::array<ElementCost, TokenTable<Function>::rows.size()> functions;
  ElementCost softmax;             // per element
  double layer_norm = 0;           // per element, without the affine part; also group and instance
  double affine = 0;               // per element, if a normalisation scales and shifts
  double rms_norm = 0;             // per element, without its scale (half of an affine part)
  double batch_norm = 0;           // per element, evaluation
  double batch_norm_training = 0;  // per element
  // Per output element, by number of axes (0 … 3); each further axis doubles (linear) or quadruples
  // (cubic) it.
  std::array<double, 4> resize_linear{};
  std::array<double, 4> resize_cubic{};
  double deformable_tap = 0;  // interpolation of one sampled tap

  const ElementCost& of(Function function) const {
    return functions[static_cast<std::size_t>(function)];
  }
};

const OpWeights& default_weights();

// The default table with the entries of a document replaced (`ridgeline.op_weights/1`); an unknown
// name is an Error.
OpWeights weights_from_json(const JsonCursor& document);
OpWeights weights_from_file(const std::string& path);
Json to_json(const OpWeights& weights);

}  // namespace ridgeline
