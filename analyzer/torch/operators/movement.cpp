// Elements moved unchanged: concatenation, padding, repetition, shuffles.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

void move(Call& call) { call.emit(Copy{}); }

// Of a few elements, as many as are written.
void move_part(Call& call) { call.emit(Copy{call.out_elements()}); }

// Takes another tensor's elements into a copy of the first.
void overwrite(Call& call) { call.emit(Copy{}); }

void overlapping_add(Call& call) {
  call.emit(Elementwise{Function::add, element_count(call.first().shape)});
}

}  // namespace

std::span<const Operator> movement_operators() {
  static constexpr Operator rows[] = {
      {"aten::cat", move},
      {"aten::concat", move},
      {"aten::concatenate", move},
      {"aten::stack", move},
      {"aten::hstack", move},
      {"aten::vstack", move},
      {"aten::dstack", move},
      {"aten::column_stack", move},
      {"aten::block_diag", move},
      {"aten::cartesian_prod", move},
      {"aten::pad", move},
      {"aten::constant_pad_nd", move},
      {"aten::reflection_pad1d", move},
      {"aten::reflection_pad2d", move},
      {"aten::reflection_pad3d", move},
      {"aten::replication_pad1d", move},
      {"aten::replication_pad2d", move},
      {"aten::replication_pad3d", move},
      {"aten::_pad_circular", move},
      {"aten::repeat", move},
      {"aten::tile", move},
      {"aten::repeat_interleave", move},
      {"aten::roll", move},
      {"aten::flip", move},
      {"aten::fliplr", move},
      {"aten::flipud", move},
      {"aten::rot90", move},
      {"aten::pixel_shuffle", move},
      {"aten::pixel_unshuffle", move},
      {"aten::channel_shuffle", move},
      {"aten::native_channel_shuffle", move},
      {"aten::im2col", move},
      {"aten::col2im", overlapping_add},
      {"aten::triu", move},
      {"aten::tril", move},
      {"aten::diag", move},
      {"aten::diag_embed", move},
      {"aten::diagflat", move},
      {"aten::row_stack", move},
      {"aten::pad_sequence", move},
      {"aten::slice_scatter", overwrite},
      {"aten::select_scatter", overwrite},
      {"aten::diagonal_scatter", overwrite},
      {"aten::as_strided_scatter", overwrite},
      {"aten::slice_copy", move_part},
      {"aten::select_copy", move_part},
      {"aten::split_copy", move},
      {"aten::split_with_sizes_copy", move},
      {"aten::unbind_copy", move},
      {"aten::view_copy", move},
      {"aten::permute_copy", move},
      {"aten::transpose_copy", move},
      {"aten::t_copy", move},
      {"aten::expand_copy", move_part},
      {"aten::squeeze_copy", move},
      {"aten::unsqueeze_copy", move},
      {"aten::unfold_copy", move},
      {"aten::alias_copy", move},
      {"aten::_conj_physical", move},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
