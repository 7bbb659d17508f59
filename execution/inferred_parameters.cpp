// Small searches: axes are few, and the first solution in the usual order is taken.
#include "execution/inferred_parameters.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <ranges>

namespace ridgeline {
namespace {

constexpr std::int64_t most_stride = 64;

std::int64_t product(Shape::const_iterator begin, Shape::const_iterator end) {
  return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
}

// An order other than the given one that makes `out` of `shape`; swapped neighbours come first.
std::optional<std::vector<std::int64_t>> order_to(const Shape& shape, const Shape& out) {
  const std::size_t rank = shape.size();
  if (out.size() != rank || rank < 2 || rank > 6) return std::nullopt;
  const auto fits = [&](const std::vector<std::int64_t>& order) {
    for (std::size_t i = 0; i < rank; ++i)
      if (shape[static_cast<std::size_t>(order[i])] != out[i]) return false;
    return true;
  };
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const std::vector<std::int64_t> same = order;
  for (std::size_t i = 1; i + 1 < rank; ++i) {  // behind the batch
    std::vector<std::int64_t> swapped = same;
    std::swap(swapped[i], swapped[i + 1]);
    if (fits(swapped)) return swapped;
  }
  do {
    if (order != same && fits(order)) return order;
  } while (std::next_permutation(order.begin(), order.end()));
  return std::nullopt;
}

// `shape` with one axis split in two, of which the second has `inner` elements.
std::optional<Shape> split_axis(const Shape& shape, std::size_t axis, std::int64_t inner) {
  if (inner <= 0 || shape[axis] % inner != 0) return std::nullopt;
  Shape split = shape;
  split[axis] = shape[axis] / inner;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, inner);
  return split;
}

}  // namespace

std::optional<WindowAxis> window_axis(std::int64_t in, std::int64_t kernel, std::int64_t out,
                                      std::int64_t most_padding) {
  std::optional<WindowAxis> uneven;
  for (std::int64_t stride = 1; stride <= std::min(in, most_stride); ++stride) {
    // out = ⌊(in + padding − kernel) / stride⌋ + 1
    const std::int64_t least = std::max<std::int64_t>(0, (out - 1) * stride + kernel - in);
    const std::int64_t most = (out - 1) * stride + kernel - in + stride - 1;
    if (most < least) continue;
    const std::int64_t even = least + least % 2;
    if (even <= most && even / 2 <= most_padding) return WindowAxis{stride, even / 2, even / 2};
    if (!uneven && least - least / 2 <= most_padding)
      uneven = WindowAxis{stride, least / 2, least - least / 2};
  }
  return uneven;
}

std::optional<WindowAxis> transposed_axis(std::int64_t in, std::int64_t kernel, std::int64_t out) {
  for (std::int64_t stride = 1; stride <= most_stride; ++stride) {
    // out = (in − 1) · stride − padding + kernel, and up to stride − 1 more
    const std::int64_t padding = (in - 1) * stride + kernel - out;
    if (padding < -(stride - 1) || padding >= 2 * kernel) continue;
    const std::int64_t before = padding > 0 ? (padding + 1) / 2 : 0;
    return WindowAxis{stride, before, padding - before};
  }
  return std::nullopt;
}

std::optional<PoolWindow> pool_window(const Shape& in, const Shape& out, std::int64_t taps) {
  if (in.size() != 2 || out.size() != 2 || taps < 1) return std::nullopt;
  std::vector<Shape> kernels;
  for (std::int64_t height = 1; height <= std::min(taps, in[0] + out[0]); ++height)
    if (taps % height == 0) kernels.push_back({height, taps / height});
  std::ranges::stable_sort(kernels, {},
                           [](const Shape& side) { return std::abs(side[0] - side[1]); });
  for (const Shape& kernel : kernels) {
    PoolWindow window{kernel, {}};
    for (std::size_t axis = 0; axis < 2; ++axis)
      if (const auto found = window_axis(in[axis], kernel[axis], out[axis], kernel[axis] / 2))
        window.axes.push_back(*found);
    if (window.axes.size() == 2) return window;
  }
  return std::nullopt;
}

std::optional<Rearrangement> rearrangement(const Shape& in, const Shape& out) {
  if (element_count(in) != element_count(out)) return std::nullopt;
  if (auto order = order_to(in, out)) return Rearrangement{in, *order};
  // [batch, tokens, heads · width] → [batch, heads, tokens, width]
  if (out.size() == in.size() + 1)
    for (std::size_t axis = in.size(); axis-- > 0;)
      for (const std::int64_t inner : out | std::views::reverse)  // the width of a head first
        if (const auto split = split_axis(in, axis, inner))
          if (auto order = order_to(*split, out)) return Rearrangement{*split, *order};
  // [batch, heads, tokens, width] → [batch, tokens, heads · width]
  if (in.size() == out.size() + 1)
    for (std::size_t axis = out.size(); axis-- > 0;)
      for (const std::int64_t inner : in | std::views::reverse)
        if (const auto split = split_axis(out, axis, inner))
          if (auto order = order_to(in, *split)) return Rearrangement{in, *order};
  // An image to a row of patches: [batch, channels, high, wide] → [batch, high · wide, channels]
  if (in.size() == 4 && out.size() == 3 && out[1] == in[2] * in[3] && out[2] == in[1])
    return Rearrangement{{in[0], in[1], out[1]}, {0, 2, 1}};
  if (in.size() == 3 && out.size() == 4 && in[1] == product(out.begin() + 2, out.end()) &&
      in[2] == out[1])
    return Rearrangement{in, {0, 2, 1}};
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> reduced_axes(const Shape& in, const Shape& out) {
  std::vector<std::int64_t> axes;
  if (in.size() == out.size()) {
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
      if (in[axis] == out[axis]) continue;
      if (out[axis] != 1) return std::nullopt;
      axes.push_back(static_cast<std::int64_t>(axis));
    }
    return axes;
  }
  if (out.size() > in.size()) return std::nullopt;
  // The last axes that can go: means and sums are usually taken over those.
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    if (kept < out.size() && in[axis] == out[kept])
      ++kept;
    else
      axes.push_back(static_cast<std::int64_t>(axis));
  }
  if (kept != out.size()) return std::nullopt;
  return axes;
}

}  // namespace ridgeline
