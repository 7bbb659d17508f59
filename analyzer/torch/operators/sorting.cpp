// Sorting, the largest k, and distinct elements.
#include <algorithm>

#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

// Rows run along `dim`; `kept` elements of each are wanted.
void emit_sort(Call& call, std::optional<std::int64_t> kept) {
  const Shape& data = call.first().shape;
  const auto axis = normalized_axis(call.integer("dim", -1), data.size());
  const std::int64_t length = axis ? data[*axis] : element_count(data);
  const std::int64_t rows = length > 0 ? element_count(data) / length : 0;
  call.emit(Sort{rows, length, std::min(kept.value_or(length), length)});
}

void sort(Call& call) { emit_sort(call, std::nullopt); }
void topk(Call& call) { emit_sort(call, std::max<std::int64_t>(0, call.integer("k", 1))); }
void kth_value(Call& call) { emit_sort(call, 1); }

void distinct(Call& call) {
  const std::int64_t count = element_count(call.first().shape);
  call.set_is_bound();
  call.emit(Sort{1, count, count});
}

// A binary search of every value.
void search(Call& call) {
  const Shape& edges = call.has("sorted_sequence") ? call.shape("sorted_sequence")
                       : call.has("boundaries")    ? call.shape("boundaries")
                                                   : call.first().shape;
  call.emit(Sort{call.out_elements(), 1, edges.empty() ? 1 : edges.back()});
}

}  // namespace

std::span<const Operator> sorting_operators() {
  static constexpr Operator rows[] = {
      {"aten::sort", sort},
      {"aten::argsort", sort},
      {"aten::msort", sort},
      {"aten::topk", topk},
      {"aten::kthvalue", kth_value},
      {"aten::median", kth_value},
      {"aten::nanmedian", kth_value},
      {"aten::mode", kth_value},
      {"aten::unique", distinct},
      {"aten::_unique", distinct},
      {"aten::_unique2", distinct},
      {"aten::unique_dim", distinct},
      {"aten::unique_consecutive", distinct},
      {"aten::bucketize", search},
      {"aten::searchsorted", search},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
