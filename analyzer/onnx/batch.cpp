// Where the batch is in a shape. Of a Reshape, only the order of elements is known, so a dimension
// of the target may hold the batch if it begins or ends where the batch does in the input.
#include "analyzer/onnx/batch.h"

#include <algorithm>

namespace ridgeline::onnx {
namespace {

// How well a dimension of a Reshape's target fits as the place of the batch, best last.
enum class Fit {
  none,
  contains,     // the batch is inside a dimension that begins before it and ends after it
  as_feature,   // the last dimension begins where the batch does: a feature rather than a batch
  merged_rows,  // ends where the batch ends: rows of all samples, as of [steps, batch, features]
  leading,      // begins where the batch does, as of [batch·heads, …]
  same_size,    // … and is as large as the dimension of the input that holds the batch
  trailing,    // steps first: the end of rows that are steps × batch, as large as the file's batch
  file_batch,  // … and as large as the file's batch
  same_position  // … as same_size, at the same axis
};

struct Place {
  Fit fit = Fit::none;
  std::size_t axis = 0;
};

Place place_of_batch(const Shape& from, const Shape& to, std::size_t axis, std::int64_t file_batch,
                     ReshapeReading reading) {
  const bool steps_first = reading == ReshapeReading::steps_first;
  const bool same_steps =
      axis > 0 && axis + 1 < to.size() &&
      std::equal(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis), to.begin());
  std::int64_t before = 1;  // elements outside of the batch
  for (std::size_t i = 0; i < axis; ++i) before *= from[i];
  const std::int64_t through = before * file_batch;
  Place best;
  std::int64_t outside = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::int64_t inside = outside * to[i];
    const bool begins = outside == before;
    Fit fit = Fit::none;
    if (begins && steps_first && i == axis && same_steps)
      fit = Fit::same_position;
    else if (begins && to[i] == from[axis])
      fit = i == axis && !steps_first ? Fit::same_position : Fit::same_size;
    else if (begins && to[i] == file_batch)
      fit = Fit::file_batch;
    else if (steps_first && !begins && to[i] == file_batch && inside == before * from[axis])
      fit = Fit::trailing;
    else if (begins)
      fit = i + 1 == to.size() && i > 0 ? Fit::as_feature : Fit::leading;
    else if (inside == through)
      fit = Fit::merged_rows;
    else if (outside <= before && inside >= through)
      fit = Fit::contains;
    // The following dimension of the input goes on as it is: the batch is not part of it.
    if (fit == Fit::leading && i > 0 && axis + 1 < from.size() && to[i] == from[axis + 1])
      fit = Fit::as_feature;
    if (fit > best.fit || (steps_first && fit == best.fit)) best = {fit, i};
    outside = inside;
  }
  return best;
}

}  // namespace

std::optional<std::size_t> batch_axis(const Shape& in_file, const Shape& now) {
  if (in_file.size() != now.size()) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (in_file[i] == now[i]) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

std::optional<Shape> followed_reshape(const Shape& file_from, const Shape& file_to,
                                      const Shape& from, std::int64_t file_batch,
                                      ReshapeReading reading) {
  const auto axis = batch_axis(file_from, from);
  if (!axis || element_count(file_from) == 0 || element_count(file_from) != element_count(file_to))
    return std::nullopt;
  const Place place = place_of_batch(file_from, file_to, *axis, file_batch, reading);
  if (place.fit == Fit::none) return std::nullopt;
  Shape shape = file_to;
  std::int64_t& size = shape[place.axis];
  if (__builtin_mul_overflow(size, from[*axis], &size) || size % file_from[*axis] != 0)
    return std::nullopt;
  size /= file_from[*axis];
  if (checked_element_count(shape) != element_count(from)) return std::nullopt;
  return shape;
}

std::optional<Shape> repeated_shape(const Shape& shape, const Shape& carrier_in_file,
                                    const Shape& carrier) {
  const auto axis = batch_axis(carrier_in_file, carrier);
  if (!axis || shape.empty()) return std::nullopt;
  // The same axis from the left, or from the right where ranks differ; lengths per sample are a
  // vector.
  std::vector<std::size_t> places{*axis};
  const std::size_t from_end = carrier.size() - *axis;
  if (from_end <= shape.size()) places.insert(places.begin(), shape.size() - from_end);
  if (shape.size() == 1) places.push_back(0);
  for (const std::size_t place : places) {
    if (place >= shape.size() || shape[place] != carrier_in_file[*axis]) continue;
    Shape repeated = shape;
    repeated[place] = carrier[*axis];
    return repeated;
  }
  return std::nullopt;
}

}  // namespace ridgeline::onnx
