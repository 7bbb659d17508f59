// Reductions over some or all dimensions.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

void emit_reduction(Call& call, Reduction kind) {
  call.emit(Reduce{kind, element_count(call.first().shape), call.out_elements()});
}

template <Reduction kind>
void reduction(Call& call) {
  emit_reduction(call, kind);
}

// Of two tensors: element by element.
template <Reduction kind, Function function>
void extreme(Call& call) {
  if (call.tensor("other") != nullptr)
    call.elementwise(function);
  else
    emit_reduction(call, kind);
}

// The mean, and the sum of the squared distances from it.
void variance(Call& call) {
  emit_reduction(call, Reduction::mean);
  emit_reduction(call, Reduction::sum_square);
}

void norm(Call& call) {
  emit_reduction(call, call.real("ord", call.real("p", 2)) == 1 ? Reduction::l1 : Reduction::l2);
}

// Two rows times each other, and both their lengths.
void cosine_similarity(Call& call) {
  const Tensor *left = call.tensor("x1"), *right = call.tensor("x2");
  const auto both = left && right ? broadcast(left->shape, right->shape) : std::nullopt;
  const auto elements = both ? checked_element_count(*both) : std::nullopt;
  if (!elements) Call::fail("its operands do not fit each other");
  call.emit(Elementwise{Function::multiply, *elements});
  call.emit(Reduce{Reduction::sum, *elements, call.out_elements()});
  for (int side = 0; side < 2; ++side)
    call.emit(Reduce{Reduction::l2, *elements, call.out_elements()});
  call.elementwise(Function::divide);
}

// Every row of one with every row of the other.
void distances(Call& call) {
  const Shape& rows = call.shape("x1");
  std::int64_t elements = call.out_elements();
  if (rows.empty() || __builtin_mul_overflow(elements, rows.back(), &elements))
    Call::fail("its rows are " + to_string(rows));
  call.emit(Elementwise{Function::subtract, elements});
  call.emit(Reduce{call.real("p", 2) == 1 ? Reduction::l1 : Reduction::l2, elements,
                   call.out_elements()});
}

}  // namespace

std::span<const Operator> reduction_operators() {
  static constexpr Operator rows[] = {
      {"aten::sum", reduction<Reduction::sum>},
      {"aten::nansum", reduction<Reduction::sum>},
      {"aten::mean", reduction<Reduction::mean>},
      {"aten::prod", reduction<Reduction::product>},
      {"aten::amax", reduction<Reduction::max>},
      {"aten::amin", reduction<Reduction::min>},
      {"aten::max", extreme<Reduction::max, Function::maximum>},
      {"aten::min", extreme<Reduction::min, Function::minimum>},
      {"aten::aminmax", reduction<Reduction::max>},
      {"aten::any", reduction<Reduction::max>},
      {"aten::all", reduction<Reduction::min>},
      {"aten::argmax", reduction<Reduction::arg>},
      {"aten::argmin", reduction<Reduction::arg>},
      {"aten::logsumexp", reduction<Reduction::log_sum_exp>},
      {"aten::count_nonzero", reduction<Reduction::sum>},
      {"aten::var", variance},
      {"aten::var_mean", variance},
      {"aten::std", variance},
      {"aten::std_mean", variance},
      {"aten::norm", norm},
      {"aten::linalg_vector_norm", norm},
      {"aten::linalg_norm", norm},
      {"aten::frobenius_norm", norm},
      {"aten::norm_except_dim", norm},
      {"aten::nanmean", reduction<Reduction::mean>},
      {"aten::cosine_similarity", cosine_similarity},
      {"aten::cdist", distances},
      {"aten::_cdist_forward", distances},
      {"aten::_euclidean_dist", distances},
      {"aten::trace", reduction<Reduction::sum>},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
