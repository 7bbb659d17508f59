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
      {"aten::trace", reduction<Reduction::sum>},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
