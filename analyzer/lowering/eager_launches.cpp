// Counted in what torch dispatches, forwards and backwards (docs/lowering.md).
// A layer of the backward pass holds the arithmetic of one formula, mostly one kernel.
#include "analyzer/lowering/eager_launches.h"

#include <algorithm>
#include <variant>

namespace ridgeline {
namespace {

struct ForwardLaunches {
  int operator()(const Convolution& op) const { return op.bias ? 2 : 1; }  // cuDNN, then the bias
  int operator()(const Elementwise& op) const {
    if (op.function == Function::rotary_embedding) return 5;  // mul, neg, cat, mul, add
    if (op.function == Function::softsign) return 3;          // abs, add, div
    return 1;
  }
  int operator()(const Normalize& op) const {
    if (op.kind == Normalization::rms) return 6;  // pow, mean, add, rsqrt, mul, mul
    if (op.kind == Normalization::local_response) return 5;
    return 1;
  }
  int operator()(const Recurrent& op) const {  // the input's product, then step by step
    return static_cast<int>(op.directions * (op.steps + 1));
  }
  int operator()(const View&) const { return 0; }
  template <class T>
  int operator()(const T&) const {
    return 1;
  }
};

template <class T>
std::ptrdiff_t parts_of(const Layer& layer) {
  return std::count_if(layer.parts.begin(), layer.parts.end(),
                       [](const Part& part) { return std::holds_alternative<T>(part.op); });
}

// One kernel for each product and for the sum of a bias's gradient.
int backward_launches(const Layer& layer) {
  const auto products = parts_of<Convolution>(layer) + parts_of<MatMul>(layer);
  if (products > 0 && parts_of<Softmax>(layer) > 0) return 3;  // attention: row sums, all, a cast
  if (products > 0) return static_cast<int>(products + parts_of<Reduce>(layer));
  for (const Part& part : layer.parts) {
    if (const auto* normalize = std::get_if<Normalize>(&part.op)) {
      if (normalize->kind == Normalization::rms) return 14;  // of its six steps
      return normalize->kind == Normalization::batch ? 1 : 2;
    }
    if (std::holds_alternative<Recurrent>(part.op))
      return ForwardLaunches{}(std::get<Recurrent>(part.op));
    if (const auto* elementwise = std::get_if<Elementwise>(&part.op)) {
      if (elementwise->function == Function::rotary_embedding) return 7;
      if (elementwise->function == Function::power) return 3;  // pow, mul, mul
    }
  }
  return parts_of<View>(layer) == std::ssize(layer.parts) ? 0 : 1;
}

}  // namespace

int eager_launches(const Layer& layer) {
  if (layer.pass == Pass::backward_data || layer.pass == Pass::backward_weights)
    return backward_launches(layer);
  int launches = 0;
  for (const Part& part : layer.parts) launches += std::visit(ForwardLaunches{}, part.op);
  return launches;
}

}  // namespace ridgeline
