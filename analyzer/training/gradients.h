// Gradients of Ops: the arithmetic of a backward step and what it reads of the forward one.
// One rule per kind of Op; backward.cpp puts the tensors around them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/op.h"

namespace ridgeline {

// What the gradient of an activation reads beside the one that comes in, as bits.
namespace reads {
inline constexpr unsigned inputs = 1 << 0;  // activations
inline constexpr unsigned weights = 1 << 1;
inline constexpr unsigned conditions = 1 << 2;  // inputs that choose between others
inline constexpr unsigned outputs = 1 << 3;
inline constexpr unsigned kept = 1 << 4;   // what the forward pass keeps (see kept_for_gradient)
inline constexpr unsigned sizes = 1 << 5;  // of inputs, which PyTorch holds for that
}  // namespace reads

struct Gradient {
  bool known = true;
  // The gradient is the gradient of the output, unchanged: nothing is computed or moved.
  bool passes_through = false;
  // For activations: one entry for all of them, or one per input of the layer.
  std::vector<std::vector<Op>> data;
  unsigned data_reads = 0;
  // Of a product it reads the other factors: inputs before this one but for the activation itself.
  std::size_t factors = 0;
  std::vector<Op> weights;          // for parameters
  bool weights_read_inputs = true;  // else the incoming gradient alone
  bool joint = false;               // one kernel makes both kinds of gradient
};

// The inputs of a layer, as far as its gradient depends on them.
struct GradientInputs {
  std::size_t count = 0;
  std::size_t activations = 0;   // that are no weights
  bool weight_is_first = false;  // weights · activations, constant / activations
};
Gradient gradient_rule(const Op& op, const GradientInputs& inputs);

// What the forward pass of a training step writes for the gradient beside its result: the places of
// maxima, statistics, sums of rows.
struct KeptTensor {
  std::string_view name;
  std::optional<ElementType> type;  // that of the result where none is said
  Shape shape;
};
std::optional<KeptTensor> kept_for_gradient(const Op& op);

}  // namespace ridgeline
