// Op: the computation of a layer, independent of its file format. A closed set of small structs.
// Front ends translate their operators into Ops, so that cost, fusion and training rules exist
// once. Bytes follow from a layer's tensors, not from its Ops.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "analyzer/graph/function.h"
#include "analyzer/graph/shape.h"
#include "base/tokens.h"

namespace ridgeline {

struct Convolution {
  std::int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  Shape kernel, in_spatial, out_spatial;  // one entry per spatial axis
  bool transposed = false;                // scatters input positions instead of gathering outputs
  bool deformable = false;                // every tap is interpolated from four
  bool bias = false;
};

// [batch] × (m×k · k×n). If the batch shares the second operand, as it does weights, the batch is
// part of m: that is the product a library runs.
struct MatMul {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  bool bias = false;
  int scalings = 0;  // multiplications of the whole output by a constant (alpha, beta)
  // Of the convolution whose weight gradient this is; 0 for any other product.
  std::int64_t taps = 0;
};

struct Elementwise {
  Function function = Function::add;
  std::int64_t elements = 0;  // of the output
};

enum class Reduction {
  sum,
  mean,
  max,
  min,
  product,
  l1,
  l2,
  sum_square,
  log_sum,
  log_sum_exp,
  arg
};

struct Reduce {
  Reduction kind = Reduction::sum;
  std::int64_t in_elements = 0, out_elements = 0;
};

struct Softmax {
  std::int64_t elements = 0;
  bool log = false;
};

enum class Normalization { batch, layer, group, instance, rms, local_response, lp, mean_variance };

struct Normalize {
  Normalization kind = Normalization::batch;
  std::int64_t elements = 0;
  std::int64_t rows = 0;    // number of statistics: one reciprocal square root each
  bool affine = true;       // scale, and shift if the kind has one
  bool training = false;    // batch normalisation that computes its statistics
  std::int64_t window = 0;  // of local response normalisation: channels that are squared and summed
};

enum class Pooling { max, average, lp };

struct Pool {
  Pooling kind = Pooling::max;
  std::int64_t out_elements = 0;
  std::int64_t taps = 1;  // of the window
};

// Scaled dot-product attention only; projections are MatMuls.
struct Attention {
  std::int64_t batch = 1, q_heads = 1, kv_heads = 1;
  std::int64_t q_length = 1, kv_length = 1;
  std::int64_t qk_dimension = 1, v_dimension = 1;  // of one head
  bool causal = false;                             // counted in full; about half could be skipped
  bool additive_mask = false;                      // one more addition per score
};

enum class Cell { lstm, gru, rnn };

struct Recurrent {
  Cell cell = Cell::lstm;
  std::int64_t directions = 1, steps = 1, batch = 1, input = 1, hidden = 1;
  bool bias = false;
  bool peepholes = false;  // lstm only
  std::int64_t projection =
      0;  // lstm only: size of the state that a product makes of hidden; 0: none
};

// The size of what each step passes to the next one and to the next layer.
inline std::int64_t state_size(const Recurrent& op) {
  return op.projection > 0 ? op.projection : op.hidden;
}

// Rows taken from a table by index; only these rows are read.
struct Gather {
  std::int64_t elements = 0;  // read from the first input
};

// Updates written into a copy of the first input.
struct Scatter {
  std::int64_t updates = 0;  // elements
  bool reduces = false;      // one operation per update
};

enum class Interpolation { nearest, linear, cubic };

// Resize, grid sample, region-of-interest align: outputs interpolated from the first input.
struct Resize {
  Interpolation kind = Interpolation::nearest;
  int axes = 2;  // number of axes that change size
  std::int64_t out_elements = 0;
  std::int64_t samples = 1;  // interpolated points averaged per output
};

// Sorting, selection, uniqueness: comparisons, counted as n·log2(kept).
struct Sort {
  std::int64_t rows = 1;
  std::int64_t elements = 0;  // of one row
  std::int64_t kept = 0;      // of one row
};

struct FourierTransform {
  std::int64_t batch = 1;
  std::int64_t length = 1;
  bool real = false;  // one-sided: half the work
};

// Data moved unchanged: transpose, concatenation, slice, padding …
struct Copy {
  // Elements read from the inputs, if not all of them (a slice reads what it writes).
  std::optional<std::int64_t> elements_read;
};

// The same bytes with another shape or name: nothing is moved.
struct View {};

// Work that a user's formulas give (see operator_description.h).
struct Described {
  double macs = 0;
  double flop = 0;  // besides those of the MACs
};

// No FLOP, inputs and outputs moved, reported as unknown.
struct Unknown {
  std::string reason;
  bool has_rule = false;  // known, but its rule lacks a shape or a value
};

using Op = std::variant<Convolution, MatMul, Elementwise, Reduce, Softmax, Normalize, Pool,
                        Attention, Recurrent, Gather, Scatter, Resize, Sort, FourierTransform, Copy,
                        View, Described, Unknown>;

// Multiplies and adds, as matrix units do.
inline bool multiplies(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<MatMul>(op) ||
         std::holds_alternative<Attention>(op) || std::holds_alternative<Recurrent>(op);
}

}  // namespace ridgeline
