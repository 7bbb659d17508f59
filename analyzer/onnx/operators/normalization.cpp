// Normalisations: batch, layer, group, instance, root mean square, local response and others. For
// those that com.microsoft fuses with additions see onnx/operators/skip_normalization.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// Inputs: X, scale, B, mean, variance, the last four in the shape of the statistics.
void normalize_batch(NodeContext& context, const Shape& statistics, bool training) {
  const Shape& data = context.shape(0);
  const std::int64_t count = multiplied(context, statistics);
  for (std::size_t input = 1; input <= 4; ++input)
    if (element_count(context.shape(input)) != count)
      context.fail(fmt::format("{} should have one element for each of the {} statistics of {}",
                               named(context, input), count, to_string(data)));
  context.set(0, context.type(0), data);
  for (std::size_t output = 1; output < context.output_count(); ++output)
    context.set(output, context.type(3), context.shape(3));
  context.emit(Normalize{Normalization::batch, element_count(data), training ? count : 0, true,
                         training, 0});
}

Shape channels_only(const Shape& data) { return {data.size() > 1 ? data[1] : 1}; }

// Before opset 9, `spatial` 0 means statistics per position; before opset 14, training mode is
// implied by using the statistics outputs.
void batch_normalization(NodeContext& context) {
  want_rank_at_least(context, 0, 1);
  const Shape& data = context.shape(0);
  const bool per_position = context.opset() < 9 && context.integer("spatial", 1) == 0;
  const Shape statistics = per_position ? Shape(data.begin() + 1, data.end()) : channels_only(data);
  bool training = context.integer("training_mode", 0) != 0;
  for (std::size_t output = 1; output < context.output_count(); ++output)
    training = training || (context.opset() < 14 && context.wants(output));
  normalize_batch(context, statistics, training);
}

// For training graphs: has the saved statistics as further outputs.
void batch_norm_internal(NodeContext& context) {
  want_rank_at_least(context, 0, 1);
  normalize_batch(context, channels_only(context.shape(0)),
                  context.integer("training_mode", 0) != 0);
}

void instance_normalization(NodeContext& context) {
  want_rank_at_least(context, 0, 3);
  const Shape& data = context.shape(0);
  want_vector(context, 1, data[1], "channels");
  want_vector(context, 2, data[1], "channels");
  context.set(0, context.type(0), data);
  context.emit(Normalize{Normalization::instance, element_count(data),
                         multiplied(context, {data[0], data[1]}), true, false, 0});
}

// Scale and shift are per group in opset 18, per channel since 21.
void group_normalization(NodeContext& context) {
  want_rank_at_least(context, 0, 2);
  const Shape& data = context.shape(0);
  const std::int64_t groups = context.integer("num_groups", 0);
  divided(context, "the number of channels", data[1], groups);
  const std::int64_t scaled = context.opset() < 21 ? groups : data[1];
  for (const std::size_t input : {1, 2})
    // Some files declare opset 18 but mean 21; the sizes show it.
    if (context.shape(input) != Shape{data[1]})
      want_vector(context, input, scaled, context.opset() < 21 ? "groups" : "channels");
  context.set(0, context.type(0), data);
  context.emit(Normalize{Normalization::group, element_count(data),
                         multiplied(context, {data[0], groups}), true, false, 0});
}

// Rows end before `axis`: statistics cover everything from there on.
std::int64_t rows_before(const NodeContext& context, const Shape& data, std::size_t axis) {
  return extent(context, data, 0, axis);
}

// Outputs 1 and 2: statistics of each row, in the stash type.
void set_row_statistics(NodeContext& context, const Shape& data, std::size_t axis) {
  Shape shape = data;
  std::fill(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end(), 1);
  const ElementType type = element_type(context.integer("stash_type", 1));
  context.set(1, type, shape);
  context.set(2, type, shape);
}

void normalize_rows(NodeContext& context, Normalization kind) {
  const Shape& data = context.shape(0);
  const std::size_t axis = context.axis(context.integer("axis", -1), data.size());
  const Shape normalized(data.begin() + static_cast<std::ptrdiff_t>(axis), data.end());
  for (std::size_t input = 1; input < std::min<std::size_t>(3, context.input_count()); ++input)
    if (context.has(input)) {
      // Usually the normalised dimensions; anything that broadcasts is allowed, and some files
      // flatten them to a vector.
      const bool flat = element_count(context.shape(input)) == element_count(normalized);
      if (!flat) want_broadcastable_to(context, input, data);
    }
  context.set(0, first_known_type(context, {kind == Normalization::rms ? 1u : 0u, 0}), data);
  set_row_statistics(context, data, axis);
  context.emit(
      Normalize{kind, element_count(data), rows_before(context, data, axis), true, false, 0});
}

void layer_normalization(NodeContext& context) { normalize_rows(context, Normalization::layer); }
void rms_normalization(NodeContext& context) { normalize_rows(context, Normalization::rms); }

void lp_normalization(NodeContext& context) {
  const Shape& data = context.shape(0);
  const std::size_t axis = context.axis(context.integer("axis", -1), data.size());
  Shape rows = data;
  rows[axis] = 1;
  context.set(0, context.type(0), data);
  context.emit(
      Normalize{Normalization::lp, element_count(data), element_count(rows), false, false, 0});
}

// Old files have across_channels and normalize_variance instead of axes.
void mean_variance_normalization(NodeContext& context) {
  const Shape& data = context.shape(0);
  std::vector<std::int64_t> axes = {0, 2, 3};
  if (const auto given = context.integers("axes")) axes = *given;
  Shape rows = data;
  for (const std::int64_t axis : axes) rows[context.axis(axis, data.size())] = 1;
  context.set(0, context.type(0), data);
  context.emit(Normalize{Normalization::mean_variance, element_count(data), element_count(rows),
                         false, false, 0});
}

void local_response_normalization(NodeContext& context) {
  want_rank_at_least(context, 0, 2);
  const Shape& data = context.shape(0);
  const std::int64_t size = context.integer("size", 0);
  if (size < 1) context.fail(fmt::format("its window has a size of {}", size));
  context.set(0, context.type(0), data);
  context.emit(Normalize{Normalization::local_response, element_count(data), 0, false, false,
                         std::min(size, std::max<std::int64_t>(data[1], 1))});
}

}  // namespace

std::span<const Operator> normalization_operators() {
  static constexpr Operator rows[] = {
      {"", "BatchNormalization", batch_normalization},
      {"", "InstanceNormalization", instance_normalization},
      {"", "GroupNormalization", group_normalization},
      {"", "LayerNormalization", layer_normalization},
      {"", "RMSNormalization", rms_normalization},
      {"", "SimplifiedLayerNormalization", rms_normalization},
      {"", "LpNormalization", lp_normalization},
      {"", "MeanVarianceNormalization", mean_variance_normalization},
      {"", "LRN", local_response_normalization},
      {"com.microsoft", "BatchNormInternal", batch_norm_internal},
      {"com.microsoft", "LayerNormalization", layer_normalization},
      {"com.microsoft", "SimplifiedLayerNormalization", rms_normalization},
  };
  return rows;
}

}  // namespace ridgeline::onnx
