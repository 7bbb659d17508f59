// Pooling with windows, and adaptive pooling, whose windows follow from the sizes.
#include <algorithm>

#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

std::int64_t multiplied_taps(std::int64_t taps, std::int64_t by) {
  if (by < 1 || __builtin_mul_overflow(taps, by, &taps)) Call::fail("its window is too large");
  return taps;
}

// One number stands for all axes.
void pool(Call& call, Pooling kind, std::size_t axes) {
  const Shape kernel = call.integers("kernel_size").value_or(Shape());
  if (kernel.empty()) Call::fail("it has no kernel_size");
  std::int64_t taps = 1;
  for (std::size_t i = 0; i < axes; ++i)
    taps = multiplied_taps(taps, kernel[std::min(i, kernel.size() - 1)]);
  call.emit(Pool{kind, call.out_elements(), taps});
}

template <Pooling kind, std::size_t axes>
void window_pool(Call& call) {
  pool(call, kind, axes);
}

// The longest window of an axis: windows begin at i·in/out and end before (i+1)·in/out, rounded up.
std::int64_t longest_window(std::int64_t in, std::int64_t out) {
  if (out < 1 || out > max_dimension || in < 0 || in > max_dimension) return 1;
  constexpr std::int64_t looked_at = 4096;  // windows repeat sooner in any real network
  std::int64_t longest = 1;
  for (std::int64_t i = 0; i < std::min(out, looked_at); ++i)
    longest = std::max(longest, ((i + 1) * in + out - 1) / out - i * in / out);
  return longest;
}

template <Pooling kind, std::size_t axes>
void adaptive_pool(Call& call) {
  const Shape& data = call.first().shape;
  const Shape& out = call.output().shape;
  if (data.size() < axes || out.size() != data.size())
    Call::fail("its input is " + to_string(data));
  std::int64_t taps = 1;
  for (std::size_t i = data.size() - axes; i < data.size(); ++i)
    taps = multiplied_taps(taps, longest_window(data[i], out[i]));
  call.emit(Pool{kind, call.out_elements(), taps});
}

}  // namespace

std::span<const Operator> pooling_operators() {
  static constexpr Operator rows[] = {
      {"aten::max_pool1d", window_pool<Pooling::max, 1>},
      {"aten::max_pool2d", window_pool<Pooling::max, 2>},
      {"aten::max_pool3d", window_pool<Pooling::max, 3>},
      {"aten::max_pool1d_with_indices", window_pool<Pooling::max, 1>},
      {"aten::max_pool2d_with_indices", window_pool<Pooling::max, 2>},
      {"aten::max_pool3d_with_indices", window_pool<Pooling::max, 3>},
      {"aten::avg_pool1d", window_pool<Pooling::average, 1>},
      {"aten::avg_pool2d", window_pool<Pooling::average, 2>},
      {"aten::avg_pool3d", window_pool<Pooling::average, 3>},
      {"aten::adaptive_avg_pool1d", adaptive_pool<Pooling::average, 1>},
      {"aten::adaptive_avg_pool2d", adaptive_pool<Pooling::average, 2>},
      {"aten::adaptive_avg_pool3d", adaptive_pool<Pooling::average, 3>},
      {"aten::_adaptive_avg_pool2d", adaptive_pool<Pooling::average, 2>},
      {"aten::_adaptive_avg_pool3d", adaptive_pool<Pooling::average, 3>},
      {"aten::adaptive_max_pool1d", adaptive_pool<Pooling::max, 1>},
      {"aten::adaptive_max_pool2d", adaptive_pool<Pooling::max, 2>},
      {"aten::adaptive_max_pool3d", adaptive_pool<Pooling::max, 3>},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
