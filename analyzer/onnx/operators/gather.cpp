// Operators that read elements by index: Gather, GatherElements, GatherND and variants. They read
// the indices and the selected elements, never the whole table. For scattering see scatter.cpp.
#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/walk.h"

namespace ridgeline::onnx {
namespace {

// data[:axis] + indices + data[axis+1:]
Shape gathered_shape(const Shape& data, const Shape& indices, std::size_t axis) {
  Shape shape(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  return shape;
}

// Indices into the elements of the whole batch, of which exporters make views with strides
// (as_strided), are constants for the file's batch; there are as many more of them as elements.
Shape followed_indices(NodeContext& context, std::size_t axis) {
  Shape indices = context.shape(1);
  const Shape& data = context.shape(0);
  const Shape* file_data = context.file_shape(0);
  const auto change = context.walk().batch_change();
  if (file_data == nullptr || !change || batch_axis(*file_data, data) != axis) return indices;
  const bool is_flat = (*file_data)[axis] != change->in_file;
  if (!is_flat || indices.empty() || indices[0] != change->in_file) return indices;
  indices[0] = change->now;
  context.replaced_batch();
  return indices;
}

void gather(NodeContext& context) {
  const Shape& data = context.shape(0);
  want_rank_at_least(context, 0, 1);
  const std::size_t axis = context.axis(context.integer("axis", 0), data.size());
  const Shape indices = followed_indices(context, axis);
  const Shape shape = gathered_shape(data, indices, axis);
  context.set(0, context.type(0), shape);
  context.emit(Gather{element_count(shape)});

  const Contents* contents = foldable(context, 0);
  if (contents == nullptr) return;
  const auto known = context.known_integers(1);
  if (!known) return;
  std::vector<std::int64_t> rows;
  for (const std::int64_t index : *known) rows.push_back(wrapped_index(context, index, data[axis]));
  const Shape data_steps = strides(data), index_steps = strides(indices);
  fold_moved(context, 0, *contents, [&](const Shape& place) {
    std::int64_t row = 0, index = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) row += place[axis + i] * index_steps[i];
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::int64_t at = i == axis  ? rows[static_cast<std::size_t>(row)]
                              : i < axis ? place[i]
                                         : place[i + indices.size() - 1];
      index += at * data_steps[i];
    }
    return std::optional(index);
  });
}

void gather_elements(NodeContext& context) {
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  want_rank(context, 1, data.size());
  const std::size_t axis = context.axis(context.integer("axis", 0), data.size());
  context.set(0, context.type(0), indices);
  context.emit(Gather{element_count(indices)});

  const Contents* contents = foldable(context, 0);
  if (contents == nullptr) return;
  const auto known = context.known_integers(1);
  if (!known) return;
  const Shape data_steps = strides(data), index_steps = strides(indices);
  fold_moved(context, 0, *contents, [&](const Shape& place) {
    std::int64_t at = 0, index = 0;
    for (std::size_t i = 0; i < place.size(); ++i) at += place[i] * index_steps[i];
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (place[i] >= data[i] && i != axis)
        context.fail("indices " + to_string(indices) + " reach beyond " + to_string(data));
      index +=
          data_steps[i] *
          (i == axis ? wrapped_index(context, (*known)[static_cast<std::size_t>(at)], data[axis])
                     : place[i]);
    }
    return std::optional(index);
  });
}

void gather_nd(NodeContext& context) {
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  want_rank_at_least(context, 0, 1);
  want_rank_at_least(context, 1, 1);
  const std::int64_t batch_given = context.integer("batch_dims", 0);
  const auto rank = static_cast<std::int64_t>(std::min(data.size(), indices.size()));
  if (batch_given < 0 || batch_given >= rank)
    context.fail("batch_dims is " + std::to_string(batch_given) + " for " + named(context, 0) +
                 " and " + named(context, 1));
  const auto batch_dims = static_cast<std::size_t>(batch_given);
  for (std::size_t i = 0; i < batch_dims; ++i)
    want_equal(context, "batch dimension " + std::to_string(i) + " of the indices", indices[i],
               data[i]);
  const std::int64_t depth = indices.back();
  if (depth < 1 || depth > static_cast<std::int64_t>(data.size() - batch_dims))
    context.fail("indices of " + std::to_string(depth) + " numbers each into " + named(context, 0));
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(batch_dims) + depth,
               data.end());
  context.set(0, context.type(0), shape);
  context.emit(Gather{element_count(shape)});

  const Contents* contents = foldable(context, 0);
  if (contents == nullptr) return;
  const auto known = context.known_integers(1);
  if (!known) return;
  const Shape data_steps = strides(data), index_steps = strides(indices);
  fold_moved(context, 0, *contents, [&](const Shape& place) {
    std::int64_t tuple = 0, index = 0;
    for (std::size_t i = 0; i + 1 < indices.size(); ++i) tuple += place[i] * index_steps[i];
    for (std::size_t i = 0; i < batch_dims; ++i) index += place[i] * data_steps[i];
    const auto numbers = static_cast<std::size_t>(depth);
    for (std::size_t i = 0; i < numbers; ++i)
      index += data_steps[batch_dims + i] *
               wrapped_index(context, (*known)[static_cast<std::size_t>(tuple) + i],
                             data[batch_dims + i]);
    for (std::size_t i = batch_dims + numbers; i < data.size(); ++i)
      index += data_steps[i] * place[indices.size() - 1 + i - batch_dims - numbers];
    return std::optional(index);
  });
}

// Columns of a table of features; a vector counts as one row.
void array_feature_extractor(NodeContext& context) {
  want_rank_at_least(context, 0, 1);
  Shape shape = context.shape(0);
  if (shape.size() == 1) shape.insert(shape.begin(), 1);
  shape.back() = element_count(context.shape(1));
  context.set(0, context.type(0), shape);
  context.emit(Gather{element_count(shape)});
}

// A table in blocks that share a scale; the selected elements are dequantised. Elements below a
// byte may be packed into uint8 along the last axis.
void gather_block_quantized(NodeContext& context) {
  const Shape& data = context.shape(0);
  want_rank_at_least(context, 0, 1);
  const std::size_t axis = context.axis(context.integer("gather_axis", 0), data.size());
  const std::int64_t packed =
      context.type(0) == ElementType::uint8
          ? divided(context, "the width of a byte", 8, context.integer("bits", 4))
          : 1;
  Shape shape = gathered_shape(data, context.shape(1), axis);
  if (shape.empty()) context.fail(named(context, 0) + " has no axis to pack along");
  const std::int64_t read = element_count(shape);
  shape.back() = multiplied(context, {shape.back(), packed});
  context.set(0, context.type(2), shape);
  context.emit(Gather{read});
  context.emit(Elementwise{ElementFunction::dequantize, element_count(shape)});
}

}  // namespace

std::span<const Operator> gather_operators() {
  static constexpr Operator rows[] = {
      {"", "Gather", gather},
      {"", "GatherElements", gather_elements},
      {"", "GatherND", gather_nd},
      {"ai.onnx.ml", "ArrayFeatureExtractor", array_feature_extractor},
      {"com.microsoft", "GatherND", gather_nd},
      {"com.microsoft", "TorchEmbedding", gather},
      {"com.microsoft", "GatherBlockQuantized", gather_block_quantized},
  };
  return rows;
}

}  // namespace ridgeline::onnx
