// What rules of fusion ask about layers and groups of them.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/graph.h"

namespace ridgeline {

// Layers that run as one kernel so far.
struct FusionGroup {
  std::vector<std::size_t> layers;  // indices into the graph, ascending
};

// `consumer` reads the whole of `tensor`, which `producer` makes.
struct FusionCandidate {
  const Graph& graph;
  const FusionGroup& producer;
  const FusionGroup& consumer;
  TensorId tensor;
};

// --- of an operator ---

bool is_product(const Op& op);         // convolution or matrix product
bool is_convolution(const Op& op);     //
bool is_matrix_product(const Op& op);  // attention too
bool is_movement(const Op& op);        // elements are moved, or some of them, and none is changed
bool is_pointwise(const Op& op);       // each element of its own; no random numbers, no optimizer
bool is_softmax(const Op& op);         //
bool is_pool(const Op& op);            //
bool is_row_wise(const Op& op);        // softmax, a reduction, a normalisation of each sample
bool is_evaluated_batch_norm(const Op& op);

// --- of a layer ---

// Elements are moved and none is changed: transpositions, concatenations, slices. A gather by one
// constant index is a slice.
bool only_moves(const Graph& graph, const Layer& layer);

// A multiplication of all elements by the same number, which is a tensor of one element or part of
// the operator.
bool only_scales(const Graph& graph, const Layer& layer);
bool moves_or_scales(const Graph& graph, const Layer& layer);

// A pointwise step, or a slice or concatenation along the last axis. What has one input and one
// output of the same shape may be a transposition.
bool stays_within_rows(const Graph& graph, const Layer& layer);

// Everything but its first input is a weight.
bool reads_weights_beside_first(const Graph& graph, const Layer& layer);

// A pool over all of an image.
bool pools_all(const Graph& graph, const Layer& layer);

// --- of a group ---

bool all_parts(const Graph& graph, const FusionGroup& group, bool (*test)(const Op&));
bool any_part(const Graph& graph, const FusionGroup& group, bool (*test)(const Op&));
bool all_layers(const Graph& graph, const FusionGroup& group,
                bool (*test)(const Graph&, const Layer&));
std::size_t product_count(const Graph& graph, const FusionGroup& group);
bool has_product(const Graph& graph, const FusionGroup& group);

// The only layer of a group; nothing where there are more.
const Layer* single_layer(const Graph& graph, const FusionGroup& group);

// A product whose two operands are both activations: scores, or weighted values of attention.
bool is_product_of_activations(const Graph& graph, const FusionGroup& group);

// What a group reads from outside and what it leaves, in elements: numbers aside, which index and
// scale.
struct Passage {
  std::size_t inputs = 0;
  std::int64_t in = 0, out = 0;
};
Passage passage(const Graph& graph, const FusionGroup& group);

// Elementwise work on a product's output keeps its size; a broadcast would be computed often.
bool keeps_size(const FusionCandidate& candidate);

}  // namespace ridgeline
