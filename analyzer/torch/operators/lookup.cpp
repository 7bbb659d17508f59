// Look-ups by index, and updates at indices. Only the elements that are taken are read.
#include <algorithm>

#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

void look_up(Call& call) { call.emit(Gather{call.out_elements()}); }

void embedding(Call& call) {
  call.order({"weight", "indices"});
  look_up(call);
}

// Rows are looked up and added, or averaged, per bag.
void embedding_bag(Call& call) {
  const Shape& table = call.shape("weight");
  const std::int64_t width = table.empty() ? 1 : table.back();
  std::int64_t taken = element_count(call.shape("indices"));
  if (__builtin_mul_overflow(taken, width, &taken)) Call::fail("it has too many indices");
  call.order({"weight", "indices"});
  call.emit(Gather{taken});
  call.emit(Reduce{Reduction::sum, taken, call.out_elements()});
}

// The largest tensor among the updates' arguments; a number updates one element per index.
void update(Call& call, bool reduces) {
  std::int64_t updates = 0;
  for (const std::string_view name : {"src", "source", "values", "index", "mask"})
    if (const Tensor* tensor = call.tensor(name))
      updates = std::max(updates, element_count(tensor->shape));
  call.emit(Scatter{std::min(updates, std::max<std::int64_t>(1, call.out_elements())), reduces});
}

void scatter(Call& call) { update(call, false); }
void scatter_and_add(Call& call) { update(call, true); }
void index_put(Call& call) { update(call, call.flag("accumulate", false)); }

// One addition to a bin per element.
void count_in_bins(Call& call) { call.emit(Scatter{element_count(call.first().shape), true}); }

// The sizes depend on data: all elements at most.
void select_by_data(Call& call) {
  call.set_is_bound();
  call.emit(Copy{});
}

}  // namespace

std::span<const Operator> lookup_operators() {
  static constexpr Operator rows[] = {
      {"aten::embedding", embedding},
      {"aten::embedding_bag", embedding_bag},
      {"aten::_embedding_bag", embedding_bag},
      {"aten::_embedding_bag_forward_only", embedding_bag},
      {"aten::index", look_up},
      {"aten::_unsafe_index", look_up},
      {"aten::index_select", look_up},
      {"aten::gather", look_up},
      {"aten::take", look_up},
      {"aten::take_along_dim", look_up},
      {"aten::masked_select", select_by_data},
      {"aten::nonzero", select_by_data},
      {"aten::nonzero_numpy", select_by_data},
      {"aten::argwhere", select_by_data},
      {"aten::index_put", index_put},
      {"aten::_unsafe_index_put", index_put},
      {"aten::_index_put_impl", index_put},
      {"aten::index_copy", scatter},
      {"aten::index_fill", scatter},
      {"aten::index_add", scatter_and_add},
      {"aten::scatter", scatter},
      {"aten::scatter_add", scatter_and_add},
      {"aten::scatter_reduce", scatter_and_add},
      {"aten::histc", count_in_bins},
      {"aten::bincount", count_in_bins},
      {"aten::masked_scatter", scatter},
      {"aten::put", scatter},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
