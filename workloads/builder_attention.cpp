// Scaled dot-product attention: as one layer, or as the layers it consists of.
// The latter follow the eager code of Hugging Face and torchvision, step by step.
#include "workloads/builder.h"

namespace ridgeline {
namespace {

// […, tokens, heads · width] → batch, tokens, width of one head.
struct HeadSizes {
  Shape leading;
  std::int64_t batch = 1, tokens = 1, width = 1;
};

HeadSizes head_sizes(const Shape& shape, std::int64_t heads) {
  HeadSizes sizes;
  sizes.leading.assign(shape.begin(), shape.end() - 2);
  sizes.batch = checked_element_count(sizes.leading).value_or(0);
  sizes.tokens = shape[shape.size() - 2];
  sizes.width = shape.back() / heads;
  return sizes;
}

// […, heads, tokens, width]
Shape per_head(const Shape& leading, std::int64_t heads, std::int64_t tokens, std::int64_t width) {
  Shape shape = leading;
  shape.insert(shape.end(), {heads, tokens, width});
  return shape;
}

}  // namespace

Operand NetworkBuilder::attention(std::string_view name, Operand query, KeyValue now,
                                  const AttentionOptions& options) {
  const std::int64_t kv_heads = options.kv_heads > 0 ? options.kv_heads : options.heads;
  const HeadSizes q = head_sizes(shape(query), options.heads);
  const HeadSizes k = head_sizes(shape(now.key), kv_heads);
  const HeadSizes v = head_sizes(shape(now.value), kv_heads);
  Attention op;
  op.batch = q.batch;
  op.q_heads = options.heads;
  op.kv_heads = kv_heads;
  op.q_length = q.tokens;
  op.kv_length = k.tokens + (options.past ? dimension(options.past->key, -2) : 0);
  op.qk_dimension = q.width;
  op.v_dimension = v.width;
  op.causal = options.causal;
  op.additive_mask = !options.biases.empty();
  Shape out = q.leading;
  out.insert(out.end(), {q.tokens, options.heads * v.width});

  if (options.form.value_or(settings_.attention) == AttentionForm::eager) {
    const Scope names = scope(name);
    return eager_attention(query, now, options, op, std::move(out));
  }
  std::vector<Operand> inputs{query, now.key, now.value};
  if (options.past) inputs.insert(inputs.end(), {options.past->key, options.past->value});
  inputs.insert(inputs.end(), options.biases.begin(), options.biases.end());
  return layer(name, "Attention", op, inputs, std::move(out));
}

Operand NetworkBuilder::attention(std::string_view name, Operand packed,
                                  const AttentionOptions& options) {
  const std::int64_t width = dimension(packed, -1) / 3;
  if (options.form.value_or(settings_.attention) == AttentionForm::eager) {
    const auto parts = split(std::string(name) + ".split", packed, {width, width, width}, -1);
    return attention(name, parts[0], {parts[1], parts[2]}, options);
  }
  const HeadSizes sizes = head_sizes(shape(packed), 3 * options.heads);
  Attention op;
  op.batch = sizes.batch;
  op.q_heads = op.kv_heads = options.heads;
  op.q_length = op.kv_length = sizes.tokens;
  op.qk_dimension = op.v_dimension = sizes.width;
  op.causal = options.causal;
  op.additive_mask = !options.biases.empty();
  std::vector<Operand> inputs{packed};
  inputs.insert(inputs.end(), options.biases.begin(), options.biases.end());
  Shape out = sizes.leading;
  out.insert(out.end(), {sizes.tokens, width});
  return layer(name, "Attention", op, inputs, std::move(out));
}

// Heads are split by strides alone; libraries multiply such matrices as they are. The result has
// its heads outside and is moved into place.
Operand NetworkBuilder::eager_attention(Operand query, KeyValue now,
                                        const AttentionOptions& options, const Attention& op,
                                        Shape out) {
  const Shape leading(out.begin(), out.end() - 2);
  const auto heads_of = [&](Operand x, std::int64_t heads, std::int64_t width) {
    return transpose_view("transpose", x, per_head(leading, heads, dimension(x, -2), width));
  };
  Operand q = heads_of(query, op.q_heads, op.qk_dimension);
  Operand k = heads_of(now.key, op.kv_heads, op.qk_dimension);
  Operand v = heads_of(now.value, op.kv_heads, op.v_dimension);
  if (options.past) {
    k = concat("concat", {options.past->key, k}, -2);
    v = concat("concat", {options.past->value, v}, -2);
  }
  if (op.kv_heads != op.q_heads) {
    k = copy("expand", "Expand", k, per_head(leading, op.q_heads, op.kv_length, op.qk_dimension));
    v = copy("expand", "Expand", v, per_head(leading, op.q_heads, op.kv_length, op.v_dimension));
  }
  if (options.scales_query) q = scale("mul", q);
  Operand scores = matmul_transposed("matmul", q, k);
  if (!options.scales_query) scores = scale("mul", scores);
  const auto add_to_scores = [&](Operand bias) {
    const Elementwise sum{Function::add, element_count(shape(scores))};
    scores = layer("add", "Add", sum, {scores, bias}, shape(scores));
  };
  if (op.causal) add_to_scores(constant("causal_mask", {op.q_length, op.kv_length}));
  for (const Operand bias : options.biases) add_to_scores(bias);
  const bool widens = options.softmax_in_fp32 && settings_.dtype != ElementType::fp32;
  Operand weights =
      softmax("softmax", scores, widens ? std::optional(ElementType::fp32) : std::nullopt);
  if (widens) weights = cast("to", weights, settings_.dtype);
  if (options.dropout) weights = dropout("dropout", weights);
  return transpose("transpose", matmul("matmul", weights, v), std::move(out));
}

}  // namespace ridgeline
