// Counting: the Work of a layer, from its Ops and the tensors around them. The rules
// exist here once, for every front end; docs/counting.md states them.
// Amounts only: rates and times are in roofline/.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/graph/graph.h"
#include "base/demand.h"
#include "base/work.h"

namespace ridgeline {

// The part's arithmetic; no bytes.
Work count_part(const Part& part, const OpWeights& weights);

// A layer, counted: the Work of one trip × repeats, and the part that does most of the arithmetic,
// which gives a layer of several parts its class; no_index where there is none. A layer that is
// folded or absorbed has no Work; an alternative has its own (the caller keeps it out of totals).
struct LayerCount {
  Work work;
  std::size_t main_part = no_index;
};
LayerCount layer_count(const Graph& graph, const Layer& layer, const OpWeights& weights);
std::vector<LayerCount> count_layers(const Graph& graph, const OpWeights& weights);

Work count_layer(const Graph& graph, const Layer& layer, const OpWeights& weights);

// The tensors that one trip through a layer moves, and how much of each; weights among the reads.
struct TensorMove {
  TensorId tensor = 0;
  double bytes = 0;
};
std::vector<TensorMove> layer_reads(const Graph& graph, const Layer& layer);
std::vector<TensorMove> layer_writes(const Graph& graph, const Layer& layer);

// Elements of the first input that a layer reads where that is not all of it: a slice, a look-up.
std::optional<std::int64_t> elements_of_first_input(const Layer& layer);

// Bytes of a whole tensor as it is stored; nothing where they are unknown (strings, no shape).
std::optional<double> tensor_bytes(const Tensor& tensor);

// Tensors that count_layer had to leave out because of that: to be reported, never taken as zero.
std::vector<TensorId> unsized_tensors(const Graph& graph, const Layer& layer);

OpClass op_class(const Op& op);

// What could run the products of an Op: a matrix unit, or a vector unit only. All other arithmetic
// (bias, softmax, gates) is for vector units.
Unit compute_unit(const Op& op, DType dtype);

// Part of count_part's MACs that a kernel which knows of the causal mask does not compute.
double causally_masked_macs(const Op& op);

}  // namespace ridgeline
