// Optimisers of training graphs: every element of a weight is updated from its gradient and states.
// For operations per element see analyzer/count/op_weights.cpp.
#include <string>
#include <vector>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// ai.onnx.preview.training. Inputs: rate and step, then all weights, all gradients, and all of each
// state. Outputs: all new weights and all of each new state.
void optimize_groups(NodeContext& context, ElementFunction function, std::size_t states) {
  context.not_data(0);
  context.not_data(1);
  if (context.input_count() < 2 || (context.input_count() - 2) % (2 + states) != 0)
    context.fail(std::to_string(context.input_count()) + " inputs, not two and groups of " +
                 std::to_string(2 + states));
  const std::size_t weights = (context.input_count() - 2) / (2 + states);
  for (std::size_t i = 0; i < weights; ++i) {
    const Shape& shape = context.shape(2 + i);
    for (std::size_t group = 1; group < 2 + states; ++group)
      want_shape(context, 2 + i + group * weights, shape);
    for (std::size_t group = 0; group < 1 + states; ++group)
      context.set(i + group * weights, context.type(2 + i), shape);
    emit_in(context, Elementwise{function, element_count(shape)}, context.type(2 + i));
  }
}

void adam(NodeContext& context) { optimize_groups(context, ElementFunction::adam, 2); }
void momentum(NodeContext& context) { optimize_groups(context, ElementFunction::momentum, 1); }
void adagrad(NodeContext& context) { optimize_groups(context, ElementFunction::adagrad, 1); }

// One weight per node; each output has the shape of the input that `sources` names.
void optimize_one(NodeContext& context, ElementFunction function, std::size_t weight,
                  const std::vector<std::size_t>& sources) {
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (context.has(sources[i]))
      context.set(i, context.type(sources[i]), context.shape(sources[i]));
  emit_in(context, Elementwise{function, element_count(context.shape(weight))},
          context.type(weight));
}

void adam_optimizer(NodeContext& context) {
  optimize_one(context, ElementFunction::adam, 2, {1, 4, 5, 2, 3, 6});
}

void sgd_optimizer(NodeContext& context) {
  context.not_data(0);
  optimize_one(context, ElementFunction::sgd, 1, {1, 2});
}

// Weights, gradients and states are sequences; the outputs are a flag and the same sequences.
void optimize_sequences(NodeContext& context, ElementFunction function, std::size_t weights,
                        const std::vector<std::size_t>& sources) {
  const Value& sequence = context.input(weights);
  context.set(0, ElementType::boolean, {1});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Value& source = context.input(sources[i]);
    context.set_sequence(1 + i, source.type, source.shape, source.sequence_length);
  }
  if (!sequence.shape || !sequence.sequence_length)
    throw CannotInfer{"the sizes of the tensors in a sequence are unknown"};
  emit_in(context,
          Elementwise{function, multiplied(context, {element_count(*sequence.shape),
                                                     *sequence.sequence_length})},
          sequence.type);
}

void adamw_optimizer(NodeContext& context) {
  context.not_data(0);
  context.not_data(1);
  optimize_sequences(context, ElementFunction::adam, 2, {2, 4, 5});
}

void sgd_optimizer_v2(NodeContext& context) {
  context.not_data(0);
  optimize_sequences(context, ElementFunction::sgd, 1, {1});
}

// Inputs: signal, loss scale, gradient norm, rate and step; then groups of weight, gradient, two
// moments and a copy in lower precision. Outputs: the step and the same groups. LAMB is Adam with
// an update scaled by the norms of weight and update.
void lamb_optimizer(NodeContext& context) {
  for (std::size_t i = 0; i < 5; ++i) context.not_data(i);
  if (context.has(4)) context.set(0, context.type(4), context.shape(4));
  for (std::size_t first = 5; first + 4 < context.input_count(); first += 5) {
    const std::int64_t count = element_count(context.shape(first));
    for (std::size_t i = first; i < first + 5; ++i)
      if (context.has(i)) context.set(i - 4, context.type(i), context.shape(i));
    emit_in(context, Elementwise{ElementFunction::adam, count}, context.type(first));
    for (int norm = 0; norm < 2; ++norm)
      emit_in(context, Reduce{Reduction::l2, count, 1}, context.type(first));
  }
}

void accumulate(NodeContext& context) {
  context.not_data(2);
  context.set(0, context.type(0), context.shape(0));
  context.emit(Elementwise{ElementFunction::accumulate, element_count(context.shape(0))});
}

void accumulate_v2(NodeContext& context) {
  context.not_data(2);
  context.set(0, ElementType::boolean, {1});
  context.set(1, context.type(0), context.shape(0));
  context.emit(Elementwise{ElementFunction::accumulate, element_count(context.shape(0))});
}

void clip_gradient_norm(NodeContext& context) {
  const Value& sequence = context.input(0);
  context.set_sequence(0, sequence.type, sequence.shape, sequence.sequence_length);
  if (!sequence.shape || !sequence.sequence_length)
    throw CannotInfer{"the sizes of the tensors in a sequence are unknown"};
  const std::int64_t count =
      multiplied(context, {element_count(*sequence.shape), *sequence.sequence_length});
  context.emit(Reduce{Reduction::l2, count, 1});
  context.emit(Elementwise{ElementFunction::multiply, count});
}

void zero_gradient(NodeContext& context) {
  context.not_data(0);
  context.not_data(1);
  context.set(0, context.type(0), context.shape(0));
  context.emit(Copy{});
}

void norm_of_all(NodeContext& context) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < context.input_count(); ++i)
    count = added(context, {count, element_count(context.shape(i))});
  context.set(0, ElementType::fp32, {});
  context.emit(Reduce{Reduction::l2, count, 1});
}

void gradient(NodeContext&) {
  throw CannotInfer{"the gradient of a sub-graph is not derived here; export the training graph"};
}

}  // namespace

std::span<const Operator> optimizer_operators() {
  static constexpr Operator rows[] = {
      {"ai.onnx.preview.training", "Adam", adam},
      {"ai.onnx.preview.training", "Momentum", momentum},
      {"ai.onnx.preview.training", "Adagrad", adagrad},
      {"ai.onnx.preview.training", "Gradient", gradient},
      {"com.microsoft", "AdamOptimizer", adam_optimizer},
      {"com.microsoft", "AdamWOptimizer", adamw_optimizer},
      {"com.microsoft", "SGDOptimizer", sgd_optimizer},
      {"com.microsoft", "SGDOptimizerV2", sgd_optimizer_v2},
      {"com.microsoft", "LambOptimizer", lamb_optimizer},
      {"com.microsoft", "InPlaceAccumulator", accumulate},
      {"com.microsoft", "InPlaceAccumulatorV2", accumulate_v2},
      {"com.microsoft", "InplaceClipGradNorm", clip_gradient_norm},
      {"com.microsoft", "ZeroGradient", zero_gradient},
      {"com.microsoft", "ReduceAllL2", norm_of_all},
  };
  return rows;
}

}  // namespace ridgeline::onnx
