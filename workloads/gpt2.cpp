// GPT-2 (124 M) with its language-model head, which shares the token table.
// Hugging Face's GPT2LMHeadModel for openai-community/gpt2.
#include <fmt/format.h>

#include "workloads/families.h"
#include "workloads/language.h"

namespace ridgeline {
namespace gpt2_parts {

constexpr std::int64_t layers = 12;
constexpr std::int64_t heads = 12;
constexpr std::int64_t width = 768;
constexpr std::int64_t positions = 1024;
constexpr std::int64_t vocabulary = 50257;

// Transformers' gelu_new, step by step: x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³))).
Operand gelu_new(NetworkBuilder& net, std::string_view name, Operand x) {
  const auto scope = net.scope(name);
  const Operand half = net.scale("mul", x);
  Operand y = net.scale("mul", net.activation("pow", x, Function::power));
  y = net.scale("mul", net.add("add", x, y));
  y = net.activation("add", net.activation("tanh", y, Function::tanh), Function::add);
  return net.multiply("mul", half, y);
}

Operand block(NetworkBuilder& net, Operand x, const std::optional<KeyValue>& past,
              std::vector<KeyValue>& made) {
  Operand y = net.layer_norm("ln_1", x);
  {
    const auto scope = net.scope("attn");
    const auto parts =
        net.split("split", net.linear("c_attn", y, 3 * width), {width, width, width}, -1);
    const KeyValue now{parts[1], parts[2]};
    made.push_back(now);
    y = net.attention("attention", parts[0], now,
                      {.heads = heads, .causal = true, .past = past, .dropout = true});
    y = net.dropout("resid_dropout", net.linear("c_proj", y, width));
  }
  x = net.add("add", y, x);
  y = net.layer_norm("ln_2", x);
  {
    const auto scope = net.scope("mlp");
    y = gelu_new(net, "act", net.linear("c_fc", y, 4 * width));
    y = net.dropout("dropout", net.linear("c_proj", y, width));
  }
  return net.add("add", x, y);
}

void gpt2(NetworkBuilder& net) {
  check_positions(net, positions);
  const Operand ids = token_input(net);
  Operand x = ids, table = ids;
  std::vector<KeyValue> made;
  {
    const auto scope = net.scope("transformer");
    table = net.parameter("wte.weight", {vocabulary, width});
    x = net.gather("wte", table, ids);
    x = net.add("add", x, net.embedding("wpe", token_positions(net), positions, width));
    x = net.dropout("drop", x);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const auto past = cached(net, layer, heads, width / heads);
      const auto names = net.scope(fmt::format("h.{}", layer));
      x = block(net, x, past, made);
    }
    x = net.layer_norm("ln_f", x);
  }
  finish(net, x, table, made);
}

}  // namespace gpt2_parts

std::span<const Workload> gpt2_workloads() {
  using namespace gpt2_parts;
  static constexpr Workload rows[] = {{
      .name = "gpt2",
      .family = "gpt",
      .source = "Hugging Face",
      .address = "https://huggingface.co/openai-community/gpt2/blob/main/config.json",
      .options = decoder_options,
      .build = gpt2,
  }};
  return rows;
}

}  // namespace ridgeline
