// Decoders like Llama: Llama 3.2 1B and Qwen2 1.5B. Rotary positions, grouped keys and values,
// gated units, a language-model head that shares the token table. Hugging Face's LlamaForCausalLM
// and Qwen2ForCausalLM; sines and cosines of positions are constants here, since they follow from
// the sizes.
#include <fmt/format.h>

#include "workloads/families.h"
#include "workloads/language.h"

namespace ridgeline {
namespace llama_parts {

struct LlamaForm {
  std::int64_t layers, heads, kv_heads, width, hidden, vocabulary, positions;
  bool projection_bias;  // for query, key and value

  std::int64_t head_width() const { return width / heads; }
};

struct Rotation {
  Operand cosine, sine;
};

Operand rotated(NetworkBuilder& net, Operand x, const Rotation& rotation) {
  const Elementwise op{Function::rotary_embedding, element_count(net.shape(x))};
  return net.layer("apply_rotary_pos_emb", "RotaryEmbedding", op,
                   {x, rotation.cosine, rotation.sine}, net.shape(x));
}

Operand self_attention(NetworkBuilder& net, Operand x, const LlamaForm& form,
                       const Rotation& rotation, const std::optional<KeyValue>& past,
                       std::vector<KeyValue>& made) {
  const auto scope = net.scope("self_attn");
  const std::int64_t kv_width = form.kv_heads * form.head_width();
  const Operand query = net.linear("q_proj", x, form.width, form.projection_bias);
  const Operand key = net.linear("k_proj", x, kv_width, form.projection_bias);
  const Operand value = net.linear("v_proj", x, kv_width, form.projection_bias);
  const Operand turned = rotated(net, query, rotation);
  const KeyValue now{rotated(net, key, rotation), value};
  made.push_back(now);
  x = net.attention("attention", turned, now,
                    {.heads = form.heads,
                     .kv_heads = form.kv_heads,
                     .causal = true,
                     .past = past,
                     .softmax_in_fp32 = true});
  return net.linear("o_proj", x, form.width, false);
}

Operand gated_unit(NetworkBuilder& net, Operand x, const LlamaForm& form) {
  const auto scope = net.scope("mlp");
  const Operand gate = net.swish("act_fn", net.linear("gate_proj", x, form.hidden, false));
  const Operand up = net.linear("up_proj", x, form.hidden, false);
  return net.linear("down_proj", net.multiply("mul", gate, up), form.width, false);
}

void llama(NetworkBuilder& net, const LlamaForm& form) {
  check_positions(net, form.positions);
  const Operand ids = token_input(net);
  Operand x = ids, table = ids;
  std::vector<KeyValue> made;
  {
    const auto scope = net.scope("model");
    table = net.parameter("embed_tokens.weight", {form.vocabulary, form.width});
    x = net.gather("embed_tokens", table, ids);
    const Shape angles{net.settings().seq, form.head_width()};
    const Rotation rotation{net.constant("rotary_emb.cos", angles),
                            net.constant("rotary_emb.sin", angles)};
    for (std::int64_t layer = 0; layer < form.layers; ++layer) {
      const auto past = cached(net, layer, form.kv_heads, form.head_width());
      const auto names = net.scope(fmt::format("layers.{}", layer));
      const Operand y =
          self_attention(net, net.rms_norm("input_layernorm", x), form, rotation, past, made);
      x = net.add("add", x, y);
      x = net.add("add", x, gated_unit(net, net.rms_norm("post_attention_layernorm", x), form));
    }
    x = net.rms_norm("norm", x);
  }
  finish(net, x, table, made);
}

constexpr LlamaForm qwen2_1_5b{.layers = 28,
                               .heads = 12,
                               .kv_heads = 2,
                               .width = 1536,
                               .hidden = 8960,
                               .vocabulary = 151936,
                               .positions = 131072,
                               .projection_bias = true};

constexpr LlamaForm llama_3_2_1b{.layers = 16,
                                 .heads = 32,
                                 .kv_heads = 8,
                                 .width = 2048,
                                 .hidden = 8192,
                                 .vocabulary = 128256,
                                 .positions = 131072,
                                 .projection_bias = false};

}  // namespace llama_parts

std::span<const Workload> llama_workloads() {
  using namespace llama_parts;
  static constexpr Workload rows[] = {
      {.name = "qwen2-1.5b",
       .family = "llama",
       .source = "Hugging Face",
       .address = "https://huggingface.co/Qwen/Qwen2-1.5B/blob/main/config.json",
       .options = decoder_options,
       .build = [](NetworkBuilder& net) { llama(net, qwen2_1_5b); }},
      {.name = "llama-3.2-1b",
       .family = "llama",
       .source = "Hugging Face",
       .address = "https://huggingface.co/meta-llama/Llama-3.2-1B/blob/main/config.json",
       .options = decoder_options,
       .build = [](NetworkBuilder& net) { llama(net, llama_3_2_1b); }},
  };
  return rows;
}

}  // namespace ridgeline
