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

// --- The fast paths of nn.MultiheadAttention and nn.TransformerEncoderLayer: several steps in one
// call. Its tensors are [batch, length, width].

MatMul projection(std::int64_t rows, std::int64_t in, std::int64_t out) {
  MatMul op;
  op.m = rows;
  op.k = in;
  op.n = out;
  op.bias = true;
  return op;
}

struct Heads {
  std::int64_t batch, q_length, kv_length, width, heads;
};

void emit_attention(Call& call, const Heads& of) {
  std::int64_t q_rows = of.batch, kv_rows = of.batch;
  if (of.heads < 1 || __builtin_mul_overflow(q_rows, of.q_length, &q_rows) ||
      __builtin_mul_overflow(kv_rows, of.kv_length, &kv_rows) || of.width > (std::int64_t{1} << 40))
    Call::fail("it has " + std::to_string(of.heads) + " heads of " + std::to_string(of.width));
  call.emit(projection(q_rows, of.width, of.width));
  call.emit(projection(kv_rows, of.width, 2 * of.width));
  Attention op;
  op.batch = of.batch;
  op.q_heads = op.kv_heads = of.heads;
  op.q_length = of.q_length;
  op.kv_length = of.kv_length;
  op.qk_dimension = op.v_dimension = of.width / of.heads;
  call.emit(op);
  call.emit(projection(q_rows, of.width, of.width));
}

void multi_head_attention(Call& call) {
  const Shape& query = call.shape("query");
  const Shape& key = call.shape("key");
  if (query.size() != 3 || key.size() != 3)
    Call::fail("query and key are " + to_string(query) + " and " + to_string(key));
  call.not_data("mask");
  call.order({"query", "key", "value"});
  emit_attention(call, {query[0], query[1], key[1], query[2], call.integer("num_head", 1)});
}

void encoder_layer(Call& call) {
  const Shape& data = call.shape("src");
  const Shape& inner = call.shape("ffn_weight_1");
  if (data.size() != 3 || inner.size() != 2)
    Call::fail("its input is " + to_string(data) + ", its inner weight " + to_string(inner));
  const std::int64_t rows = element_count(std::span(data).first(2)), elements = element_count(data);
  std::int64_t inner_elements = rows;
  if (__builtin_mul_overflow(inner_elements, inner[0], &inner_elements))
    Call::fail("its inner weight is " + to_string(inner));
  call.not_data("mask");
  call.order({"src"});
  emit_attention(call, {data[0], data[1], data[1], data[2], call.integer("num_heads", 1)});
  call.emit(projection(rows, data[2], inner[0]));
  call.emit(
      Elementwise{call.flag("use_gelu", false) ? Function::gelu : Function::relu, inner_elements});
  call.emit(projection(rows, inner[0], data[2]));
  for (int half = 0; half < 2; ++half) {
    call.emit(Elementwise{Function::add, elements});
    call.emit(Normalize{Normalization::layer, elements, rows, true, false, 0});
  }
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
      {"aten::_native_multi_head_attention", multi_head_attention},
      {"aten::_transformer_encoder_layer_fwd", encoder_layer},
      {"aten::_scaled_dot_product_fused_attention_overrideable", scaled_dot_product_attention},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
