// New tensors from sizes alone: filled, counted or random. The tensor that a "like" form names
// gives its shape only.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

void fill(Call& call) {
  call.not_data("self");
  call.emit(Copy{0});
}

void random(Call& call) {
  call.not_data("self");
  call.elementwise(Function::random);
}

// A row per index, zero but for one element.
void one_hot(Call& call) { call.emit(Copy{}); }

}  // namespace

std::span<const Operator> creation_operators() {
  static constexpr Operator rows[] = {
      {"aten::arange", fill},        {"aten::range", fill},
      {"aten::linspace", fill},      {"aten::logspace", fill},
      {"aten::zeros", fill},         {"aten::ones", fill},
      {"aten::full", fill},          {"aten::empty", fill},
      {"aten::empty_strided", fill}, {"aten::empty_permuted", fill},
      {"aten::eye", fill},           {"aten::scalar_tensor", fill},
      {"aten::tensor", fill},        {"aten::zeros_like", fill},
      {"aten::ones_like", fill},     {"aten::full_like", fill},
      {"aten::empty_like", fill},    {"aten::new_zeros", fill},
      {"aten::new_ones", fill},      {"aten::new_full", fill},
      {"aten::new_empty", fill},     {"aten::new_empty_strided", fill},
      {"aten::fill", fill},          {"aten::zero", fill},
      {"aten::tril_indices", fill},  {"aten::triu_indices", fill},
      {"aten::hann_window", fill},   {"aten::hamming_window", fill},
      {"aten::rand", random},        {"aten::rand_like", random},
      {"aten::randn", random},       {"aten::randn_like", random},
      {"aten::randint", random},     {"aten::randint_like", random},
      {"aten::randperm", random},    {"aten::bernoulli", random},
      {"aten::multinomial", random}, {"aten::normal", random},
      {"aten::uniform", random},     {"aten::normal_functional", random},
      {"aten::one_hot", one_hot},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
