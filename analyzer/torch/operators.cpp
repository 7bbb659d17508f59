// The rows of all families, sorted once.
#include <algorithm>
#include <vector>

#include "analyzer/torch/call.h"
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

constexpr std::span<const Operator> (*families[])() = {
    activation_operators, attention_operators,    bookkeeping_operators, convolution_operators,
    creation_operators,   detection_operators,    elementwise_operators, fourier_operators,
    lookup_operators,     matmul_operators,       movement_operators,    normalization_operators,
    pooling_operators,    quantization_operators, recurrent_operators,   reduction_operators,
    resize_operators,     sorting_operators,      view_operators,
};

std::vector<Operator> sorted_rows() {
  std::vector<Operator> rows;
  for (const auto family : families) {
    const std::span<const Operator> own = family();
    rows.insert(rows.end(), own.begin(), own.end());
  }
  std::sort(rows.begin(), rows.end(),
            [](const Operator& a, const Operator& b) { return a.name < b.name; });
  return rows;
}

}  // namespace

std::span<const Operator> known_operators() {
  static const std::vector<Operator> rows = sorted_rows();
  return rows;
}

const Operator* find_operator(std::string_view name) {
  const std::span<const Operator> rows = known_operators();
  const auto find = [&](std::string_view wanted) -> const Operator* {
    const auto found =
        std::lower_bound(rows.begin(), rows.end(), wanted,
                         [](const Operator& row, std::string_view key) { return row.name < key; });
    return found != rows.end() && found->name == wanted ? &*found : nullptr;
  };
  if (const Operator* row = find(name)) return row;
  return name.ends_with('_') ? find(name.substr(0, name.size() - 1)) : nullptr;
}

}  // namespace ridgeline::pytorch
