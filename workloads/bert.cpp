// BERT, base and large: the encoder with its pooler, without a task head.
// Hugging Face's BertModel for google-bert/bert-base-uncased and bert-large-uncased.
#include <fmt/format.h>

#include "workloads/families.h"
#include "workloads/language.h"

namespace ridgeline {
namespace bert_parts {

struct BertForm {
  std::int64_t layers, heads, width, hidden;
};

Operand embeddings(NetworkBuilder& net, Operand ids, std::int64_t width) {
  const Operand types = token_input(net, "token_type_ids");
  const auto scope = net.scope("embeddings");
  Operand x = net.embedding("word_embeddings", ids, 30522, width);
  x = net.add("add", x, net.embedding("token_type_embeddings", types, 2, width));
  x = net.add("add", x, net.embedding("position_embeddings", token_positions(net), 512, width));
  return net.dropout("dropout", net.layer_norm("LayerNorm", x));
}

// Projection, dropout, residual sum, normalisation.
Operand joined(NetworkBuilder& net, std::string_view name, Operand x, Operand before) {
  const auto scope = net.scope(name);
  x = net.dropout("dropout", net.linear("dense", x, net.dimension(before, -1)));
  return net.layer_norm("LayerNorm", net.add("add", x, before));
}

Operand encoder_layer(NetworkBuilder& net, Operand x, Operand mask, const BertForm& form) {
  Operand y = x;
  {
    const auto scope = net.scope("attention.self");
    const Operand query = net.linear("query", x, form.width);
    const Operand key = net.linear("key", x, form.width);
    const Operand value = net.linear("value", x, form.width);
    y = net.attention("attention", query, {key, value},
                      {.heads = form.heads, .biases = {mask}, .dropout = true});
  }
  x = joined(net, "attention.output", y, x);
  {
    const auto scope = net.scope("intermediate");
    y = net.gelu("intermediate_act_fn", net.linear("dense", x, form.hidden));
  }
  return joined(net, "output", y, x);
}

void bert(NetworkBuilder& net, const BertForm& form) {
  check_positions(net, 512);
  const std::int64_t batch = net.settings().batch, tokens = net.settings().seq;
  Operand x = embeddings(net, token_input(net), form.width);
  // Zero for tokens, practically minus infinity for padding.
  const Operand mask =
      net.layer("extended_attention_mask", "Where", Elementwise{Function::where, batch * tokens},
                {token_input(net, "attention_mask")}, {batch, 1, 1, tokens});
  for (std::int64_t layer = 0; layer < form.layers; ++layer) {
    const auto scope = net.scope(fmt::format("encoder.layer.{}", layer));
    x = encoder_layer(net, x, mask, form);
  }
  net.output(x);
  const auto scope = net.scope("pooler");
  x = net.layer("getitem", "Slice", View{}, {x}, {batch, form.width});
  net.output(net.activation("activation", net.linear("dense", x, form.width), Function::tanh));
}

}  // namespace bert_parts

std::span<const Workload> bert_workloads() {
  using namespace bert_parts;
  static constexpr Workload rows[] = {
      {.name = "bert_base",
       .family = "bert",
       .source = "Hugging Face",
       .address = "https://huggingface.co/google-bert/bert-base-uncased/blob/main/config.json",
       .options = encoder_options,
       .build =
           [](NetworkBuilder& net) {
             bert(net, {12, 12, 768, 3072});
           }},
      {.name = "bert_large",
       .family = "bert",
       .source = "Hugging Face",
       .address = "https://huggingface.co/google-bert/bert-large-uncased/blob/main/config.json",
       .options = encoder_options,
       .build =
           [](NetworkBuilder& net) {
             bert(net, {24, 16, 1024, 4096});
           }},
  };
  return rows;
}

}  // namespace ridgeline
