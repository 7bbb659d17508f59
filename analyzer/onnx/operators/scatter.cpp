// Operators that write updates into a copy of a tensor: Scatter, ScatterElements, ScatterND,
// TensorScatter. The output has the shape of the first input, whatever the indices.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/onnx/batch.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

bool reduces(const NodeContext& context) { return context.text("reduction", "none") != "none"; }

// The known elements of all three inputs, for folding.
struct KnownScatter {
  Contents data;
  std::vector<std::int64_t> indices;
  const Contents* updates;
};

std::optional<KnownScatter> known_scatter(const NodeContext& context) {
  if (reduces(context)) return std::nullopt;
  const Contents* data = foldable(context, 0);
  const Contents* updates = foldable(context, 2);
  if (data == nullptr || updates == nullptr) return std::nullopt;
  auto indices = context.known_integers(1);
  if (!indices) return std::nullopt;
  return KnownScatter{*data, *std::move(indices), updates};
}

void scatter_elements(NodeContext& context) {
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  want_rank(context, 1, data.size());
  want_shape(context, 2, indices);
  const std::size_t axis = context.axis(context.integer("axis", 0), data.size());
  context.set(0, context.type(0), data);
  context.emit(Scatter{element_count(indices), reduces(context)});

  auto known = known_scatter(context);
  if (!known) return;
  const Shape steps = strides(data);
  std::size_t next = 0;
  for_each_place(indices, [&](const Shape& place) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
      const std::int64_t at = i == axis ? known->indices[next] : place[i];
      index += steps[i] * wrapped_index(context, at, data[i]);
    }
    known->data[static_cast<std::size_t>(index)] = (*known->updates)[next++];
  });
  context.set_contents(0, std::move(known->data));
}

// Indices, and the tensor that is written into, may be constants for the file's batch while the
// updates carry another: one place per update, and rows for all of them.
// Returns whether one of them was.
bool follow_updates(NodeContext& context, Shape& data, Shape& indices) {
  const Shape* file_updates = context.file_shape(2);
  if (file_updates == nullptr) return false;
  const Shape& updates = context.shape(2);
  const auto axis = batch_axis(*file_updates, updates);
  if (!axis) return false;
  const auto carries = [&](std::size_t input, const Shape& shape) {
    const Shape* in_file = context.file_shape(input);
    return in_file != nullptr && *in_file != shape;
  };
  const auto places = static_cast<std::int64_t>(indices.size()) - 1;
  const std::int64_t depth = indices.back(), at = static_cast<std::int64_t>(*axis);
  const auto now = updates[*axis], before = (*file_updates)[*axis];
  bool followed = false;
  const auto take = [&](std::int64_t& size) {
    if (size != before) return;
    size = now;
    followed = true;
  };
  if (at < places && !carries(1, indices)) take(indices[*axis]);
  if (!carries(0, data)) {
    const std::int64_t own = at < places ? at : at - places + depth;
    if (own < std::ssize(data) && (at >= places || at < depth))
      take(data[static_cast<std::size_t>(own)]);
  }
  if (followed) context.replaced_batch();
  return followed;
}

void scatter_nd(NodeContext& context) {
  Shape data = context.shape(0);
  Shape indices = context.shape(1);
  want_rank_at_least(context, 0, 1);
  want_rank_at_least(context, 1, 1);
  const bool followed = follow_updates(context, data, indices);
  const std::int64_t depth = indices.back();
  if (depth > static_cast<std::int64_t>(data.size()))
    context.fail("indices of " + std::to_string(depth) + " numbers each into " + named(context, 0));
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + depth, data.end());
  want_shape(context, 2, updates);
  context.set(0, context.type(0), data);
  context.emit(Scatter{element_count(updates), reduces(context)});

  auto known = followed ? std::nullopt : known_scatter(context);
  if (!known || depth == 0) return;
  const Shape steps = strides(data);
  const auto numbers = static_cast<std::size_t>(depth);
  const auto slice = static_cast<std::size_t>(extent(context, data, numbers, data.size()));
  for (std::size_t tuple = 0; tuple * numbers < known->indices.size(); ++tuple) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < numbers; ++i)
      index += steps[i] * wrapped_index(context, known->indices[tuple * numbers + i], data[i]);
    for (std::size_t i = 0; i < slice; ++i)
      known->data[static_cast<std::size_t>(index) + i] = (*known->updates)[tuple * slice + i];
  }
  context.set_contents(0, std::move(known->data));
}

// A key or value cache that receives the newest rows; the axis may be a ring buffer.
void tensor_scatter(NodeContext& context) {
  const Shape& cache = context.shape(0);
  want_rank(context, 1, cache.size());
  const std::size_t axis = context.axis(context.integer("axis", -2), cache.size());
  for (std::size_t i = 0; i < cache.size(); ++i)
    if (i != axis)
      want_equal(context, "dimension " + std::to_string(i) + " of the update", context.shape(1)[i],
                 cache[i]);
  context.set(0, context.type(0), cache);
  context.emit(Scatter{element_count(context.shape(1)), false});
}

}  // namespace

std::span<const Operator> scatter_operators() {
  static constexpr Operator rows[] = {
      {"", "Scatter", scatter_elements},
      {"", "ScatterElements", scatter_elements},
      {"", "ScatterND", scatter_nd},
      {"", "TensorScatter", tensor_scatter},
  };
  return rows;
}

}  // namespace ridgeline::onnx
