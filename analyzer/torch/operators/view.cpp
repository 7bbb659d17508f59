// Views: other shapes and strides of the same bytes. Where PyTorch must copy to make one, because
// the elements are not in order, so does the rule.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

void view(Call& call) {
  call.not_data("other");
  call.emit(View{});
}

// Copies if the elements are not in the order of the new shape.
void reshape(Call& call) {
  call.not_data("other");
  if (call.is_contiguous("self"))
    call.emit(View{});
  else
    call.emit(Copy{});
}

void clone(Call& call) { call.emit(Copy{}); }

}  // namespace

std::span<const Operator> view_operators() {
  static constexpr Operator rows[] = {
      {"aten::view", view},
      {"aten::_unsafe_view", view},
      {"aten::view_as", view},
      {"aten::view_as_real", view},
      {"aten::view_as_complex", view},
      {"aten::reshape", reshape},
      {"aten::reshape_as", reshape},
      {"aten::_reshape_alias", view},
      {"aten::flatten", reshape},
      {"aten::unflatten", view},
      {"aten::ravel", reshape},
      {"aten::contiguous", reshape},
      {"aten::clone", clone},
      {"aten::permute", view},
      {"aten::transpose", view},
      {"aten::t", view},
      {"aten::numpy_T", view},
      {"aten::mT", view},
      {"aten::movedim", view},
      {"aten::swapaxes", view},
      {"aten::swapdims", view},
      {"aten::moveaxis", view},
      {"aten::adjoint", view},
      {"aten::squeeze", view},
      {"aten::unsqueeze", view},
      {"aten::expand", view},
      {"aten::expand_as", view},
      {"aten::broadcast_to", view},
      {"aten::broadcast_tensors", view},
      {"aten::atleast_1d", view},
      {"aten::atleast_2d", view},
      {"aten::atleast_3d", view},
      {"aten::slice", view},
      {"aten::select", view},
      {"aten::narrow", view},
      {"aten::split", view},
      {"aten::split_with_sizes", view},
      {"aten::tensor_split", view},
      {"aten::hsplit", view},
      {"aten::vsplit", view},
      {"aten::chunk", view},
      {"aten::unsafe_chunk", view},
      {"aten::unsafe_split", view},
      {"aten::unsafe_split_with_sizes", view},
      {"aten::unbind", view},
      {"aten::alias", view},
      {"aten::detach", view},
      {"aten::detach_copy", view},
      {"aten::lift", view},
      {"aten::lift_fresh", view},
      {"aten::lift_fresh_copy", view},
      {"aten::unfold", view},
      {"aten::diagonal", view},
      {"aten::as_strided", view},
      {"aten::real", view},
      {"aten::imag", view},
      {"aten::meshgrid", view},
      {"aten::positive", view},
      {"aten::conj", view},
      {"aten::_conj", view},
      {"aten::resolve_conj", view},
      {"aten::resolve_neg", view},
      {"aten::requires_grad", view},
      {"aten::align_to", view},
      {"aten::cpu", view},
      {"aten::cuda", view},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
