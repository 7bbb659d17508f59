// Gradients of Ops: the arithmetic of a backward step, and what it reads from the forward pass. One
// rule per kind of Op; backward.cpp connects them to tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/op.h"

namespace ridgeline {

// What the gradient of an activation reads besides the incoming gradient, as bits.
namespace reads {
inline constexpr unsigned inputs = 1 << 0;  // activations
inline constexpr unsigned weights = 1 << 1;
inline constexpr unsigned conditions = 1 << 2;  // inputs that select among others
inline constexpr unsigned outputs = 1 << 3;
inline constexpr unsigned kept = 1 << 4;   // saved by the forward pass (see kept_for_gradient)
inline constexpr unsigned sizes = 1 << 5;  // of inputs, which PyTorch keeps alive for that
}  // namespace reads

struct Gradient {
  bool known = true;
  // The output's gradient is used unchanged: nothing is computed or moved.
  bool passes_through = false;
  // For activations: one entry for all, or one per input of the layer.
  std::vector<std::vector<Op>> data;
  unsigned data_reads = 0;
  // How many leading inputs are factors of a product; it reads all of them except the activation
  // itself.
  std::size_t factors = 0;
  std::vector<Op> weights;          // for parameters
  bool weights_read_inputs = true;  // otherwise only the incoming gradient
  bool joint = false;               // one kernel computes both kinds of gradient
};

// The properties of a layer's inputs that its gradient depends on.
struct GradientInputs {
  std::size_t count = 0;
  std::size_t activations = 0;   // inputs that are not weights
  bool weight_is_first = false;  // weights · activations, constant / activations
};
Gradient gradient_rule(const Op& op, const GradientInputs& inputs);

// What the forward pass of a training step saves for the gradient besides its result: positions of
// maxima, statistics, row sums.
struct KeptTensor {
  std::string_view name;
  std::optional<ElementType> type;  // by default that of the result
  Shape shape;
};
std::optional<KeptTensor> kept_for_gradient(const Op& op);

}  // namespace ridgeline
