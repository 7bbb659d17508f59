// Parts that language models share.
// The cache is an input and new keys and values are outputs; the program that runs the model
// appends them to the cache.
#include "workloads/language.h"

#include <fmt/format.h>

namespace ridgeline {

Operand token_input(NetworkBuilder& net, std::string_view name) {
  return net.input(name, {net.settings().batch, net.settings().seq}, ElementType::int64);
}

Operand token_positions(NetworkBuilder& net) {
  return net.constant("position_ids", {1, net.settings().seq}, ElementType::int64);
}

void check_positions(const NetworkBuilder& net, std::int64_t limit) {
  const Settings& settings = net.settings();
  if (settings.context + settings.seq <= limit) return;
  if (settings.phase == Phase::decode)
    net.refuse(
        fmt::format("a context of {} and one token more: the model has {} positions",
                    settings.context, limit),
        fmt::format("give a --context of at most {}, or a --prompt and --generate of at most "
                    "{} together",
                    limit - 1, limit));
  net.refuse(fmt::format("{} tokens: the model has {} positions", settings.seq, limit),
             fmt::format("give a --seq of at most {}", limit));
}

std::optional<KeyValue> cached(NetworkBuilder& net, std::int64_t layer, std::int64_t kv_heads,
                               std::int64_t head_width) {
  const Settings& settings = net.settings();
  if (settings.phase == Phase::prefill) return std::nullopt;
  const Shape shape{settings.batch, kv_heads, settings.context, head_width};
  return KeyValue{net.input_state(fmt::format("past_key_values.{}.key", layer), shape),
                  net.input_state(fmt::format("past_key_values.{}.value", layer), shape)};
}

void finish(NetworkBuilder& net, Operand x, Operand table, const std::vector<KeyValue>& made) {
  const Logits logits = net.settings().logits;
  if (logits == Logits::last && net.settings().seq > 1)
    x = net.layer("last_token", "Slice", View{}, {x},
                  {net.settings().batch, 1, net.dimension(x, -1)});
  net.output(logits == Logits::none ? x : net.linear_tied("lm_head", x, table));
  for (const KeyValue& layer : made) {
    net.output_state(layer.key);
    net.output_state(layer.value);
  }
}

}  // namespace ridgeline
