// LSTM, GRU and RNN in every layout and direction, and com.microsoft's quantised LSTM. Activations
// other than the defaults are counted as the defaults.
#include <algorithm>
#include <string>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

struct CellForm {
  Cell cell;
  std::int64_t gates;
  bool transposed_weights;  // [directions, input, gates·hidden] instead of [.., .., input]
};

// Sequences may be shorter than the padded input, if the file gives their lengths.
std::int64_t longest_sequence(NodeContext& context, std::int64_t steps) {
  context.not_data(4);
  const auto lengths = context.known_integers(4);
  if (!lengths || lengths->empty()) return steps;
  return std::clamp<std::int64_t>(*std::max_element(lengths->begin(), lengths->end()), 0, steps);
}

std::int64_t direction_count(const NodeContext& context) {
  const std::string_view direction = context.text("direction", "forward");
  if (direction == "bidirectional") return 2;
  if (direction != "forward" && direction != "reverse")
    context.fail("the direction '" + std::string(direction) + "'");
  return 1;
}

Recurrent inferred_layer(NodeContext& context, const CellForm& form) {
  for (std::size_t i = 0; i < 3; ++i) want_rank(context, i, 3);
  const Shape& input = context.shape(0);
  const bool batch_first = context.integer("layout", 0) != 0;
  const std::int64_t steps = input[batch_first ? 1 : 0];
  const std::int64_t batch = input[batch_first ? 0 : 1];
  const std::int64_t directions = direction_count(context);

  const Shape& recurrence = context.shape(2);
  const std::int64_t hidden =
      context.integer("hidden_size", form.transposed_weights ? recurrence[1] : recurrence[2]);
  const std::int64_t rows = multiplied(context, {form.gates, hidden});
  if (form.transposed_weights) {
    want_shape(context, 1, {directions, input[2], rows});
    want_shape(context, 2, {directions, hidden, rows});
  } else {
    want_shape(context, 1, {directions, rows, input[2]});
    want_shape(context, 2, {directions, rows, hidden});
  }
  if (context.has(3)) want_shape(context, 3, {directions, multiplied(context, {2, rows})});
  for (const std::size_t first_state : {5U, 6U}) context.not_trained(first_state);

  Shape every{steps, directions, batch, hidden}, last{directions, batch, hidden};
  if (batch_first) {
    every = {batch, steps, directions, hidden};
    last = {batch, directions, hidden};
  }
  context.set(0, context.type(0), every);
  context.set(1, context.type(0), last);
  context.set(2, context.type(0), last);  // cell state of an LSTM
  return {form.cell, directions,     longest_sequence(context, steps),         batch, input[2],
          hidden,    context.has(3), form.cell == Cell::lstm && context.has(7)};
}

void lstm(NodeContext& context) { context.emit(inferred_layer(context, {Cell::lstm, 4, false})); }

void gru(NodeContext& context) { context.emit(inferred_layer(context, {Cell::gru, 3, false})); }

void rnn(NodeContext& context) { context.emit(inferred_layer(context, {Cell::rnn, 1, false})); }

void dynamic_quantize_lstm(NodeContext& context) {
  const Recurrent layer = inferred_layer(context, {Cell::lstm, 4, true});
  context.emit(Elementwise{ElementFunction::quantize, element_count(context.shape(0))});
  context.emit(layer, DType::int8);
}

}  // namespace

std::span<const Operator> recurrent_operators() {
  static constexpr Operator rows[] = {
      {"", "LSTM", lstm},
      {"", "GRU", gru},
      {"", "RNN", rnn},
      {"com.microsoft", "DynamicQuantizeLSTM", dynamic_quantize_lstm},
  };
  return rows;
}

}  // namespace ridgeline::onnx
