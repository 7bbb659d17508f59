// torchvision's own operators on regions and boxes.
#include <algorithm>

#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

// sampling_ratio ≤ 0 adapts to each region; torchvision's models use 2, so 2 × 2 points is assumed.
void roi_align(Call& call) {
  std::int64_t ratio = call.integer("sampling_ratio", -1);
  if (ratio <= 0 || ratio > 64) ratio = 2;
  call.emit(Resize{Interpolation::linear, 2, call.out_elements(), ratio * ratio});
}

// Regions of the whole image, the largest there are.
void roi_pool(Call& call) {
  const Shape& data = call.shape("input");
  const Shape& out = call.output().shape;
  std::int64_t taps = 1;
  for (std::size_t i = 2; i < std::min(data.size(), out.size()); ++i)
    if (__builtin_mul_overflow(
            taps, std::max<std::int64_t>(1, data[i] / std::max<std::int64_t>(1, out[i])), &taps))
      Call::fail("its regions are too large");
  call.emit(Pool{Pooling::max, call.out_elements(), taps});
}

// Sorted by score, then every box is compared with every better one.
void nms(Call& call) {
  const Shape& boxes = call.shape("dets");
  const std::int64_t count = boxes.empty() ? 0 : boxes[0];
  call.set_is_bound();
  call.emit(Sort{1, count, count});
  std::int64_t pairs = count;
  if (!__builtin_mul_overflow(count, count, &pairs)) pairs /= 2;
  call.emit(Elementwise{Function::compare, std::max<std::int64_t>(pairs, 0)});
}

}  // namespace

std::span<const Operator> detection_operators() {
  static constexpr Operator rows[] = {
      {"torchvision::roi_align", roi_align},
      {"torchvision::ps_roi_align", roi_align},
      {"torchvision::roi_pool", roi_pool},
      {"torchvision::ps_roi_pool", roi_pool},
      {"torchvision::nms", nms},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
