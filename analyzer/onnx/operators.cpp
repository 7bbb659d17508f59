// The operators with a rule, looked up by domain and name. The rows are beside their rules in
// onnx/operators/.
#include <algorithm>
#include <vector>

#include "analyzer/onnx/operators/families.h"

namespace ridgeline::onnx {
namespace {

using Family = std::span<const Operator> (*)();

constexpr Family families[] = {
    activation_operators,
    attention_grouped_operators,
    attention_multi_head_operators,
    attention_operators,
    attention_projected_operators,
    classical_operators,
    classical_model_operators,
    constant_operators,
    control_flow_operators,
    convolution_operators,
    einsum_operators,
    elementwise_operators,
    embedding_operators,
    expert_operators,
    gather_operators,
    generation_operators,
    gradient_operators,
    legacy_operators,
    loss_operators,
    matmul_operators,
    matmul_quantized_operators,
    movement_operators,
    normalization_operators,
    optimizer_operators,
    pooling_operators,
    quantization_operators,
    quantized_elementwise_operators,
    ragged_operators,
    random_operators,
    recurrent_operators,
    reduce_operators,
    repetition_operators,
    reshape_operators,
    resize_operators,
    sampling_operators,
    scatter_operators,
    selection_operators,
    sequence_operators,
    shape_operators,
    signal_operators,
    skip_normalization_operators,
    slicing_operators,
    softmax_operators,
    text_operators,
    training_graph_operators,
    unary_operators,
    view_operators,
};

bool precedes(const Operator& a, const Operator& b) {
  const int domains = a.domain.compare(b.domain);
  return domains != 0 ? domains < 0 : a.name < b.name;
}

std::vector<Operator> sorted_operators() {
  std::vector<Operator> rows;
  for (const Family family : families) rows.insert(rows.end(), family().begin(), family().end());
  std::sort(rows.begin(), rows.end(), precedes);
  return rows;
}

}  // namespace

std::span<const Operator> known_operators() {
  static const std::vector<Operator> rows = sorted_operators();
  return rows;
}

const Operator* find_operator(std::string_view domain, std::string_view name) {
  for (const Family family : families)
    for (const Operator& row : family())
      if (row.name == name && row.domain == domain) return &row;
  return nullptr;
}

}  // namespace ridgeline::onnx
