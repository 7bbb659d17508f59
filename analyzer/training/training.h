// Training: from a forward Graph to one step of training: forward, gradients of activations and of
// weights, optimizer. The result is a Graph again, so counting, fusion and lowering apply to it.
// The loss itself is not part of it: gradients start at the graph's outputs.
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
  bool checkpoint = false;        // keep √n of the activations, compute the others again
  std::string freeze_until = {};  // parameters of layers up to this one do not learn
};

struct Training {
  Graph graph;  // Layer::pass says what each layer is for
  TrainingMemory memory;
  std::vector<std::string> without_gradient;  // layers whose Op has no gradient rule
  double unreached = 0;  // parameters that could learn and that no gradient gets to
};

// Throws Error where nothing can learn: integer weights only, everything frozen, no such layer.
Training train(const Graph& forward, const TrainingOptions& options);

}  // namespace ridgeline
