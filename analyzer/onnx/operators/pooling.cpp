// Pools: windows reduced to a maximum, a mean or a norm, locally or globally. Windows at the border
// count in full, including their part outside the input.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/window.h"

namespace ridgeline::onnx {
namespace {

void pool(NodeContext& context, Pooling kind, bool channels_last) {
  want_rank_at_least(context, 0, 3);
  const Shape& data = context.shape(0);
  const Shape spatial = spatial_part(data, channels_last);
  const Window window = read_window(context, spatial.size());
  const Shape shape = activation_shape(
      data[0], channels_of(data, channels_last),
      window_positions(context, window, spatial, context.integer("ceil_mode", 0) != 0),
      channels_last);
  context.set(0, context.type(0), shape);
  context.set(1, ElementType::int64, shape);  // indices of maxima
  emit_in(context, Pool{kind, element_count(shape), multiplied(context, window.kernel)},
          context.type(0));
}

void max_pool(NodeContext& context) { pool(context, Pooling::max, false); }
void nhwc_max_pool(NodeContext& context) { pool(context, Pooling::max, true); }
void average_pool(NodeContext& context) { pool(context, Pooling::average, false); }
void lp_pool(NodeContext& context) { pool(context, Pooling::lp, false); }

// Sums of integers; each output is rescaled.
void emit_requantization(NodeContext& context) {
  if (context.wants(0))
    emit_in(context,
            Elementwise{ElementFunction::quantize, element_count(*context.output(0).shape)},
            ElementType::fp32);
}

void qlinear_average_pool(NodeContext& context) {
  pool(context, Pooling::average, context.integer("channels_last", 0) != 0);
  emit_requantization(context);
}

void global_pool(NodeContext& context, Reduction kind, bool channels_last) {
  want_rank_at_least(context, 0, 2);
  const Shape& data = context.shape(0);
  const Shape shape =
      activation_shape(data[0], channels_of(data, channels_last),
                       Shape(spatial_part(data, channels_last).size(), 1), channels_last);
  context.set(0, context.type(0), shape);
  emit_in(context, Reduce{kind, element_count(data), element_count(shape)}, context.type(0));
}

void global_max_pool(NodeContext& context) { global_pool(context, Reduction::max, false); }
void global_average_pool(NodeContext& context) { global_pool(context, Reduction::mean, false); }

void qlinear_global_average_pool(NodeContext& context) {
  global_pool(context, Reduction::mean, context.integer("channels_last", 0) != 0);
  emit_requantization(context);
}

void global_lp_pool(NodeContext& context) {
  // p was a float in opset 1.
  const Attribute* p = context.attribute("p");
  const bool is_one = p != nullptr && (p->i == 1 || p->f == 1);
  global_pool(context, is_one ? Reduction::l1 : Reduction::l2, false);
}

// Inputs: values, indices, and the shape if it does not follow from the window.
void max_unpool(NodeContext& context) {
  want_rank_at_least(context, 0, 3);
  const Shape& data = context.shape(0);
  want_shape(context, 1, data);
  if (context.declared_instead_of({2}, 0) != nullptr) return context.emit(Copy{});
  Shape shape;
  if (context.has(2)) {
    context.not_data(2);
    shape = context.needed_integers(2);
    if (shape.size() != data.size())
      context.fail(fmt::format("its output shape {} has not the rank of the input {}",
                               to_string(shape), to_string(data)));
  } else {
    const Shape spatial = spatial_part(data, false);
    const Window window = read_window(context, spatial.size());
    shape = activation_shape(data[0], data[1], unpooled_positions(context, window, spatial), false);
  }
  context.set(0, context.type(0), shape);
  context.emit(Copy{});
}

// The size of a region depends on data; counted for regions of the whole image, the maximum.
void max_roi_pool(NodeContext& context) {
  want_rank(context, 0, 4);
  want_rank(context, 1, 2);
  const auto pooled = context.integers("pooled_shape");
  if (!pooled || pooled->size() != 2 || (*pooled)[0] < 1 || (*pooled)[1] < 1)
    context.fail("pooled_shape is not two positive numbers");
  const Shape& data = context.shape(0);
  const Shape shape{context.dimension(1, 0), data[1], (*pooled)[0], (*pooled)[1]};
  context.set(0, context.type(0), shape);
  std::int64_t taps = 1;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t whole = data[2 + axis] / (*pooled)[axis];
    const std::int64_t rest = data[2 + axis] % (*pooled)[axis] != 0 ? 1 : 0;
    taps = multiplied(context, {taps, std::max<std::int64_t>(1, whole + rest)});
  }
  context.warn(
      "which part a region covers depends on data: counted for regions of the whole image");
  context.emit(Pool{Pooling::max, element_count(shape), taps});
}

}  // namespace

std::span<const Operator> pooling_operators() {
  static constexpr Operator rows[] = {
      {"", "MaxPool", max_pool},
      {"", "AveragePool", average_pool},
      {"", "LpPool", lp_pool},
      {"", "GlobalMaxPool", global_max_pool},
      {"", "GlobalAveragePool", global_average_pool},
      {"", "GlobalLpPool", global_lp_pool},
      {"", "MaxUnpool", max_unpool},
      {"", "MaxRoiPool", max_roi_pool},
      {"com.microsoft", "MaxpoolWithMask", max_pool},
      {"com.microsoft", "NhwcMaxPool", nhwc_max_pool},
      {"com.microsoft", "QLinearAveragePool", qlinear_average_pool},
      {"com.microsoft", "QLinearGlobalAveragePool", qlinear_global_average_pool},
      {"com.microsoft.nchwc", "MaxPool", max_pool},
      {"com.microsoft.nchwc", "AveragePool", average_pool},
      {"com.microsoft.nchwc", "GlobalMaxPool", global_max_pool},
      {"com.microsoft.nchwc", "GlobalAveragePool", global_average_pool},
  };
  return rows;
}

}  // namespace ridgeline::onnx
