// OPT-1.3B with its language-model head, which shares the token table.
// Hugging Face's OPTForCausalLM for facebook/opt-1.3b.
#include <fmt/format.h>

#include "workloads/families.h"
#include "workloads/language.h"

namespace ridgeline {
namespace opt_parts {

constexpr std::int64_t layers = 24;
constexpr std::int64_t heads = 32;
constexpr std::int64_t width = 2048;
constexpr std::int64_t positions = 2048;
constexpr std::int64_t position_offset = 2;  // rows of the table that no token uses
constexpr std::int64_t vocabulary = 50272;

Operand block(NetworkBuilder& net, Operand x, const std::optional<KeyValue>& past,
              std::vector<KeyValue>& made) {
  Operand y = net.layer_norm("self_attn_layer_norm", x);
  {
    const auto scope = net.scope("self_attn");
    const Operand query = net.scale("mul", net.linear("q_proj", y, width));
    const KeyValue now{net.linear("k_proj", y, width), net.linear("v_proj", y, width)};
    made.push_back(now);
    y = net.attention("attention", query, now,
                      {.heads = heads, .causal = true, .past = past, .softmax_in_fp32 = true});
    y = net.linear("out_proj", y, width);
  }
  x = net.add("add", x, net.dropout("dropout", y));
  y = net.layer_norm("final_layer_norm", x);
  y = net.relu("activation_fn", net.linear("fc1", y, 4 * width));
  y = net.dropout("dropout", net.linear("fc2", y, width));
  return net.add("add", x, y);
}

void opt(NetworkBuilder& net) {
  check_positions(net, positions);
  const Operand ids = token_input(net);
  Operand x = ids, table = ids;
  std::vector<KeyValue> made;
  {
    const auto scope = net.scope("model.decoder");
    table = net.parameter("embed_tokens.weight", {vocabulary, width});
    x = net.gather("embed_tokens", table, ids);
    x = net.add(
        "add", x,
        net.embedding("embed_positions", token_positions(net), positions + position_offset, width));
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const auto past = cached(net, layer, heads, width / heads);
      const auto names = net.scope(fmt::format("layers.{}", layer));
      x = block(net, x, past, made);
    }
    x = net.layer_norm("final_layer_norm", x);
  }
  finish(net, x, table, made);
}

}  // namespace opt_parts

std::span<const Workload> opt_workloads() {
  using namespace opt_parts;
  static constexpr Workload rows[] = {{
      .name = "opt-1.3b",
      .family = "opt",
      .source = "Hugging Face",
      .address = "https://huggingface.co/facebook/opt-1.3b/blob/main/config.json",
      .options = decoder_options,
      .build = opt,
  }};
  return rows;
}

}  // namespace ridgeline
