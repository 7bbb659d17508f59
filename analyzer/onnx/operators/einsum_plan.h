// Contraction plan: an Einsum of many operands as pairwise products on the cheapest path.
// Labels and sizes only; the equation's text is read in onnx/operators/einsum.cpp.
#pragma once

#include <bitset>
#include <cstddef>
#include <vector>

#include "analyzer/graph/shape.h"

namespace ridgeline::onnx {

// A label is an index into the list of label sizes.
inline constexpr std::size_t max_labels = 128;
using Labels = std::bitset<max_labels>;

// left × right, summed over the labels that are in neither `kept` nor another operand.
struct Contraction {
  Labels left, right, kept;
};

// Cost of a contraction is the product of the sizes of all its labels. Up to six operands every
// order is tried; with more, the cheapest pair goes first. Operands hold no label that is only
// theirs and not in the output: such a label is summed before.
std::vector<Contraction> plan_contractions(const std::vector<Labels>& operands,
                                           const Labels& output, const Shape& sizes);

}  // namespace ridgeline::onnx
