// Scaled dot-product attention, as one call and as the kernels that runtimes choose for it.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

// query, key, value are [batch …, heads, length, size].
void scaled_dot_product_attention(Call& call) {
  const Shape& query = call.shape("query");
  const Shape& key = call.shape("key");
  const Shape& value = call.shape("value");
  const std::size_t rank = query.size();
  if (rank < 2 || key.size() != rank || value.size() != rank)
    Call::fail("query, key and value are " + to_string(query) + ", " + to_string(key) + " and " +
               to_string(value));
  Attention op;
  for (std::size_t i = 0; i + 3 < rank; ++i)
    if (__builtin_mul_overflow(op.batch, query[i], &op.batch)) Call::fail("its batch is too large");
  op.q_heads = rank > 2 ? query[rank - 3] : 1;
  op.kv_heads = rank > 2 ? key[rank - 3] : 1;
  op.q_length = query[rank - 2];
  op.kv_length = key[rank - 2];
  op.qk_dimension = query[rank - 1];
  op.v_dimension = value[rank - 1];
  op.causal = call.flag("is_causal", false);
  for (const std::string_view name : {"attn_mask", "attn_bias"})
    if (const Tensor* mask = call.tensor(name)) op.additive_mask = is_floating(mask->type);
  call.order({"query", "key", "value"});
  call.emit(op);
}

}  // namespace

std::span<const Operator> attention_operators() {
  static constexpr Operator rows[] = {
      {"aten::scaled_dot_product_attention", scaled_dot_product_attention},
      {"aten::_scaled_dot_product_attention_math", scaled_dot_product_attention},
      {"aten::_scaled_dot_product_flash_attention", scaled_dot_product_attention},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", scaled_dot_product_attention},
      {"aten::_scaled_dot_product_efficient_attention", scaled_dot_product_attention},
      {"aten::_scaled_dot_product_cudnn_attention", scaled_dot_product_attention},
      {"aten::_scaled_dot_product_fused_attention_overrideable", scaled_dot_product_attention},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
