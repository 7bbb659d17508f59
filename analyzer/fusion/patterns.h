// Predicates on layers and groups of layers, for the fusion rules.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline {

// Kinds of operators as bits, so that a group need not be walked to find its kinds.
namespace kind {
inline constexpr unsigned convolution = 1 << 0;
inline constexpr unsigned matrix_product = 1 << 1;
inline constexpr unsigned attention = 1 << 2;
inline constexpr unsigned pointwise = 1 << 3;      // element by element; not random, no optimiser
inline constexpr unsigned batch_norm = 1 << 4;     // at inference
inline constexpr unsigned normalization = 1 << 5;  // per sample
inline constexpr unsigned softmax = 1 << 6;
inline constexpr unsigned reduction = 1 << 7;
inline constexpr unsigned pool = 1 << 8;
inline constexpr unsigned copy = 1 << 9;
inline constexpr unsigned look_up = 1 << 10;
inline constexpr unsigned other = 1 << 11;

inline constexpr unsigned product = convolution | matrix_product;
inline constexpr unsigned row_wise = softmax | reduction | normalization;
inline constexpr unsigned movement = copy | look_up;  // elements are moved unchanged
}  // namespace kind

unsigned kind_of(const Op& op);

inline bool is_product(const Op& op) { return (kind_of(op) & kind::product) != 0; }
inline bool is_movement(const Op& op) { return (kind_of(op) & kind::movement) != 0; }

// Layers that run as one kernel so far.
struct FusionGroup {
  explicit FusionGroup(std::pmr::memory_resource* memory) : layers(memory), leaving(memory) {}

  std::pmr::vector<std::size_t> layers;   // indices into the graph, ascending
  std::pmr::vector<std::size_t> leaving;  // those that other groups read; empty: maybe all
  unsigned kinds = 0;
  std::size_t products = 0;

  bool has(unsigned wanted) const { return (kinds & wanted) != 0; }
  bool has_only(unsigned allowed) const { return (kinds & ~allowed) == 0; }
};

// `consumer` reads all of `tensor`, which `producer` writes.
struct FusionCandidate {
  const Graph& graph;
  const FusionGroup& producer;
  const FusionGroup& consumer;
  TensorId tensor;
};

// --- of a layer ---

// Elements are moved unchanged: transpositions, concatenations, slices. A gather by one constant
// index is a slice.
bool only_moves(const Graph& graph, const Layer& layer);

// Multiplication or division of all elements by one number, a tensor of one element or part of the
// operator.
bool only_scales(const Graph& graph, const Layer& layer);
bool moves_or_scales(const Graph& graph, const Layer& layer);

// A pointwise step, or a slice or concatenation along the last axis. A copy with one input and an
// output of the same shape does not qualify: it may be a transposition.
bool stays_within_rows(const Graph& graph, const Layer& layer);

// All inputs but the first are weights.
bool reads_weights_beside_first(const Graph& graph, const Layer& layer);

// A global pool.
bool pools_all(const Graph& graph, const Layer& layer);

// A copy of the layer without parts and tensors.
Layer without_work(const Layer& layer);

// --- of a group ---

bool all_layers(const Graph& graph, const FusionGroup& group,
                bool (*test)(const Graph&, const Layer&));
// The only layer of a group; null if it has more.
const Layer* single_layer(const Graph& graph, const FusionGroup& group);

// A product whose two operands are both activations: scores, or weighted values of attention.
bool is_product_of_activations(const Graph& graph, const FusionGroup& group);

// Elements that a group reads from outside and elements that leave it, without tensors of one
// element, which index or scale.
struct Passage {
  std::size_t inputs = 0;
  std::int64_t in = 0, out = 0;
};
Passage passage(const Graph& graph, const FusionGroup& group);

// Whether the consumer's outputs are as large as the product's: a broadcast would repeat its work.
bool keeps_size(const FusionCandidate& candidate);

}  // namespace ridgeline
