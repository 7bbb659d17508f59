// LSTM, GRU and RNN of several layers in one call, and their cells.
#include <algorithm>

#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

// Arguments: input, hx, params (w_ih, w_hh, biases of every layer and direction), options.
void recurrent(Call& call, Cell cell, std::int64_t gates) {
  const Shape& input = call.shape("input");
  const std::vector<TensorRef> params = call.tensors("params");
  if (params.size() < 2 || params[0].id == no_index || params[1].id == no_index ||
      input.size() < 2 || input.size() > 3)
    Call::fail("its input is " + to_string(input) + ", with " + std::to_string(params.size()) +
               " weights");
  const bool batch_first = call.flag("batch_first", false) && input.size() == 3;
  Recurrent op;
  op.cell = cell;
  op.directions = call.flag("bidirectional", false) ? 2 : 1;
  op.steps = input[batch_first ? 1 : 0];
  op.batch = input.size() == 2 ? 1 : input[batch_first ? 0 : 1];
  op.bias = call.flag("has_biases", true);
  const Shape& hidden = call.at(params[1]).shape;  // [gates · hidden, hidden or its projection]
  if (hidden.size() != 2 || hidden[0] % gates != 0)
    Call::fail("its weights are " + to_string(hidden));
  op.hidden = hidden[0] / gates;
  if (hidden[1] != op.hidden) {
    if (cell != Cell::lstm) Call::fail("its weights are " + to_string(hidden));
    op.projection = hidden[1];
  }
  const std::int64_t layers = std::clamp<std::int64_t>(call.integer("num_layers", 1), 1,
                                                       static_cast<std::int64_t>(params.size()));
  op.input = input.back();
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    call.emit(op);
    op.input = state_size(op) * op.directions;
  }
  call.order({"input", "params", "hx"});
}

void lstm(Call& call) { recurrent(call, Cell::lstm, 4); }
void gru(Call& call) { recurrent(call, Cell::gru, 3); }
void rnn(Call& call) { recurrent(call, Cell::rnn, 1); }

// One step: [batch, input] and the states.
void recurrent_cell(Call& call, Cell cell, std::int64_t gates) {
  const Shape& input = call.shape("input");
  const Shape& weight = call.shape("w_ih");
  if (input.empty() || weight.size() != 2 || weight[0] % gates != 0)
    Call::fail("its input is " + to_string(input) + ", its weight " + to_string(weight));
  Recurrent op;
  op.cell = cell;
  op.batch = input.size() > 1 ? input[0] : 1;
  op.input = input.back();
  op.hidden = weight[0] / gates;
  op.bias = call.tensor("b_ih") != nullptr;
  call.order({"input", "w_ih", "w_hh", "b_ih", "b_hh", "hx"});
  call.emit(op);
}

void lstm_cell(Call& call) { recurrent_cell(call, Cell::lstm, 4); }
void gru_cell(Call& call) { recurrent_cell(call, Cell::gru, 3); }
void rnn_cell(Call& call) { recurrent_cell(call, Cell::rnn, 1); }

}  // namespace

std::span<const Operator> recurrent_operators() {
  static constexpr Operator rows[] = {
      {"aten::lstm", lstm},
      {"aten::gru", gru},
      {"aten::rnn_tanh", rnn},
      {"aten::rnn_relu", rnn},
      {"aten::lstm_cell", lstm_cell},
      {"aten::gru_cell", gru_cell},
      {"aten::rnn_tanh_cell", rnn_cell},
      {"aten::rnn_relu_cell", rnn_cell},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
