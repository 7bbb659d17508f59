// Losses of training graphs: cross entropy and negative log likelihood, of both domains. For their
// gradients see gradient.cpp.

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// Scores [N, C, d…] have labels [N, d…].
Shape labels_of_scores(const NodeContext& context) {
  want_rank_at_least(context, 0, 2);
  Shape labels = context.shape(0);
  labels.erase(labels.begin() + 1);
  return labels;
}

// One loss per label, or their reduction to one number.
void set_loss(NodeContext& context, const Shape& labels) {
  const std::int64_t count = element_count(labels);
  const std::string_view reduction = context.text("reduction", "mean");
  if (reduction == "none") {
    context.set(0, context.type(0), labels);
    return;
  }
  context.set(0, context.type(0), {});
  context.emit(Reduce{reduction == "sum" ? Reduction::sum : Reduction::mean, count, 1});
}

void softmax_cross_entropy_loss(NodeContext& context) {
  const Shape labels = labels_of_scores(context);
  want_shape(context, 1, labels);
  context.emit(Softmax{element_count(context.shape(0)), true});
  set_loss(context, labels);
  context.set(1, context.type(0), context.shape(0));
}

// Reads one probability per label.
void negative_log_likelihood_loss(NodeContext& context) {
  const Shape labels = labels_of_scores(context);
  want_shape(context, 1, labels);
  context.emit(Gather{element_count(labels)});
  set_loss(context, labels);
}

// Labels are probabilities in the shape of the logits, classes on the last axis.
void softmax_cross_entropy(NodeContext& context) {
  const std::int64_t count = element_count(context.shape(0));
  want_shape(context, 1, context.shape(0));
  context.set(0, context.type(0), {});
  context.set(1, context.type(0), context.shape(0));
  context.emit(Softmax{count, true});
  context.emit(Elementwise{ElementFunction::multiply, count});
  context.emit(Reduce{Reduction::sum, count, 1});
}

// Labels are class indices; classes are on the last axis.
void sparse_softmax_cross_entropy(NodeContext& context) {
  want_rank_at_least(context, 0, 1);
  const Shape& logits = context.shape(0);
  context.set(0, context.type(0), {});
  context.set(1, context.type(0), logits);
  context.emit(Softmax{element_count(logits), true});
  context.emit(Reduce{Reduction::mean, element_count(context.shape(1)), 1});
}

}  // namespace

std::span<const Operator> loss_operators() {
  static constexpr Operator rows[] = {
      {"", "SoftmaxCrossEntropyLoss", softmax_cross_entropy_loss},
      {"", "NegativeLogLikelihoodLoss", negative_log_likelihood_loss},
      {"com.microsoft", "SoftmaxCrossEntropyLossInternal", softmax_cross_entropy_loss},
      {"com.microsoft", "NegativeLogLikelihoodLossInternal", negative_log_likelihood_loss},
      {"com.microsoft", "NegativeLogLikelihoodLossInternal2", negative_log_likelihood_loss},
      {"com.microsoft", "SoftmaxCrossEntropy", softmax_cross_entropy},
      {"com.microsoft", "SparseSoftmaxCrossEntropy", sparse_softmax_cross_entropy},
  };
  return rows;
}

}  // namespace ridgeline::onnx
