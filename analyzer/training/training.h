// Training: turns a forward Graph into one training step: forward, gradients of activations and of
// weights, optimiser. The result is a Graph again, so counting, fusion and lowering apply to it.
// Without the loss: gradients start at the graph's outputs.
#pragma once

#include <string>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/training/memory.h"
#include "base/tokens.h"

namespace ridgeline {

enum class Optimizer { sgd, momentum, adam, adamw };

template <>
struct TokenTable<Optimizer> {
  static constexpr std::string_view noun = "optimizer";
  static constexpr std::array<std::pair<Optimizer, std::string_view>, 4> rows{
      {{Optimizer::sgd, "sgd"},
       {Optimizer::momentum, "momentum"},
       {Optimizer::adam, "adam"},
       {Optimizer::adamw, "adamw"}}};
};

struct TrainingOptions {
  Optimizer optimizer = Optimizer::sgd;
  bool mixed_precision = false;   // fp16 forward and backward, fp32 master weights and states
  bool checkpoint = false;        // keep √n of the activations, recompute the others
  std::string freeze_until = {};  // parameters of layers up to this one are frozen
};

struct Training {
  Graph graph;  // Layer::pass holds the purpose of each layer
  RunMemory memory;
  // Convolutions whose batch normalisation was folded into them at export, as far as names show.
  std::size_t folded_norms = 0;
  std::vector<std::string> without_gradient;  // layers whose Op has no gradient rule
  double unreached = 0;  // elements of trainable parameters that no gradient reaches
};

// Throws Error if a product has integer weights, no parameter is trainable or reached by a
// gradient, or the layer to freeze until does not exist.
Training train(const Graph& forward, const TrainingOptions& options);

}  // namespace ridgeline
