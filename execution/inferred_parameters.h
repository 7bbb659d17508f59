// Hyperparameters that a Graph does not keep, found from shapes: stride and padding of a window,
// the sides of a pooling window, permutations, reduced axes. Where several fit, the usual one is
// taken; all of them compute and move the same amounts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/graph/shape.h"

namespace ridgeline {

// Of a sliding window along one axis.
struct WindowAxis {
  std::int64_t stride = 1;
  std::int64_t before = 0, after = 0;  // padding

  friend bool operator==(const WindowAxis&, const WindowAxis&) = default;
};

// The smallest stride that maps `in` to `out` positions, with the same padding on both sides if
// that is possible; nothing if no padding up to `most_padding` per side does.
std::optional<WindowAxis> window_axis(std::int64_t in, std::int64_t kernel, std::int64_t out,
                                      std::int64_t most_padding);

// The same where each input position scatters to a window: a transposed convolution. `after` is
// negative where the output is longer than windows and padding explain.
std::optional<WindowAxis> transposed_axis(std::int64_t in, std::int64_t kernel, std::int64_t out);

struct PoolWindow {
  Shape kernel;
  std::vector<WindowAxis> axes;
};

// A window of `taps` elements, as square as possible. Padding is at most half of a side, as
// libraries require.
std::optional<PoolWindow> pool_window(const Shape& in, const Shape& out, std::int64_t taps);

// A permutation of axes that turns `in` into `out`, after splitting an axis of `in` or before
// joining axes to one of `out`. Heads of attention are split and joined so.
struct Rearrangement {
  Shape split;                      // shape to view the input in
  std::vector<std::int64_t> order;  // of these axes; the result is then viewed as `out`
};
std::optional<Rearrangement> rearrangement(const Shape& in, const Shape& out);

// Axes over which a reduction turns `in` into `out`, whether or not it keeps them as ones.
std::optional<std::vector<std::int64_t>> reduced_axes(const Shape& in, const Shape& out);

}  // namespace ridgeline
