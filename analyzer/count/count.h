// Counting: the Work of a layer, from its Ops and tensors. These rules serve every front end;
// docs/counting.md states them. Amounts only: rates and times are in roofline/.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/graph/graph.h"
#include "base/demand.h"
#include "base/work.h"

namespace ridgeline {

// Arithmetic of the part, without bytes.
Work count_part(const Part& part, const OpWeights& weights);

// The Work of one trip × repeats, and the part with most of the arithmetic, which determines the
// layer's class (no_index if there is none). Folded and absorbed layers have no Work; an
// alternative has its own, which the caller keeps out of totals.
struct LayerCount {
  Work work;
  std::size_t main_part = no_index;
};
LayerCount layer_count(const Graph& graph, const Layer& layer, const OpWeights& weights);
std::vector<LayerCount> count_layers(const Graph& graph, const OpWeights& weights);

Work count_layer(const Graph& graph, const Layer& layer, const OpWeights& weights);

// A tensor that one trip through a layer moves, and its bytes; reads include weights.
struct TensorMove {
  TensorId tensor = 0;
  double bytes = 0;
};
std::vector<TensorMove> layer_reads(const Graph& graph, const Layer& layer);
std::vector<TensorMove> layer_writes(const Graph& graph, const Layer& layer);

// Elements that a layer reads from its first input, if not all: a slice, a look-up.
std::optional<std::int64_t> elements_of_first_input(const Layer& layer);

// Bytes of a whole tensor as stored; nothing if unknown (strings, no shape).
std::optional<double> tensor_bytes(const Tensor& tensor);

// Tensors that count_layer omitted for that reason: to be reported, never taken as zero.
std::vector<TensorId> unsized_tensors(const Graph& graph, const Layer& layer);

OpClass op_class(const Op& op);

// Unit for the products of an Op: matrix, or vector only. All other arithmetic (bias, softmax,
// gates) runs on vector units.
Unit compute_unit(const Op& op, DType dtype);

// Part of count_part's MACs that a kernel with causal masking skips.
double causally_masked_macs(const Op& op);

}  // namespace ridgeline
