// Calls that touch no elements: assertions, sizes, symbolic arithmetic. They make no layer.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

void ignore(Call& call) { call.skip(); }

}  // namespace

std::span<const Operator> bookkeeping_operators() {
  static constexpr Operator rows[] = {
      {"aten::_assert_tensor_metadata", ignore},
      {"aten::_assert_async", ignore},
      {"aten::_assert_scalar", ignore},
      {"aten::_functional_assert_async", ignore},
      {"aten::_functional_assert_scalar", ignore},
      {"aten::_local_scalar_dense", ignore},
      {"aten::item", ignore},
      {"aten::sym_size", ignore},
      {"aten::sym_stride", ignore},
      {"aten::sym_numel", ignore},
      {"aten::sym_storage_offset", ignore},
      {"aten::sym_constrain_range", ignore},
      {"aten::sym_constrain_range_for_size", ignore},
      {"aten::_functional_sym_constrain_range", ignore},
      {"aten::_functional_sym_constrain_range_for_size", ignore},
      {"aten::size", ignore},
      {"aten::numel", ignore},
      {"aten::dim", ignore},
      {"aten::is_nonzero", ignore},
      {"aten::_make_dep_token", ignore},
      {"aten::Int", ignore},
      {"aten::record_stream", ignore},
      {"aten::_print", ignore},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
