// Families: the tables of operator rules, one per family, each in the file of that name. A new
// operator is a row in its family; a new family is a line here and one in operators.cpp.
#pragma once

#include <span>

#include "analyzer/graph/operator_description.h"
#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

std::span<const Operator> activation_operators();
std::span<const Operator> attention_grouped_operators();
std::span<const Operator> attention_multi_head_operators();
std::span<const Operator> attention_operators();
std::span<const Operator> attention_projected_operators();
std::span<const Operator> classical_operators();
std::span<const Operator> classical_model_operators();
std::span<const Operator> constant_operators();
std::span<const Operator> control_flow_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> einsum_operators();
std::span<const Operator> elementwise_operators();
std::span<const Operator> embedding_operators();
std::span<const Operator> expert_operators();
std::span<const Operator> gather_operators();
std::span<const Operator> generation_operators();
std::span<const Operator> gradient_operators();
std::span<const Operator> legacy_operators();
std::span<const Operator> loss_operators();
std::span<const Operator> matmul_operators();
std::span<const Operator> matmul_quantized_operators();
std::span<const Operator> movement_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> optimizer_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> quantization_operators();
std::span<const Operator> quantized_elementwise_operators();
std::span<const Operator> ragged_operators();
std::span<const Operator> random_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> reduce_operators();
std::span<const Operator> repetition_operators();
std::span<const Operator> reshape_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> sampling_operators();
std::span<const Operator> scatter_operators();
std::span<const Operator> selection_operators();
std::span<const Operator> sequence_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> signal_operators();
std::span<const Operator> skip_normalization_operators();
std::span<const Operator> slicing_operators();
std::span<const Operator> softmax_operators();
std::span<const Operator> text_operators();
std::span<const Operator> training_graph_operators();
std::span<const Operator> unary_operators();
std::span<const Operator> view_operators();

// The rule of an operator that a user described by formulas: described.cpp.
void apply_description(NodeContext& context, const OperatorDescription& description);

}  // namespace ridgeline::onnx
