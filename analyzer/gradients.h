// Gradients of Ops: the arithmetic of a backward step and what it reads of the forward one.
// One rule per kind of Op; training.cpp puts the tensors around them.
#pragma once

#include <vector>

#include "analyzer/op.h"

namespace ridgeline {

struct Gradient {
  bool known = true;
  // The gradient is the gradient of the output, unchanged: nothing is computed or moved.
  bool passes_through = false;
  // For activations: one entry per gradient that is wanted (products of two activations have two).
  std::vector<std::vector<Op>> data;
  std::vector<Op> weights;          // for parameters
  bool data_reads_inputs = false;   // activations that were saved
  bool data_reads_outputs = false;  //
  bool data_reads_weights = false;
  bool weights_read_inputs = true;  // else the incoming gradient alone
  bool joint = false;               // one kernel makes both kinds of gradient
};

// `activations` is the number of inputs that want a gradient and are not weights.
Gradient gradient_of(const Op& op, std::size_t activations);

}  // namespace ridgeline
