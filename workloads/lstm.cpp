// A language model of two LSTM layers, as Pagoda exports it: embedding, 2 x LSTM, linear.
// Batch first outside and steps first inside, so both ends are transposed; the last states of both
// layers are outputs.
#include "workloads/families.h"
#include "workloads/language.h"

namespace ridgeline {
namespace lstm_parts {

constexpr std::int64_t width = 256;
constexpr std::int64_t vocabulary = 29423;

void lstm(NetworkBuilder& net) {
  const std::int64_t batch = net.settings().batch, steps = net.settings().seq;
  Operand x = net.embedding("embedding", token_input(net, "input"), vocabulary, width);
  x = net.transpose("lstm.transpose", x, {steps, batch, width});
  const RecurrentOutputs first = net.recurrent("lstm.0", Cell::lstm, x, width);
  const RecurrentOutputs second = net.recurrent("lstm.1", Cell::lstm, first.every, width);
  const Operand hidden = net.concat("lstm.h_n", {first.last, second.last}, 0);
  const Operand cell = net.concat("lstm.c_n", {first.cell, second.cell}, 0);
  x = net.transpose("lstm.transpose", second.every, {batch, steps, width});
  net.output(net.linear("linear", x, vocabulary));
  net.output_state(hidden);
  net.output_state(cell);
}

}  // namespace lstm_parts

std::span<const Workload> lstm_workloads() {
  using namespace lstm_parts;
  static constexpr Workload rows[] = {{
      .name = "lstm",
      .family = "lstm",
      .source = "Pagoda",
      .address = "https://github.com/dream-lab/pagoda",
      .options = {WorkloadOption::batch, WorkloadOption::seq, WorkloadOption::dtype,
                  WorkloadOption::precision},
      .build = lstm,
  }};
  return rows;
}

}  // namespace ridgeline
